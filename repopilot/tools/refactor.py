"""Tools that change a definition and everything that depends on it.

Python is refactored by rope, on the working copy's folder; for other languages a rename replaces identifiers in the
syntax trees, where only one definition has the name. What isn't sure is listed and left as it is.
"""

from __future__ import annotations

import ast
import asyncio
import keyword
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from unicodedata import is_normalized

from pydantic import Field
from rope.base.change import ChangeContents, ChangeSet
from rope.base.exceptions import RopeError
from rope.base.project import Project
from rope.base.resources import File
from rope.contrib.findit import find_occurrences
from rope.refactor.patchedast import get_patched_ast

from repopilot.code.languages import language_of
from repopilot.code.source_positions import SourcePositions, replaced
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.redact import redacted
from repopilot.tools import result_types, signature
from repopilot.tools.definitions import LONGEST_LINE, DefinitionSite, find_place, mentions, name_offset
from repopilot.tools.file_change import safe_path, syntax_error, with_final_newline, with_line_ends
from repopilot.tools.python_moves import Module, definition, from_new_package, module_moved, moved, used_from
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.set_value import SetValue, set_value
from repopilot.tools.signature import Function, SignatureChange, parameters, positional
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

NAME = "the definition, plain or Class.method"
IN_FILE = "the file that defines it, where several have the name"
MOST_LISTED = 20
RUFF_S = 30
log = logging.getLogger(__name__)

Texts = dict[str, str | None]


class MoveSymbol(Arguments):
    """A definition and the module it shall be in."""

    name: str = Field(description="a function or class at the top of a module")
    to_path: str = Field(description="the file it shall be in, which need not exist")
    path: str = Field("", description=IN_FILE)


class NewParameter(Arguments):
    """A parameter to add."""

    name: str = Field(description="its name")
    default: str = Field("", description="its default, as code; empty for a required one")


class ChangedSignature(Arguments):
    """What changes in the parameters of a function."""

    name: str = Field(description="the function, plain or Class.method")
    add: list[NewParameter] = Field(default_factory=list, description="parameters to add behind the others")
    remove: list[str] = Field(default_factory=list, description="parameters to remove")
    rename: dict[str, str] = Field(default_factory=dict, description="new names of parameters by their old ones")
    order: list[str] = Field(default_factory=list, description="parameters that change places, in their new order")
    path: str = Field("", description=IN_FILE)


class OnePath(Arguments):
    """A file."""

    path: str = Field(description="the file")


@dataclass(frozen=True, slots=True)
class _Python:
    """A Python definition in the working copy's folder: `files` are those that hold its name and parse, `unread` those
    that don't parse, `roots` the folders that imports start from."""

    root: Path
    place: DefinitionSite
    files: tuple[str, ...]
    unread: tuple[str, ...]
    roots: tuple[str, ...]


_Step = Callable[[Project, int, list[File]], ChangeSet]
"""A refactoring: of a project, at an offset, within files."""
T = TypeVar("T")


async def move_symbol(arguments: MoveSymbol, desk: Desk) -> ToolResult:
    """Move a function, class or constant from the top of a Python module to another module; imports follow."""
    return await asyncio.to_thread(_move, arguments, desk.working_copy)


async def change_signature(arguments: ChangedSignature, desk: Desk) -> ToolResult:
    """Add, remove, rename or reorder parameters of a Python function; its callers follow."""
    return await asyncio.to_thread(_change_signature, arguments, desk.working_copy)


async def organize_imports(arguments: OnePath, desk: Desk) -> ToolResult:
    """Sort the imports of a Python file and remove those that nothing uses."""
    return await asyncio.to_thread(_organize_imports, arguments.path, desk.working_copy)


def _move(arguments: MoveSymbol, copy: WorkingCopy) -> ToolResult:
    place, target = find_place(copy, arguments.name, arguments.path), safe_path(arguments.to_path)
    name, there = place.symbol.name, copy.text(target)
    if language_of(place.path) != "python" or language_of(target) != "python":
        raise UsageError(message("refactor_tools.only_python", tool="move_symbol"))
    if target == place.path:
        raise UsageError(message("refactor_tools.same_file", name=name, path=target))
    python = _python(copy, place)
    source = _module(copy, place.path, python.roots)
    if "." in place.symbol.qualified or definition(source.text, name) is None:
        raise UsageError(message("refactor_tools.only_top", name=place.symbol.qualified))
    if there is not None and syntax_error(target, there) is not None:
        raise UsageError(message("refactor_tools.no_parse", path=target))
    if there and definition(there, name) is not None:
        raise UsageError(message("refactor_tools.taken", name=name, path=target))
    goal = _module(copy, target, python.roots)
    try:
        texts: Texts = dict(zip((place.path, target), moved(name, source, goal), strict=True))
    except ValueError as error:
        needs = message("refactor_tools.cycle", name=name, needs=str(error), path=place.path)
        raise UsageError(needs, message("refactor_tools.cycle_hint")) from error
    for path in python.files:
        if path not in texts:
            texts[path] = used_from(_module(copy, path, python.roots), name, source.name, goal.name)
    return _result(copy, texts, mentions(copy, name, {p for p, t in texts.items() if t != copy.text(p)}), python.unread)


