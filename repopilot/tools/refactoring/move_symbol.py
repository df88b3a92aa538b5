"""The tool that moves a definition from the top of a Python module to another module; all uses follow."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from pydantic import Field

from repopilot.code.languages import language_of
from repopilot.code.source_positions import Replacement, line_at, replaced
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.resolve.values import NameSpan, Occurrence
from repopilot.tools import result_types
from repopilot.tools.definitions import IN_FILE, find_definition, name_at
from repopilot.tools.file_change import safe_path, syntax_error, with_line_ends
from repopilot.tools.refactoring import python_moves
from repopilot.tools.refactoring.import_order import ImportOrder
from repopilot.tools.refactoring.python_imports import (
    Bound,
    ModuleText,
    dotted_below,
    is_package,
    plain,
    root_of,
    split_module,
    stem,
)
from repopilot.tools.refactoring.python_moves import Needs, dotted
from repopilot.tools.refactoring.python_source import PythonSource, enclosing, expression_of, is_attribute
from repopilot.tools.refactoring.refactored import Texts, finished
from repopilot.tools.refactoring.signature import call_at
from repopilot.tools.refactoring.signature_edit import HARMLESS
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.working_copy import WorkingCopy

_DOTTED = re.compile(r"([A-Za-z_][\w.]*)([.:])$")
DATA = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")


class MoveSymbol(Arguments):
    """A definition and the module it shall be in."""

    name: str = Field(description="a function or class at the top of a module")
    to_path: str = Field(description="the file it shall be in, which need not exist")
    path: str = Field("", description=IN_FILE)


@in_thread
def move_symbol(arguments: MoveSymbol, context: ToolContext) -> ToolResult:
    """Move a function, class or constant from the top of a Python module to another module, when it belongs
    there; imports follow."""
    copy = context.working_copy
    symbol = find_definition(copy, arguments.name, arguments.path)
    target = safe_path(arguments.to_path)
    if language_of(symbol.path) != "python" or language_of(target) != "python":
        raise UsageError(message("refactor_tools.only_python", tool="move_symbol"))
    if target == symbol.path:
        raise UsageError(message("refactor_tools.same_file", name=symbol.name, path=target))
    if "." in symbol.qualified:
        raise UsageError(message("refactor_tools.only_top", name=symbol.qualified))
    for path in (symbol.path, target):
        if (text := copy.text(path)) is not None and syntax_error(path, text) is not None:
            raise UsageError(message("refactor_tools.no_parse", path=path))
    span = name_at(copy.text(symbol.path) or "", symbol)
    found = SymbolMove(copy, span, symbol.name, target)
    return finished(copy, found.texts, found.left, [symbol.name], found.unread)


def packages(copy: WorkingCopy) -> frozenset[str]:
    """The folders that are packages."""
    return frozenset(str(PurePosixPath(path).parent) for path in copy.searched() if is_package(path) and "/" in path)


class SymbolMove:
    """The changes of a move.

    Args:
        copy: the working copy.
        definition: the place of the definition's name.
        name: the name.
        target: the file that it moves to.

    Attributes:
        texts: the new texts.
        left: places that may have to change and weren't.
        unread: files that can't be parsed.

    Raises:
        UsageError: the move would break the program; the message says why.
    """

    def __init__(self, copy: WorkingCopy, definition: NameSpan, name: str, target: str) -> None:
        self.copy = copy
        self.name = name
        self.packages = packages(copy)
        self.source = self._module(definition.path)
        self.target = self._module(target)
        self.left: set[NameSpan] = set()
        self.unread: list[str] = []
        self.texts: Texts = {}
        self._edits: dict[str, list[Replacement]] = defaultdict(list)
        self._handled: set[NameSpan] = set()
        self._block = python_moves.block_of(self.source, name)
        resolver = copy.resolver
        family = resolver.family(definition, name)
        self._members = family.members | {definition}
        self._require_movable()
        self._occurrences = resolver.occurrences(name)
        self._unsure = [one.occurrence for one in family.unsure]
        self._needs = python_moves.needs_of(self._block, self.source, self._without_own_import())
        self._order = ImportOrder(copy, self.packages)
        for path in sorted({span.path for span in self._members} | self._star_users()):
            self._follow(path)
        self._follow_texts()
        self._make()

    def _text(self, path: str) -> str:
        return self.copy.resolver.text(path) or ""

    def _module(self, path: str) -> ModuleText:
        return ModuleText(path, plain(self._text(path)), self.packages)

    def _require_movable(self) -> None:
        """Raises UsageError where the definition is state of its module, or the target already binds its name."""
        name = self.name
        source = self.source
        if self.target.binds(name) and not all(isinstance(n, ast.ImportFrom) for n in self.target.binds(name)):
            raise UsageError(message("refactor_tools.taken", name=name, path=self.target.path))
        state = python_moves.rebinding(source, self._block.free | {name})
        state += [(name, line) for line in python_moves.changed_at_top(source, name)]
        if state:
            raise UsageError(message("moves.state", name=state[0][0], place=f"{source.path}:{state[0][1]}"))
        for span in self._members:
            text = self._text(span.path)
            if re.match(r"\s*(?:[+\-*/|&]|//|\*\*)?=(?!=)", text[span.end :]) and self._is_member(span):
                place = f"{span.path}:{line_at(text, span.start)}"
                raise UsageError(message("moves.state", name=name, place=place))

    def _is_member(self, span: NameSpan) -> bool:
        return self._text(span.path)[: span.start].rstrip(" ").endswith(".")

    def _without_own_import(self) -> ModuleText:
        """The target without its own imports of the definition."""
        found = [
            made
            for b in self.target.imports
            if self._is_import(self.target, b)
            for made in self.target.without(b.node, [b.alias], b.body)
        ]
        return ModuleText(self.target.path, replaced(self.target.text, found), self.packages)

    def _is_import(self, user: ModuleText, bound: Bound) -> bool:
        named = isinstance(bound.node, ast.ImportFrom) and bound.alias.name == self.name
        return named and user.means(bound.module, self.source.path)

    def _star_users(self) -> set[str]:
        """The files that import everything from the source by `*`."""
        last = PurePosixPath(stem(self.source.path)).name
        holding = {one.span.path for one in self.copy.resolver.occurrences(last) if one.span.path.endswith(".py")}
        return {path for path in holding if "*" in self._text(path) and self._takes_all(path)}

    def _takes_all(self, path: str) -> bool:
        if syntax_error(path, self._text(path)) is not None:
            return False
        user = self._module(path)
        return any(b.alias.name == "*" and user.means(b.module, self.source.path) for b in user.imports)

    # ------------------------------------------------------------------------------------------------------ users

    def _follow(self, path: str) -> None:
        """Change how a file imports and names the definition."""
        if not path.endswith((".py", ".pyi")) or path == self.source.path:
            return
        if syntax_error(path, self._text(path)) is not None:
            self.unread.append(path)
            return
        user = self._module(path)
        if path == self.target.path:
            self._follow_target(user)
            return
        for bound in user.imports:
            if self._is_import(user, bound):
                self._import_from_target(user, bound)
            elif bound.alias.name == "*" and user.means(bound.module, self.source.path) and self._is_exported():
                line = f"from {self._target_of(user, bound.module)} import {self.name}"
                self._edits[path].append(user.behind(bound.node, line))
        self._follow_attributes(user)

    def _is_exported(self) -> bool:
        names = python_moves.exported(self.source)
        return self.name in names if names is not None else not self.name.startswith("_")

    def _target_of(self, user: ModuleText, module: str) -> str:
        """The target's name in an import that named the source."""
        return user.reference(module, self.source.path, self.target.path, dotted(self.target.path, self.packages))

    def _import_from_target(self, user: ModuleText, bound: Bound) -> None:
        node = bound.node
        what = ast.unparse(bound.alias)
        assert isinstance(node, ast.ImportFrom)
        module = self._target_of(user, bound.module)
        edits = self._edits[user.path]
        joined = user.with_alias(bound.body, module, what)
        if len(node.names) == 1 and joined is None:
            edits.append(user.other_module(node, module))
            return
        edits += user.without(node, [bound.alias], bound.body if joined is None else [*bound.body, node])
        edits.append(joined or user.behind(node, f"from {module} import {what}"))

    def _spans(self, user: ModuleText) -> Iterator[tuple[NameSpan, int]]:
        """The places of a file that mean the definition, and where each stands in its plain text."""
        text = self._text(user.path)
        for span in sorted(self._members):
            if span.path == user.path:
                yield span, plain_offset(text, span.start)

    def _follow_attributes(self, user: ModuleText) -> None:
        """Name the target where the source was named: `source.name`."""
        tree = PythonSource(user.path, user.text)
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        ways: dict[int, Bound] = {}
        for span, start in self._spans(user):
            base = self._base(tree, start)
            if base is None:
                continue
            said = user.text[slice(*base)]
            way = self._way(user, said, start)
            if way is not None:
                self._handled.add(span)
                ways[id(way)] = way
                found[id(way)].append(base)
            elif said.rpartition(".")[2] == PurePosixPath(stem(self.source.path)).name:
                self.left.add(span)
        for key, places in found.items():
            self._rename_base(user, tree, ways[key], places)

    def _base(self, tree: PythonSource, start: int) -> tuple[int, int] | None:
        """The span of the module that is named with the definition: before the dot, or as the argument before the
        name."""
        node = tree.at(start, start + len(self.name))
        if node is None:
            return None
        if is_attribute(node):
            base = expression_of(node).child_by_field_name("object")
            return tree.span(base) if base is not None else None
        if node.type not in ("string_content", "string"):
            return None
        if enclosing(node, "type") is not None:
            before = re.search(r"([A-Za-z_][\w.]*)\.$", tree.text[:start])
            return before.span(1) if before is not None else None
        call = enclosing(node, "call")
        arguments = call_at(tree, call).arguments if call is not None else []
        named = len(arguments) > 1 and tree.text_value(arguments[1]) == self.name
        return tree.span(arguments[0]) if named else None

    def _way(self, user: ModuleText, base: str, at: int) -> Bound | None:
        """The innermost import that binds a name to the source at a place."""
        found = [b for b in user.imports if b.name == base and user.means(b.whole, self.source.path)]
        spans = [(user.positions.span(b.scope) if b.scope is not None else (-1, len(user.text) + 1), b) for b in found]
        within = [(start - end, n) for n, ((start, end), _) in enumerate(spans) if start <= at < end]
        return spans[max(within)[1]][1] if within else None

    def _rename_base(self, user: ModuleText, tree: PythonSource, way: Bound, places: list[tuple[int, int]]) -> None:
        """Put the target before the dots, and import it where the source is imported."""
        module = self._target_of(user, way.whole)
        kept = self._is_kept(user, tree, way, places)
        name, line = self._module_import(user, way, module, kept)
        edits = self._edits[user.path]
        edits += [Replacement(start, end, name) for start, end in places]
        if line:
            edits.append(user.behind(way.node, line))
        if not kept:
            edits += user.without(way.node, [way.alias], way.body if not line else [*way.body, way.node])

    def _module_import(self, user: ModuleText, way: Bound, module: str, kept: bool) -> tuple[str, str]:
        """A file's name for the target, and the line that imports it, '' where the file does so already."""
        package, last = split_module(module)
        there = [b for b in user.imports if b.body is way.body or (not b.lazy and not b.typing)]
        for bound in there:
            if bound.alias.name != "*" and user.means(bound.whole, self.target.path):
                return bound.name, ""
        whole = isinstance(way.node, ast.Import) and not way.alias.asname and "." in module and "." in way.name
        if whole and module.partition(".")[0] == way.name.partition(".")[0]:
            return module, f"import {module}"
        name = _free_name(last, user, way.name if not kept else "")
        suffix = f" as {name}" if name != last else ""
        if isinstance(way.node, ast.Import) and ("." not in module or way.alias.asname):
            return name, f"import {module}" + (f" as {name}" if suffix or "." in module else "")
        if module == last:
            return name, f"import {module}{suffix}"
        return name, f"from {package} import {last}{suffix}"

    def _is_kept(self, user: ModuleText, tree: PythonSource, way: Bound, places: list[tuple[int, int]]) -> bool:
        """Whether an import of the source is needed for anything else."""
        first = way.name.partition(".")[0]
        used = [
            node for node in tree.words(first) if enclosing(node, "import_statement", "import_from_statement") is None
        ]
        gone = [node for node in used if any(a <= tree.span(node)[0] < b for a, b in places)]
        if len(gone) < len(used) or is_package(user.path) or first in (python_moves.exported(user) or ()):
            return True
        texts = [node for node in tree.walk(None, "string") if re.search(rf"\b{re.escape(first)}\.", tree.of(node))]
        spans = [tree.span(node) for node in texts]
        if any(not any(a <= start < b for start, _ in places) for a, b in spans):
            return True
        same = [b for b in user.imports if b.name.partition(".")[0] == first and b.scope is way.scope]
        return len(same) > 1 or _is_taken(self.copy, user.path, first)

    def _follow_target(self, user: ModuleText) -> None:
        tree = PythonSource(user.path, user.text)
        for _, start in self._spans(user):
            node = tree.at(start, start + len(self.name))
            if node is not None and node.type == "identifier" and is_attribute(node):
                base = expression_of(node).child_by_field_name("object")
                if base is not None and self._way(user, tree.of(base), start) is not None:
                    at, _ = tree.span(base)
                    self._edits[user.path].append(Replacement(at, start, ""))
        local = [n for n in ast.walk(user.tree) if isinstance(n, ast.arg) and n.arg == self.name]
        if local and self._edits[user.path]:
            raise UsageError(message("moves.other_meaning", name=self.name, place=f"{user.path}:{local[0].lineno}"))

    # ------------------------------------------------------------------------------------------------------ texts

    def _follow_texts(self) -> None:
        """Rewrite dotted names in strings and configuration; list other places that name the definition with its
        module."""
        last = PurePosixPath(stem(self.source.path)).name
        word = re.compile(rf"\b{re.escape(last)}\b")
        for one in self._occurrences:
            if one.span.path == self.source.path or one.kind == "code" or one.span in self._handled:
                continue
            text = self._text(one.span.path)
            found = _DOTTED.search(text[: one.span.start])
            root = root_of(found[1], self.source.path) if found else None
            if found and root is not None and self._is_followed(one, text, found):
                new = dotted_below(root, self.target.path) or dotted(self.target.path, self.packages)
                start = plain_offset(text, found.start(1))
                self._edits[one.span.path].append(Replacement(start, start + len(found[1]), new))
            elif root is not None or (word.search(one.source) and one.span not in self._members):
                self.left.add(one.span)
        self.left |= {one.span for one in self._unsure if word.search(one.source) and one.span not in self._members}

    def _is_followed(self, one: Occurrence, text: str, found: re.Match[str]) -> bool:
        sure = "." in found[1] or found[2] == ":" or names_module(text[: found.start()])
        if one.kind == "document":
            return one.span.path.endswith(DATA) and bool(sure)
        return one.kind == "text" and bool(sure) and not self._stays()

    def _stays(self) -> bool:
        """Whether the source still needs the definition at run time, so that it imports it."""
        return self._is_read(running=True) or (self._is_read() and not self._needs.own)

    def _is_read(self, *, running: bool = False) -> bool:
        """Whether the source still names the definition; with `running`, names for type checkers only don't count."""
        left = ModuleText(self.source.path, python_moves.left_behind(self._block, self.source))
        return self.name in python_moves.free_names(python_moves.unexported(left, self.name), running=running)

    # ----------------------------------------------------------------------------------------------------- result

    def _make(self) -> None:
        name = self.name
        needs = self._needs
        if needs.own and self._stays():
            needed = message("refactor_tools.cycle", name=name, needs=", ".join(needs.own), path=self.source.path)
            raise UsageError(needed, message("refactor_tools.cycle_hint"))
        for path, edits in self._edits.items():
            self.texts[path] = replaced(plain(self._text(path)), edits)
        self.texts[self.source.path] = self._new_source()
        self.texts[self.target.path] = self._new_target(needs)
        self._order.require_acyclic(self.texts, self.target.path)
        self.texts = {path: with_line_ends(text or "", self._text(path)) for path, text in self.texts.items()}
        if needs.here or (self._registers() and not self._stays()):
            self.left.add(min(span for span in self._members if span.path == self.source.path))

    def _registers(self) -> bool:
        """Whether a decorator may have an effect when its module is imported, and no module imports the target when it
        runs."""
        nodes = [d for node in self._block.nodes for d in getattr(node, "decorator_list", ())]
        if all(self._is_harmless(node) for node in nodes):
            return False
        last = PurePosixPath(stem(self.target.path)).name
        holding = {one.span.path for one in self.copy.resolver.occurrences(last)} | set(self._edits)
        texts = {path: self.texts.get(path, plain(self._text(path))) for path in holding if path.endswith(".py")}
        users = [ModuleText(path, text, self.packages) for path, text in texts.items() if text and is_code(path, text)]
        eager = [b for user in users for b in user.imports if not b.lazy and not b.typing and self._runs(user, b)]
        return not eager

    def _runs(self, user: ModuleText, bound: Bound) -> bool:
        return any(user.means(name, self.target.path) for name in (bound.module, bound.whole))

    def _is_harmless(self, decorator: ast.expr) -> bool:
        """Whether a decorator is known to change nothing but what it decorates."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in HARMLESS or name in ("dataclass", "unique", "final", "total_ordering"):
            return True
        _, end = self.source.positions.span(called)
        text = self._text(self.source.path)
        span = next(
            (
                NameSpan(self.source.path, m.start(), m.end())
                for m in re.finditer(rf"\b{name}\b", text)
                if plain_offset(text, m.end()) == end
            ),
            None,
        )
        meaning = self.copy.resolver.definition(span).inside if span is not None else frozenset()
        return bool(meaning) and not any(self._changes_state(each) for each in meaning)

    def _changes_state(self, span: NameSpan) -> bool:
        """Whether a function may change state outside: it sets items or attributes, or calls something only for its
        effect."""
        module = self._module(span.path)
        text = self._text(span.path)
        line = module.positions.line(plain_offset(text, span.start))
        body = [n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.lineno == line]
        return not body or any(
            isinstance(n, ast.Global | ast.Nonlocal)
            or (isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store | ast.Del))
            or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Call))
            for n in ast.walk(body[0])
        )

    def _new_source(self) -> str:
        left = python_moves.left_behind(self._block, self.source)
        module = ModuleText(self.source.path, left, self.packages)
        needed = self._block.free
        if self._is_read():
            line = f"from {self._known_target()} import {self.name}"
            left = python_moves.with_import(module, line, typing=not self._stays())
        else:
            left = python_moves.unexported(module, self.name)
        kept = {n for n in needed if _is_taken(self.copy, self.source.path, n)}
        module = ModuleText(self.source.path, left, self.packages)
        return left if is_package(self.source.path) else python_moves.unused_gone(module, needed - {self.name}, kept)

    def _said(self) -> list[str]:
        """The source's names in absolute imports."""
        found = [b.module for path in self._edits if path.endswith(".py") for b in self._module(path).imports]
        return [name for name in found if not name.startswith("/") and root_of(name, self.source.path) is not None]

    def _known_target(self) -> str:
        """The target's dotted name, from the root that imports of the source use."""
        roots = [root_of(name, self.source.path) for name in self._said()]
        root = next((each for each in roots if each is not None), None)
        return dotted_below(root, self.target.path) or dotted(self.target.path, self.packages)

    def _new_target(self, needs: Needs) -> str:
        module = self._without_own_import()
        edited = self.texts.get(self.target.path)
        if edited is not None and self._edits[self.target.path]:
            module = ModuleText(self.target.path, edited, self.packages)
        imports = list(needs.imports)
        if needs.own:
            known = next(iter(self._said()), dotted(self.source.path, self.packages))
            imports.append((f"from {known} import {', '.join(needs.own)}", False))
        code = python_moves.block_text(self._block, self.source, self.target)
        text = module.text
        for statement in needs.statements:
            one = ModuleText(self.target.path, text, self.packages)
            text = replaced(text, [one.with_statement(statement)])
        module = ModuleText(self.target.path, text, self.packages)
        future = python_moves.lazy_annotations(self._block, self.source, self.target)
        text = python_moves.with_block(module, self.name, code, imports, future)
        module = ModuleText(self.target.path, text, self.packages)
        return python_moves.also_exported(module, self.name) if self._is_exported() else text


