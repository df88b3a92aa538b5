"""Moves a definition from the top of a Python module: its text, what it needs, and both modules' texts afterwards.
Pure: texts with plain line ends."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from repopilot.code.graph.import_resolver import python_module
from repopilot.code.python_ast import first_line, is_text, parse_expression, parse_python, root_name
from repopilot.code.source_positions import Replacement, replaced
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.tools.refactoring.python_imports import (
    Bound,
    Import,
    ModuleText,
    bound_names,
    is_guarded_import,
    is_typing,
    module_as_written,
)
from repopilot.tools.refactoring.signature import added_items, removed_items

_FUTURE = "from __future__ import annotations"
_HERE = ("__file__", "__name__", "__path__", "__spec__", "__package__", "globals")
"""Names that mean something else in another module."""
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class MovedDefinition:
    """A definition with its overloads, decorators and the comments right above.

    Attributes:
        name: of the definition.
        nodes: its statements.
        start: the first line, from 0.
        end: the line behind the last one.
        free: the names that it takes from its module, perhaps its own among them.
    """

    name: str
    nodes: Sequence[Defined]
    start: int
    end: int
    free: frozenset[str]


def block_of(module: ModuleText, name: str) -> MovedDefinition:
    """The definition of a name at the top of a module.

    Raises:
        UsageError: it isn't there, or bound in a way that can't be moved; the message says how.
    """
    found = module.binds(name)
    nodes = [node for node in found if isinstance(node, Defined)]
    if not found:
        raise UsageError(message("refactor_tools.only_top", name=name))
    alone = len(nodes) == 1 and bound_names(nodes[0]) == {name}
    overloaded = len(nodes) > 1 and all(_is_overload(node) for node in nodes[:-1])
    if len(found) != len(nodes) or not (alone or overloaded):
        places = ", ".join(f"{module.path}:{node.lineno}" for node in found)
        raise UsageError(message("moves.several_bindings", name=name, places=places))
    lines = module.text.split("\n")
    start = first_line(nodes[0]) - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    end = nodes[-1].end_lineno or nodes[-1].lineno
    behind = lines[end - 1][module.positions.span(nodes[-1])[1] - module.positions.offset(end, 0) :]
    if behind.strip() and not behind.strip().startswith("#"):
        raise UsageError(message("moves.several_bindings", name=name, places=f"{module.path}:{end}"))
    inside = [n for n in module.tree.body if start < n.lineno <= end and n not in nodes]
    if inside:
        raise UsageError(message("moves.several_bindings", name=name, places=f"{module.path}:{inside[0].lineno}"))
    return MovedDefinition(name, nodes, start, end, frozenset(free_names("\n".join(lines[start:end]))))


def _is_overload(node: Defined) -> bool:
    return any("overload" in ast.unparse(each) for each in getattr(node, "decorator_list", ()))


def rebinding(module: ModuleText, names: Iterable[str]) -> list[tuple[str, int]]:
    """Where a module binds one of some names again: in functions that declare it global, or by changing it in place at
    the top. A copy of such a name in another module wouldn't change with it."""
    wanted = set(names)
    found = [
        (name, node.lineno)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Global)
        for name in node.names
        if name in wanted
    ]
    for name in wanted:
        statements = module.binds(name)
        found += [(name, node.lineno) for node in statements if isinstance(node, ast.AugAssign | ast.Delete)]
    return found


def changed_at_top(module: ModuleText, name: str) -> list[int]:
    """The lines of statements at the top of a module that change what a name stands for: its attributes or items."""
    return [
        node.lineno
        for node in module.tree.body
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete)
        for target in getattr(node, "targets", None) or [getattr(node, "target", None)]
        if isinstance(target, ast.Attribute | ast.Subscript) and root_name(target) == name
    ]


def free_names(code: str, *, running: bool = False) -> set[str]:
    """The names that code takes from its module, including those in quoted annotations.

    Args:
        code: the code.
        running: whether to leave out names that only type checkers read.
    """
    found = set(_globals(symtable.symtable(code, "code", "exec")))
    tree = parse_python(code)
    parts = [part for n in ast.walk(tree) for part in (getattr(n, "annotation", None), getattr(n, "returns", None))]
    checked = list(_checked(tree))
    seen = {id(part) for part in checked}
    kept = [part for part in parts if id(part) not in seen]
    for node in _texts_in(kept if running else [*kept, *checked]):
        found |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return found


