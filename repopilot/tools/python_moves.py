"""Definitions of Python modules moved to other modules, and modules given other names: their texts, the imports they
need, and those of all who use them.

Pure: texts in, texts out. Nothing but what the move asks for is changed: order and form of imports stay as they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from repopilot.code.source_positions import Replacement, SourcePositions, replaced
from repopilot.tools.signature import added_items, removed_items

_FROM = re.compile(r"from\s*([.\w\s]*?)\s*\bimport\b")
_FUTURE = "from __future__ import annotations"
Import = ast.Import | ast.ImportFrom
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class Module:
    """A module: its text, the name it is imported by, and whether that is a package."""

    text: str
    name: str
    is_package: bool = False

    @property
    def package(self) -> str:
        """What relative imports in it start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def definition(text: str, name: str) -> Defined | None:
    """The function, class or assignment of a name at the top of a module."""
    return next((n for n in ast.parse(text).body if isinstance(n, Defined) and name in _names_of(n)), None)


def moved(name: str, source: Module, target: Module) -> tuple[str, str]:
    """The texts of both modules after a move.

    Args:
        name: of a definition at the top of the source.
        source: where it is.
        target: where it shall be; its text may be ''.

    Raises:
        ValueError: the definition needs something of its module that needs it; the message names that.
    """
    node = definition(source.text, name)
    assert node is not None
    start, end = _lines_of(node, source.text)
    lines = source.text.split("\n")
    block, left = lines[start:end], _without(lines, start, end)
    needed = _loaded(node)
    others = (other for other in ast.parse(left).body if not isinstance(other, Import))
    own = sorted(needed & {n for other in others for n in _names_of(other)} - {name})
    unexported = _unexported(left, name)
    used = name in _loaded(ast.parse(unexported))
    if own and used:
        raise ValueError(", ".join(own))
    imports = list(_needed_imports(needed, source, target))
    imports += [f"from {source.name} import {', '.join(own)}"] if own else []
    new_source = _without_unused(left if used else unexported, needed)
    if used:
        new_source = with_import(replace(source, text=new_source), f"from {target.name} import {name}")
    new_target = without_import(target, source.name, name)[0]
    if not new_target.strip():
        head = _FUTURE if not isinstance(node, ast.Assign) and _FUTURE in source.text.split("\n") else ""
        for line in imports:
            head = with_import(replace(target, text=head), line)
        return new_source, "\n".join([*([head.rstrip("\n"), "", ""] if head else []), *block, ""])
    new_target = "\n".join([new_target.rstrip("\n"), "", "", *block, ""])
    for line in imports:
        new_target = with_import(replace(target, text=new_target), line)
    return new_source, new_target


def used_from(user: Module, name: str, source: str, target: str) -> str:
    """The text of a module that uses a moved definition, importing it from where it is now."""
    text, relative, what = without_import(user, source, name)
    if what:
        module = _relative(target, user) if relative else target
        text = with_import(replace(user, text=text), f"from {module} import {what}")
    stars = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom) and n.names[0].name == "*")
    if name in _loaded(ast.parse(text)) and source in [_absolute(star, user) for star in stars]:
        text = with_import(replace(user, text=text), f"from {target} import {name}")
    for reference in _references(text, user, source):
        pattern = re.compile(rf"(?<![\w.'\"]){re.escape(reference)}\.{re.escape(name)}\b")
        if pattern.search(text):
            text = pattern.sub(name, text)
            text = with_import(replace(user, text=text), f"from {target} import {name}")
            text = _without_unused(text, [reference.partition(".")[0]])
    return re.sub(rf"(?<=['\"]){re.escape(source)}\.{re.escape(name)}(?=['\".])", f"{target}.{name}", text)