def with_moved_module(path: str, new_path: str, copy: WorkingCopy) -> Texts:
    """The new texts where a Python module gets another path: its own, and those of all that import it. Blocking.

    Args:
        path: of the module.
        new_path: what it shall be.
        copy: the working copy.
    """
    roots, text = _import_roots(copy), copy.text(path) or ""
    old, new = _module(copy, path, roots), replace(_module(copy, new_path, roots), text=_plain(text))
    texts: Texts = {path: None, new_path: text}
    if syntax_error(path, text) is None and old.package != new.package:
        texts[new_path] = with_line_ends(from_new_package(new, old), text)
    for user in _holding(copy, old.name.rpartition(".")[2])[0]:
        if user != path:
            made = module_moved(_module(copy, user, roots), old.name, new.name)
            texts[user] = with_line_ends(made, copy.text(user) or "")
    return {user: made for user, made in texts.items() if made != copy.text(user)}


def _module(copy: WorkingCopy, path: str, roots: Sequence[str]) -> Module:
    root = max((root for root in roots if path.startswith(f"{root}/")), key=len, default="")
    name = path.removeprefix(f"{root}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return Module(_plain(copy.text(path)), name, path.rpartition("/")[2] == "__init__.py")


def _change_signature(arguments: ChangedSignature, copy: WorkingCopy) -> ToolResult:
    place = find_place(copy, arguments.name, arguments.path)
    if language_of(place.path) != "python":
        raise UsageError(message("refactor_tools.only_python", tool="change_signature"))
    if place.symbol.kind == "class":
        place = find_place(copy, f"{place.symbol.qualified}.__init__", place.path)
    python = _python(copy, place)
    texts = {path: _plain(copy.text(path)) for path in {*python.files, place.path}}
    function = _function(texts[place.path], place)
    change = _signature_change(arguments, function, place.symbol.qualified)
    own = texts[place.path]
    new = {
        place.path: [
            made for each in _overloads(own, function) for made in signature.changed_definition(own, each, change)
        ]
    }
    left: list[dict[str, Any]] = []
    found = _uses(python, copy)
    for path, text in texts.items():
        offsets = SourcePositions(text)
        for call, sure in _calls(offsets, place.symbol, found.get(path, set())):
            bound = _bound(call, place.symbol, function)
            made = signature.changed_call(offsets, call, bound, positional(function), change) if sure else None
            new.setdefault(path, []).extend(made or [])
            if made is None and (arguments.remove or arguments.order or not all(a.default for a in arguments.add)):
                line = text.split("\n")[call.lineno - 1].strip()
                left.append({"path": path, "line": call.lineno, "text": line[:LONGEST_LINE]})
    return _result(copy, {path: replaced(texts[path], each) for path, each in new.items()}, left, python.unread)


def _plain(text: str | None) -> str:
    return (text or "").removeprefix("\ufeff").replace("\r\n", "\n")


def _signature_change(arguments: ChangedSignature, function: Function, name: str) -> SignatureChange:
    """The change as asked, of parameters that there are.

    Raises:
        UsageError: it changes nothing, or names a parameter that there isn't, or one that there can't be.
    """
    known, add = parameters(function), {each.name: each.default for each in arguments.add}
    changed = [*arguments.remove, *arguments.rename, *arguments.order]
    if not (add or changed):
        raise UsageError(message("refactor_tools.nothing_to_change"))
    for name in changed:
        if changed.count(name) > 1:
            raise UsageError(message("refactor_tools.named_twice", name=name))
    wrong = [old for old in changed if old not in known or (old in arguments.order and old not in positional(function))]
    if wrong:
        there = message("tools.there_are", names=", ".join(known) or "-")
        raise UsageError(message("refactor_tools.no_parameter", name=wrong[0], function=name), there)
    for new in (*add, *arguments.rename.values()):
        if new in known or not new.isidentifier() or keyword.iskeyword(new):
            raise UsageError(message("refactor_tools.bad_parameter", name=new))
    return SignatureChange(add, arguments.remove, arguments.rename, arguments.order)


def _function(text: str, place: DefinitionSite) -> Function:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_at(node, place):
            return node
    raise UsageError(message("refactor_tools.no_function", name=place.symbol.qualified))


def _overloads(text: str, function: Function) -> list[Function]:
    """The definitions of a name beside a function: its overloads and itself, as far as they have its parameters."""
    for node in ast.walk(ast.parse(text)):
        body = [each for each in ast.iter_child_nodes(node) if isinstance(each, Function)]
        if any(each.lineno == function.lineno for each in body):
            return [e for e in body if e.name == function.name and set(parameters(function)) <= set(parameters(e))]
    return [function]


def _uses(python: _Python, copy: WorkingCopy) -> dict[str, set[int]]:
    """Where the name of a function stands that surely means it: offsets by path. A class stands for its `__init__`."""
    owner = python.place.symbol.qualified.rpartition(".")[0]
    made = python.place.symbol.name == "__init__"
    symbols = [python.place, *([find_place(copy, owner, python.place.path)] if made else [])]

    def find(project: Project) -> list[tuple[str, int]]:
        file = project.get_file(python.place.path)
        files = [project.get_file(path) for path in python.files]
        offsets = [name_offset(file.read(), each.symbol) for each in symbols]
        found = [find_occurrences(project, file, offset, resources=files) for offset in offsets]
        return [(each.resource.path, each.offset) for places in found for each in places]

    uses: dict[str, set[int]] = {}
    for path, offset in _with_rope(python, find):
        uses.setdefault(path, set()).add(offset)
    return uses


def _calls(offsets: SourcePositions, symbol: Symbol, uses: set[int]) -> Iterator[tuple[ast.Call, bool]]:
    """The calls of a name in a text, each with whether it surely means the function."""
    names = [symbol.name, *symbol.qualified.split(".")[-2:-1]]
    for node in ast.walk(ast.parse(offsets.text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        if name in names:
            sure = offsets.span(node.func)[1] - len(name) in uses
            if sure or (name == symbol.name and isinstance(node.func, ast.Attribute) and "." in symbol.qualified):
                yield node, sure


def _bound(call: ast.Call, symbol: Symbol, function: Function) -> int:
    """How many parameters the object of a call fills: the `self` of a method, unless it is called on its class."""
    decorators = {getattr(each, "id", "") for each in function.decorator_list}
    if "." not in symbol.qualified or "staticmethod" in decorators:
        return 0
    owner = symbol.qualified.split(".")[-2]
    on_class = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == owner
    return 0 if on_class and "classmethod" not in decorators else 1


def _is_at(node: ast.FunctionDef | ast.AsyncFunctionDef, place: DefinitionSite) -> bool:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return node.name == place.symbol.name and first <= place.symbol.end_line and node.lineno >= place.symbol.start_line


def _python(copy: WorkingCopy, place: DefinitionSite) -> _Python:
    """The files of the folder that hold the name of a definition.

    Raises:
        UsageError: the file of the definition itself doesn't parse.
    """
    root, word = copy.root(), place.symbol.name
    if word == "__init__":
        word = place.symbol.qualified.rpartition(".")[0].rpartition(".")[2]
    files, unread = _holding(copy, word)
    if place.path in unread or not _parses(root / place.path):
        raise UsageError(message("refactor_tools.no_parse", path=place.path))
    return _Python(root, place, files, unread, _import_roots(copy))


def _holding(copy: WorkingCopy, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The Python files that hold a word: those that parse, and those that don't."""
    root = copy.root()
    holding = [p for p in copy.paths() if p.endswith(".py") and _holds(root / p, word)]
    unread = tuple(p for p in holding if not _parses(root / p))
    return tuple(p for p in holding if p not in unread), unread


def _import_roots(copy: WorkingCopy) -> tuple[str, ...]:
    """The folders that absolute imports start from: where modules lie that are in no package, and the first packages;
    the folder of the repository last."""
    tree, roots = copy.root(), set()
    for folder in {PurePosixPath(path).parent for path in copy.paths() if path.endswith(".py")}:
        while folder.name and (tree / folder / "__init__.py").exists():
            folder = folder.parent
        roots.add(str(folder))
    return (*sorted(roots - {"."}), "")


def _holds(file: Path, word: str) -> bool:
    try:
        return re.search(rb"\b%s\b" % re.escape(word.encode()), file.read_bytes()) is not None
    except OSError:
        return False


def _parses(file: Path) -> bool:
    """Whether Python reads a file, and rope finds its names as they are written: Python normalises some of Unicode."""
    text = file.read_text("utf-8", errors="replace")
    try:
        return syntax_error(file.name, text) is None and (is_normalized("NFKC", text) or bool(get_patched_ast(text)))
    except RopeError:
        return False


def _by_rope(python: _Python, change: _Step) -> Texts:
    """The new texts of the files that a refactoring changes. Rope writes nothing. Raises UsageError."""

    def changed(project: Project) -> Texts:
        text = project.get_file(python.place.path).read()
        files = [project.get_file(path) for path in python.files]
        changes = change(project, name_offset(text, python.place.symbol), files)
        return {c.resource.path: c.new_contents for c in _contents(changes)}

    return _with_rope(python, changed)


def _with_rope(python: _Python, work: Callable[[Project], T]) -> T:
    """What rope makes of the folder. Raises UsageError, which says why, where it can't do it."""
    root, folders = str(python.root), list(python.roots)
    project = Project(root, ropefolder=None, ignore_syntax_errors=True, source_folders=folders)
    try:
        return work(project)
    except RopeError as error:
        raise UsageError(message("refactor_tools.rope", problem=str(error))) from error
    except Exception as error:  # rope fails on unusual code with errors of every kind
        if isinstance(error, UsageError):
            raise
        log.exception("rope failed on %s", python.place.path)
        raise UsageError(message("refactor_tools.rope", problem=f"{type(error).__name__}: {error}")) from error
    finally:
        project.close()


def _contents(changes: Any) -> Iterator[ChangeContents]:
    for change in changes.changes:
        if isinstance(change, ChangeSet):
            yield from _contents(change)
        elif isinstance(change, ChangeContents):
            yield change


def _organize_imports(path: str, copy: WorkingCopy) -> ToolResult:
    text = copy.text(path)
    if text is None or language_of(path) != "python":
        raise UsageError(message("refactor_tools.no_python_file", path=path))
    if syntax_error(path, text) is not None:
        raise UsageError(message("refactor_tools.no_parse", path=path))
    options = "check --select=I,F401 --fix --quiet --no-cache --exit-zero".split()
    command, given = [sys.executable, "-m", "ruff", *options, f"--stdin-filename={path}", "-"], text.encode()
    try:
        done = subprocess.run(command, input=given, capture_output=True, cwd=copy.root(), timeout=RUFF_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(message("refactor_tools.ruff", problem=str(error))) from error
    return _result(copy, {safe_path(path): done.stdout.decode()}, [])


def _result(
    copy: WorkingCopy, texts: Texts, unsure: Sequence[dict[str, Any]], unread: Iterable[str] = ()
) -> ToolResult:
    """Put new texts into the working copy and tell what changed, what was left and what could not be read.

    Raises:
        UsageError: nothing differs, or a file would not parse any more.
    """
    kept = {path: text and _as_before(text, copy.text(path) or "") for path, text in texts.items()}
    new = {path: text for path, text in kept.items() if text != copy.text(path)}
    for path, text in new.items():
        fault = syntax_error(path, text or "")
        if fault is not None and syntax_error(path, copy.text(path) or "") is None:
            raise UsageError(message("edit_tools.syntax", path=path, problem=fault.message))
    if not new:
        raise UsageError(message("edit_tools.same"))
    made = copy.edit(new)
    rows = [f"{c.path} +{_count(c.diff, '+')} -{_count(c.diff, '-')}" for c in made]
    listed = [_shown_row(row, copy) for row in unsure[:MOST_LISTED]]
    left = [f"{row['path']}:{row['line']} {row['text']}" for row in listed]
    if left:
        rows += [message("refactor_tools.unsure", count=len(unsure)), *left]
    rows += [message("refactor_tools.unread", path=path) for path in unread]
    data = {"files": [c.path for c in made], "unsure": listed, "unread": list(unread)}
    return ToolResult("\n".join(rows), {**data, "unsure_count": len(unsure)})


def _as_before(new: str, old: str) -> str:
    return with_final_newline(with_line_ends(new, old), old)


def _shown_row(row: dict[str, Any], copy: WorkingCopy) -> dict[str, Any]:
    """A place that is left, its line without secrets."""
    lines = redacted(_plain(copy.text(row["path"]))).split("\n")
    return {**row, "text": lines[row["line"] - 1].strip()[:LONGEST_LINE]}


def _count(diff: str, sign: str) -> int:
    return sum(line.startswith(sign) and not line.startswith(sign * 3) for line in diff.split("\n"))


TOOLS = (
    Tool("move_symbol", MoveSymbol, "edit", move_symbol, result_types.Refactored),
    Tool("change_signature", ChangedSignature, "edit", change_signature, result_types.Refactored),
    Tool("set_value", SetValue, "edit", set_value, result_types.ValueSet),
    Tool("organize_imports", OnePath, "edit", organize_imports, result_types.Refactored),
)