def _checked(tree: ast.Module) -> Iterator[ast.AST | None]:
    """The expressions whose strings only type checkers read: bounds of type variables, the types of casts, annotations
    of undecorated functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list:
            yield from (node.returns, *(each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg)))
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if called == "TypeVar":
                yield from (*node.args[1:], *(each.value for each in node.keywords))
            yield from node.args[:1] if called == "cast" else ()


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if (symbol.is_referenced() and (symbol.is_global() or top)) or symbol.is_declared_global():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


def _texts_in(parts: Iterable[object]) -> Iterator[ast.Expression]:
    """The expressions that are written as strings."""
    for part in parts:
        for inner in ast.walk(part) if isinstance(part, ast.AST) else ():
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                try:
                    yield parse_expression(inner.value)
                except SyntaxError:
                    continue


@dataclass(frozen=True, slots=True)
class Needs:
    """What a definition takes from its module.

    Attributes:
        imports: lines to import, and whether only for type checkers.
        statements: guarded imports, as they stand.
        own: names that the module itself defines.
        here: names that mean something else in another module.
    """

    imports: Sequence[tuple[str, bool]]
    statements: Sequence[str]
    own: Sequence[str]
    here: Sequence[str]


def needs_of(block: MovedDefinition, source: ModuleText, target: ModuleText) -> Needs:
    """What a definition needs that another module doesn't have yet.

    Raises:
        UsageError: a name means something else there.
    """
    free = block.free - {block.name}
    imports: list[tuple[int, str, bool]] = []
    statements: list[str] = []
    own: list[str] = []
    waiting = sorted(free)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen or name == "annotations":
            continue
        seen.add(name)
        binding = source.binds(name)
        if not binding:
            _require_same(name, source, target)
            continue
        guarded = [node for node in binding if is_guarded_import(node) and not _only_typing(node)]
        if guarded and len(guarded) == len(binding):
            for node in guarded:
                code = _moved_statement(node, source, target)
                if not _has_statement(code, name, target):
                    statements.append(code)
                waiting += sorted(free_names(code) - bound_names(node) - seen)
        elif all(isinstance(node, Import) or _only_typing(node) for node in binding):
            imports += _import_lines(name, source, target)
        else:
            own.append(name)
    _require_free(own, source, target)
    here = [name for name in _HERE if name in free and not source.binds(name)]
    return Needs(
        list(dict.fromkeys((line, typing) for _, line, typing in sorted(imports))),
        list(dict.fromkeys(statements)),
        sorted(own),
        here,
    )


def _only_typing(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and is_typing(node.test) and is_guarded_import(node) and not node.orelse


def _import_lines(name: str, source: ModuleText, target: ModuleText) -> Iterator[tuple[int, str, bool]]:
    """The imports of a name that the target lacks, as it would write them: line in the source, code, for type checkers
    only."""
    there = [b for b in target.imports if b.name.partition(".")[0] == name and not b.lazy]
    bound = [b for b in source.imports if b.name.partition(".")[0] == name and not b.lazy]
    for each in bound:
        what = ast.unparse(each.alias)
        if isinstance(each.node, ast.Import):
            line = f"import {what}"
            meant = (each.alias.name, "")
        else:
            if target.means(each.module, target.path):
                continue
            line = f"from {_as_seen(each.module, source, target)} import {what}"
            meant = (each.module, each.alias.name)
        same = [b for b in there if _meant(b) == meant and (each.typing or not b.typing)]
        others = [b for b in there if _meant(b) != meant and b.name == each.name]
        if others or (target.binds(name) and not there):
            _refuse(name, target)
        if not same:
            _require_unused(name, target)
            yield each.node.lineno, line, each.typing


def _meant(bound: Bound) -> tuple[str, str]:
    alias = bound.alias
    return (alias.name, "") if isinstance(bound.node, ast.Import) else (bound.module, alias.name)


def _as_seen(module: str, source: ModuleText, target: ModuleText) -> str:
    """A module's name in the source's imports, changed for an import of the target."""
    if not module.startswith("/"):
        return module
    path = module[1:]
    file = f"{path}/__init__.py" if path == "." or path in source.packages else f"{path}.py"
    return target.relative(path, file) or dotted(file, source.packages)


def dotted(path: str, packages: Iterable[str]) -> str:
    """The dotted name of a module, beginning with its outermost package."""
    return python_module(path, {path.removesuffix("i"), *(f"{folder}/__init__.py" for folder in packages)})


def _moved_statement(node: ast.stmt, source: ModuleText, target: ModuleText) -> str:
    """A statement's text, with its relative imports adapted to the target."""
    start, end = source.positions.span(node)
    text = replaced(source.text, relative_imports([node], source, target))
    return text[start : end + len(text) - len(source.text)]


def _has_statement(code: str, name: str, target: ModuleText) -> bool:
    """Whether the target has a statement already. Raises UsageError where it gives the name another meaning."""
    there = target.binds(name)
    if not there:
        _require_unused(name, target)
        return False
    if [ast.unparse(node) for node in there] != [ast.unparse(parse_python(code))]:
        _refuse(name, target)
    return True