def module_moved(user: Module, old: str, new: str) -> str:
    """The text of a module that imports another one, which has a new name now.

    Args:
        user: any module; the moved one itself with its new name.
        old, new: the names of the moved module.
    """
    text = user.text
    found: list[Replacement] = []
    offsets = SourcePositions(text)
    renamed: dict[str, str] = {}
    for node in (node for node in ast.walk(ast.parse(text)) if isinstance(node, Import)):
        if isinstance(node, ast.Import):
            found += [_replaced_name(a, new, offsets) for a in node.names if a.name == old]
            renamed |= dict.fromkeys((a.name for a in node.names if a.name == old and not a.asname), new)
            continue
        package, goal = _absolute(node, user), new.rpartition(".")
        if package == old:
            found.append(_other_module(node, _relative(new, user) if node.level else new, offsets))
        for alias in node.names:
            if package and f"{package}.{alias.name}" == old:
                found.append(_replaced_name(alias, goal[2], offsets))
                if goal[0] != package and len(node.names) == 1:
                    found.append(_other_module(node, _relative(goal[0], user) if node.level else goal[0], offsets))
                renamed |= {} if alias.asname else {alias.name: goal[2]}
    text = replaced(text, found)
    for before, after in renamed.items():
        text = re.sub(rf"(?<![\w.]){re.escape(before)}(?=\.\w)", after, text)
    return re.sub(rf"(?<=['\"]){re.escape(old)}(?=['\".:])", new, text)