def plain_offset(text: str, offset: int) -> int:
    """The offset in the plain text of a character of the text."""
    return offset - text.startswith("\ufeff") - text.count("\r\n", 0, offset)


def names_module(before: str) -> bool:
    """Whether a string that begins here is passed to a function that takes a module's name."""
    return re.search(r"(?:patch|setattr|delattr|import_module|__import__)\w*\(\s*\w?['\"]$", before) is not None


def is_code(path: str, text: str) -> bool:
    """Whether a text parses."""
    return syntax_error(path, text) is None


def _free_name(wanted: str, user: ModuleText, gone: str) -> str:
    """A name that a file doesn't use yet."""
    taken = user.identifiers() - {gone}
    name = wanted
    number = 1
    while name in taken:
        number += 1
        name = f"{wanted}_module" if number == 2 else f"{wanted}_module_{number}"
    return name


def _is_taken(copy: WorkingCopy, path: str, name: str) -> bool:
    """Whether another file seems to import or read a name of a module."""
    last = PurePosixPath(stem(path)).name
    held = re.compile(rf"\b{re.escape(last)}\b[^\n]*\bimport\b|\b{re.escape(last)}\.{re.escape(name)}\b")
    paths: Iterable[str] = {one.span.path for one in copy.resolver.occurrences(name)} - {path}
    return any(held.search(copy.resolver.text(other) or "") for other in paths)


TOOLS = (Tool("move_symbol", MoveSymbol, "edit", move_symbol, result_types.Refactored),)