def _require_same(name: str, source: ModuleText, target: ModuleText) -> None:
    """Raises UsageError for a builtin that the target rebinds, and for a name that may come by `import *`."""
    if target.binds(name):
        _refuse(name, target)
    stars = [b for b in source.imports if b.alias.name == "*"]
    if stars and not hasattr(builtins, name) and not name.startswith("__"):
        raise UsageError(message("moves.star", name=name, place=f"{source.path}:{stars[0].node.lineno}"))


def _require_free(own: Sequence[str], source: ModuleText, target: ModuleText) -> None:
    """Raises UsageError where a name that the source defines means something else in the target."""
    for name in own:
        there = target.binds(name)
        taken = [b for b in target.imports if b.name == name and not b.lazy]
        known = there and all(isinstance(node, Import) for node in there)
        if known and all(b.alias.name == name and target.means(b.module, source.path) for b in taken):
            continue
        if there:
            _refuse(name, target)
        _require_unused(name, target)


def _require_unused(name: str, target: ModuleText) -> None:
    """Raises UsageError where the target uses a name as a builtin."""
    if hasattr(builtins, name) and not target.binds(name) and name in free_names(target.text):
        _refuse(name, target)


def _refuse(name: str, target: ModuleText) -> None:
    line = next((node.lineno for node in target.binds(name)), 1)
    raise UsageError(message("moves.other_meaning", name=name, place=f"{target.path}:{line}"))


def left_behind(block: MovedDefinition, source: ModuleText) -> str:
    """The text of a module without a definition."""
    lines = source.text.split("\n")
    before = lines[: block.start]
    while before and not before[-1].strip():
        before.pop()
    rest = lines[block.end :]
    while not before and rest and not rest[0].strip():
        rest.pop(0)
    after = rest if any(line.strip() for line in rest) else [""]
    return "\n".join([*before, *after])


def block_text(block: MovedDefinition, source: ModuleText, target: ModuleText) -> str:
    """The text of a definition for another module, with its relative imports adapted to that."""
    text = replaced(source.text, relative_imports(block.nodes, source, target))
    return "\n".join(text.split("\n")[block.start : block.end])


def relative_imports(nodes: Iterable[ast.AST], source: ModuleText, target: ModuleText) -> list[Replacement]:
    """The replacements that adapt the relative imports in parts of a module to another module."""
    return [
        source.other_module(inner, _as_seen(source.module_of(inner), source, target))
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.ImportFrom) and inner.level
    ]


def lazy_annotations(block: MovedDefinition, source: ModuleText, target: ModuleText) -> bool:
    """Whether a definition needs the source's `from __future__ import annotations` in the target: in an empty one
    unless it is a plain assignment, else where annotations use `|`, names for type checkers only, or the definition
    itself."""
    if not _has_lazy_annotations(source):
        return False
    if not target.text.strip():
        return not any(isinstance(node, ast.Assign) for node in block.nodes)
    typing = {b.name for b in (*source.imports, *target.imports) if b.typing} | {block.name}
    parts = (
        part
        for node in block.nodes
        for inner in ast.walk(node)
        for part in (getattr(inner, "annotation", None), getattr(inner, "returns", None))
        if isinstance(part, ast.AST)
    )
    return any(
        isinstance(n, ast.BitOr) or (isinstance(n, ast.Name) and n.id in typing)
        for part in parts
        for n in ast.walk(part)
    )


def with_block(target: ModuleText, name: str, code: str, imports: Iterable[tuple[str, bool]], future: bool) -> str:
    """The text of a module with a definition added: after the others, but before statements that use it or run the
    module as a program.

    Args:
        target: the module, without imports of the definition.
        name: of the definition.
        code: its text.
        imports: lines that it needs, and whether only for type checkers.
        future: whether its annotations must not be evaluated.
    """
    text = target.text
    if text.strip():
        first = next((n for n in target.tree.body if n is not target.header and _stands_before(n, name, target)), None)
        text = _inserted(target, code, first)
    for line, typing in imports:
        text = with_import(ModuleText(target.path, text, target.packages), line, typing)
    module = ModuleText(target.path, text, target.packages)
    if future and not _has_lazy_annotations(module):
        text = _with_future(module)
    if not target.text.strip():
        head = text.rstrip("\n")
        return f"{head}\n\n\n{code}\n" if head else f"{code}\n"
    return text


def _with_future(module: ModuleText) -> str:
    """A module's text with `from __future__ import annotations` added first, after the docstring."""
    body = module.tree.body
    if body and is_text(body[0]):
        return replaced(module.text, [module.behind(body[0], f"\n{_FUTURE}")])
    gap = "\n" if body and not isinstance(body[0], Import) else ""
    at = next((m.start() for m in re.finditer(r"^(?!#)", module.text, re.M)), 0) if module.text.startswith("#") else 0
    return replaced(module.text, [Replacement(at, at, f"{_FUTURE}\n{gap}" if module.text else _FUTURE)])