def from_new_package(module: Module, before: Module) -> str:
    """The text of a module that has moved to another package, its relative imports as they are from there."""
    offsets, found = SourcePositions(before.text), []
    for node in ast.walk(ast.parse(before.text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.append(_other_module(node, _relative(_absolute(node, before), module), offsets))
    return replaced(before.text, found)


def _replaced_name(alias: ast.alias, new: str, offsets: SourcePositions) -> Replacement:
    start, _ = offsets.span(alias)
    return Replacement(start, start + len(alias.name), new)


def _other_module(node: ast.ImportFrom, module: str, offsets: SourcePositions) -> Replacement:
    start = offsets.offset(node.lineno, node.col_offset)
    found = _FROM.match(offsets.text, start)
    assert found is not None
    return Replacement(*found.span(1), module)


def with_import(user: Module, line: str) -> str:
    """A module's text with an import, in the one of the same module where there is one, else behind all others."""
    text, tree = user.text, ast.parse(user.text)
    (wanted,) = ast.parse(line).body
    assert isinstance(wanted, Import)
    before = [node for node in tree.body if isinstance(node, Import)]
    for node in before:
        if _same_module(node, wanted, user):
            known = {ast.unparse(alias) for alias in node.names}
            new = [what for alias in wanted.names if (what := ast.unparse(alias)) not in known]
            return replaced(text, added_items(text, _spans(node, SourcePositions(text)), new))
    first = [n for n in tree.body[:1] if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    at = [*first, *before][-1].end_lineno if before or first else 0
    lines = text.split("\n")
    return "\n".join([*lines[:at], *([] if before or not first else [""]), line, *lines[at:]])


def _same_module(node: Import, wanted: Import, user: Module) -> bool:
    if isinstance(node, ast.Import) or isinstance(wanted, ast.Import):
        return ast.unparse(node) == ast.unparse(wanted)
    return node.names[0].name != "*" and _absolute(node, user) == _absolute(wanted, user)


def without_import(user: Module, source: str, name: str) -> tuple[str, bool, str]:
    """A module's text without its imports of a name from another module; whether one was relative; and what was
    imported, `name` or `name as name`, '' for nothing."""
    text, relative, what, offsets = user.text, False, "", SourcePositions(user.text)
    found: list[Replacement] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and _absolute(node, user) == source:
            gone = [n for n, alias in enumerate(node.names) if alias.name == name and alias.asname in (None, name)]
            relative = relative or bool(gone and node.level)
            what = next((ast.unparse(node.names[n]) for n in gone), what)
            found += _aliases_gone(text, node, gone, offsets)
    return replaced(text, found), relative, what


def _aliases_gone(text: str, node: Import, gone: Sequence[int], offsets: SourcePositions) -> list[Replacement]:
    """Aliases taken out of an import, or all of it where none is left."""
    if gone and len(gone) == len(node.names):
        start, end = offsets.offset(node.lineno, 0), offsets.offset(node.end_lineno or node.lineno, 0)
        following = text.find("\n", end)
        return [Replacement(start, following + 1 if following >= 0 else len(text), "")]
    return removed_items(text, _spans(node, offsets), gone)


def _spans(node: Import, offsets: SourcePositions) -> list[tuple[int, int]]:
    return [offsets.span(alias) for alias in node.names]


def _without_unused(text: str, needed: Iterable[str]) -> str:
    """A text without the imports of names that only the moved definition needed."""
    tree, offsets = ast.parse(text), SourcePositions(text)
    unused = set(needed) - _loaded(tree)
    found: list[Replacement] = []
    for node in tree.body:
        if isinstance(node, Import):
            gone = [n for n, a in enumerate(node.names) if (a.asname or a.name.partition(".")[0]) in unused]
            found += _aliases_gone(text, node, gone, offsets)
    return replaced(text, found)


def _unexported(text: str, name: str) -> str:
    """A text whose `__all__` doesn't have a name."""
    node = definition(text, "__all__")
    value = getattr(node, "value", None)
    if not isinstance(value, ast.List | ast.Tuple):
        return text
    offsets = SourcePositions(text)
    gone = [n for n, item in enumerate(value.elts) if isinstance(item, ast.Constant) and item.value == name]
    return replaced(text, removed_items(text, [offsets.span(item) for item in value.elts], gone))


def _needed_imports(needed: set[str], source: Module, target: Module) -> Iterator[str]:
    """The imports of the source that the definition needs and the target lacks, as the target writes them."""
    there = {n for node in ast.parse(target.text).body for n in _names_of(node) if isinstance(node, Import)}
    for node in ast.walk(ast.parse(source.text)):
        if not isinstance(node, Import):
            continue
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            if bound not in needed or bound in there or bound == "annotations":
                continue
            what = alias.name + (f" as {alias.asname}" if alias.asname else "")
            if isinstance(node, ast.Import):
                yield f"import {what}"
            elif (module := _absolute(node, source)) != target.name:
                yield f"from {_relative(module, target) if node.level else module} import {what}"


def _references(text: str, user: Module, source: str) -> Iterator[str]:
    """What a module calls another module that it imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (a.asname or a.name for a in node.names if a.name == source)
        elif isinstance(node, ast.ImportFrom):
            package = _absolute(node, user)
            yield from (a.asname or a.name for a in node.names if f"{package}.{a.name}".lstrip(".") == source)


def _absolute(node: ast.ImportFrom, user: Module) -> str:
    if not node.level:
        return node.module or ""
    parts = user.package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _relative(module: str, user: Module) -> str:
    """A module as one of the same top package imports it, by a relative name."""
    here, there = user.package.split("."), module.split(".")
    if here[0] != there[0]:
        return module
    same = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there)))
    return "." * (len(here) - same + 1) + ".".join(there[same:])


def _names_of(node: ast.AST) -> set[str]:
    """The names that a statement at the top of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, Import):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}


def _loaded(node: ast.AST) -> set[str]:
    """The names that a tree reads, those in annotations that are texts among them."""
    found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return found | {text for text in texts if text.isidentifier()}


def _lines_of(node: Defined, text: str) -> tuple[int, int]:
    """The lines of a definition with its decorators and the comments right above, from 0, the last exclusive."""
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) - 1
    lines = text.split("\n")
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return start, node.end_lineno or node.lineno


def _without(lines: Sequence[str], start: int, end: int) -> str:
    """A text without some lines, and without the blank ones before them."""
    before = list(lines[:start])
    while before and not before[-1].strip():
        before.pop()
    after = lines[end:] if any(line.strip() for line in lines[end:]) else [""]
    return "\n".join([*before, *after])