def _stands_before(node: ast.stmt, name: str, target: ModuleText) -> bool:
    main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
    within = target.header is not None and node.lineno <= target.header.lineno
    return not within and (main or any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node)))


def _inserted(target: ModuleText, code: str, first: ast.stmt | None) -> str:
    if first is None:
        return "\n".join([target.text.rstrip("\n"), "", "", code, ""])
    lines = target.text.split("\n")
    at = first_line(first) - 1
    while at and lines[at - 1].startswith("#"):
        at -= 1
    before = lines[:at]
    while before and not before[-1].strip():
        before.pop()
    return "\n".join([*before, "", "", code, "", "", *lines[at:]])


def _has_lazy_annotations(module: ModuleText) -> bool:
    return any(bound.module == "__future__" and bound.alias.name == "annotations" for bound in module.imports)


def with_import(module: ModuleText, line: str, typing: bool = False) -> str:
    """A module's text with an import added: to an import of the same module where there is one, else after all others.

    Args:
        module: the module.
        line: the import.
        typing: whether only type checkers shall see it.
    """
    (wanted,) = parse_python(line).body
    body: Sequence[ast.stmt] = module.tree.body
    if typing:
        block = next((n for n in module.tree.body if isinstance(n, ast.If) and _only_typing(n)), None)
        if block is None:
            known = module.binds("TYPE_CHECKING")
            named = module.text if known else with_import(module, "from typing import TYPE_CHECKING")
            inner = ModuleText(module.path, named, module.packages)
            return replaced(named, [inner.with_statement(f"\nif TYPE_CHECKING:\n    {line}")])
        body = block.body
    if isinstance(wanted, ast.ImportFrom):
        made = module.with_alias(body, module_as_written(wanted), ", ".join(map(ast.unparse, wanted.names)))
        if made is not None:
            return replaced(module.text, [made])
    if any(ast.unparse(node) == ast.unparse(wanted) for node in body):
        return module.text
    if typing:
        return replaced(module.text, [module.behind(body[-1], line)])
    return replaced(module.text, [module.with_statement(line)])


def exported(module: ModuleText) -> list[str] | None:
    """The entries of a module's `__all__`, None without a literal one."""
    value = _all_of(module)
    return None if value is None else [str(e.value) for e in value.elts if isinstance(e, ast.Constant)]


def _all_of(module: ModuleText) -> ast.List | ast.Tuple | None:
    node = next((n for n in module.binds("__all__") if isinstance(n, ast.Assign | ast.AnnAssign)), None)
    value = getattr(node, "value", None)
    return value if isinstance(value, ast.List | ast.Tuple) else None


def unexported(module: ModuleText, name: str) -> str:
    """A module's text with a name removed from its `__all__`."""
    value = _all_of(module)
    gone = [n for n, e in enumerate(value.elts) if isinstance(e, ast.Constant) and e.value == name] if value else []
    spans = [module.positions.span(item) for item in value.elts] if value else []
    return replaced(module.text, removed_items(spans, gone))


def also_exported(module: ModuleText, name: str) -> str:
    """A module's text with a name added to its `__all__`, if it has a non-empty one."""
    value = _all_of(module)
    if value is None or not value.elts or name in (exported(module) or []):
        return module.text
    quote = module.text[module.positions.span(value.elts[-1])[0]]
    quoted = f"{quote}{name}{quote}" if quote in "\"'" else repr(name)
    return replaced(module.text, added_items(module.text, [module.positions.span(e) for e in value.elts], [quoted]))


def unused_gone(module: ModuleText, names: Iterable[str], kept: Iterable[str]) -> str:
    """A module's text without top-level imports of names that it no longer uses.

    Args:
        module: the module.
        names: the names that may be unused.
        kept: the names that other files take from it.
    """
    unused = set(names) - free_names(module.text) - set(kept) - set(exported(module) or ())
    found: list[Replacement] = []
    for node in module.tree.body:
        typing = isinstance(node, ast.If) and _only_typing(node)
        inner = [n for n in getattr(node, "body", ()) if isinstance(n, Import)] if typing else [node]
        gone = [(each, [a for a in each.names if _binding(a) in unused]) for each in inner if isinstance(each, Import)]
        if typing and all(len(aliases) == len(each.names) for each, aliases in gone):
            found.append(Replacement(*module.line_span(node), ""))
        else:
            body = node.body if isinstance(node, ast.If) else module.tree.body
            found += [made for each, aliases in gone if aliases for made in module.without(each, aliases, body)]
        if is_guarded_import(node) and not typing and bound_names(node) <= unused:
            found.append(Replacement(*module.line_span(node), ""))
    return replaced(module.text, found)


def _binding(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]
