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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field
from rope.base.change import ChangeContents, ChangeSet
from rope.base.exceptions import RopeError
from rope.base.project import Project
from rope.base.resources import File
from rope.refactor.change_signature import ArgumentAdder, ArgumentRemover, ChangeSignature
from rope.refactor.move import MoveGlobal, create_move
from rope.refactor.rename import Rename

from repopilot.code.languages import language_of
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.tools import identifiers
from repopilot.tools.definitions import LONGEST_LINE, DefinitionSite, find_place, mentions, name_offset
from repopilot.tools.file_change import safe_path, syntax_error
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.set_value import SetValue, set_value
from repopilot.tools.working_copy import WorkingCopy

NAME = "the definition, plain or Class.method"
IN_FILE = "the file that defines it, where several have the name"
MOST_LISTED = 20
RUFF_S = 30
log = logging.getLogger(__name__)

Texts = dict[str, str | None]


class RenameSymbol(Arguments):
    """A definition and its new name."""

    name: str = Field(description=NAME)
    new_name: str = Field(description="the new name, plain")
    path: str = Field("", description=IN_FILE)


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
    path: str = Field("", description=IN_FILE)


class OnePath(Arguments):
    """A file."""

    path: str = Field(description="the file")


@dataclass(frozen=True, slots=True)
class _Python:
    """A Python definition in the working copy's folder: `files` are those that hold its name and parse, `unread` those
    that don't parse."""

    root: Path
    place: DefinitionSite
    files: tuple[str, ...]
    unread: tuple[str, ...]


async def rename_symbol(arguments: RenameSymbol, desk: Desk) -> ToolResult:
    """Rename a definition and all references to it. References that are not sure are listed and left as they are."""
    return await asyncio.to_thread(_rename, arguments, desk.working_copy)


async def move_symbol(arguments: MoveSymbol, desk: Desk) -> ToolResult:
    """Move a Python function or class to another module; imports of it follow."""
    return await asyncio.to_thread(_move, arguments, desk.working_copy)


async def change_signature(arguments: ChangedSignature, desk: Desk) -> ToolResult:
    """Add, remove or rename parameters of a Python function; its callers follow."""
    return await asyncio.to_thread(_change_signature, arguments, desk.working_copy)


async def organize_imports(arguments: OnePath, desk: Desk) -> ToolResult:
    """Sort the imports of a Python file and remove those that nothing uses."""
    return await asyncio.to_thread(_organize_imports, arguments.path, desk.working_copy)


def _rename(arguments: RenameSymbol, copy: WorkingCopy) -> ToolResult:
    place, new = find_place(copy, arguments.name, arguments.path), arguments.new_name
    if not new.isidentifier() or keyword.iskeyword(new):
        raise UsageError(message("refactor_tools.no_identifier", name=new))
    old = place.symbol.name
    if old == new:
        raise UsageError(message("refactor_tools.same_name", name=new))
    owner = place.symbol.qualified.rpartition(".")[0]
    taken = f"{owner}.{new}".lstrip(".")
    if any(s.qualified == taken for s in copy.workspace.index.outline(place.path)):
        raise UsageError(message("refactor_tools.taken", name=taken, path=place.path))
    if language_of(place.path) != "python":
        texts, unsure = identifiers.renamed(copy, place, new)
        return _result(copy, texts, [*unsure, *mentions(copy, old, {row["path"] for row in unsure})])
    python = _python(copy, place)

    def change(project: Project, offset: int, files: list[File]) -> ChangeSet:
        found = Rename(project, project.get_file(place.path), offset)
        return found.get_changes(new, docs=False, in_hierarchy=True, resources=files)

    texts = _by_rope(python, change)
    left: list[dict[str, Any]] = []
    for path in python.files:
        texts[path], rows = _with_super(path, texts.get(path) or copy.text(path) or "", old, new)
        left += rows
    return _result(copy, texts, [*left, *mentions(copy, old, set())], python.unread)


def _with_super(path: str, text: str, old: str, new: str) -> tuple[str, list[dict[str, Any]]]:
    """A text in which `super().old` is renamed in the classes that define the new name, which rope leaves; and the
    attributes called so that are left, of objects whose class is not known."""
    tree, lines = ast.parse(text), text.split("\n")
    owned = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(getattr(member, "name", "") == new for member in node.body)
        for inner in ast.walk(node)
    }
    rows = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr != old:
            continue
        number, end = (node.end_lineno or node.lineno) - 1, node.end_col_offset or 0
        line = lines[number].encode()
        if id(node) in owned and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super":
            lines[number] = (line[: end - len(old.encode())] + new.encode() + line[end:]).decode()
        else:
            rows.append({"path": path, "line": number + 1, "text": lines[number].strip()[:LONGEST_LINE]})
    return "\n".join(lines), rows


def _move(arguments: MoveSymbol, copy: WorkingCopy) -> ToolResult:
    place, target = find_place(copy, arguments.name, arguments.path), arguments.to_path
    if language_of(place.path) != "python" or language_of(target) != "python":
        raise UsageError(message("refactor_tools.only_python", tool="move_symbol"))
    if "." in place.symbol.qualified or place.symbol.kind not in ("function", "class"):
        raise UsageError(message("refactor_tools.only_top", name=place.symbol.qualified))
    there = copy.text(target)
    if safe_path(target) == place.path:
        raise UsageError(message("refactor_tools.same_file", name=place.symbol.name, path=target))
    if any(s.qualified == place.symbol.name for s in copy.workspace.index.outline(target)) if there else False:
        raise UsageError(message("refactor_tools.taken", name=place.symbol.name, path=target))
    if there is None:
        copy.edit({safe_path(target): ""})
    try:
        python = _python(copy, place)

        def change(project: Project, offset: int, files: list[File]) -> ChangeSet:
            mover = create_move(project, project.get_file(place.path), offset)
            if not isinstance(mover, MoveGlobal):
                raise UsageError(message("refactor_tools.only_top", name=place.symbol.qualified))
            target_file = project.get_file(safe_path(target))
            return mover.get_changes(target_file, resources=[*files, target_file])

        texts = _by_rope(python, change)
    finally:
        if there is None:
            copy.undo(1)
    return _result(copy, texts, mentions(copy, place.symbol.name, set(texts)), python.unread)


def _change_signature(arguments: ChangedSignature, copy: WorkingCopy) -> ToolResult:
    place = find_place(copy, arguments.name, arguments.path)
    if language_of(place.path) != "python":
        raise UsageError(message("refactor_tools.only_python", tool="change_signature"))
    if not (arguments.add or arguments.remove or arguments.rename):
        raise UsageError(message("refactor_tools.nothing_to_change"))
    if place.symbol.kind == "class":
        place = find_place(copy, f"{place.symbol.qualified}.__init__", place.path)
    done: list[Texts] = []
    try:
        for change in _signature_steps(arguments, place):
            python = _python(copy, find_place(copy, place.symbol.qualified, place.path))
            done.append(_by_rope(python, change))
            copy.edit(done[-1])
    finally:
        final = {path: copy.text(path) for texts in done for path in texts}
        copy.undo(len(done))
    return _result(copy, final, mentions(copy, "", set()), python.unread)


_Step = Callable[[Project, int, list[File]], ChangeSet]
"""A refactoring: of a project, at an offset, within files."""


def _signature_steps(arguments: ChangedSignature, place: DefinitionSite) -> Iterator[_Step]:
    """Rope's refactorings in turn: parameters renamed, removed, added."""

    def changer(project: Project, offset: int) -> tuple[ChangeSignature, list[str]]:
        found = ChangeSignature(project, project.get_file(place.path), offset)
        return found, [name for name, _ in found.get_args()]

    def index_of(name: str, names: Sequence[str]) -> int:
        if name not in names:
            there = message("tools.there_are", names=", ".join(names) or "-")
            raise UsageError(message("refactor_tools.no_parameter", name=name, function=place.symbol.qualified), there)
        return names.index(name)

    for old, new in arguments.rename.items():

        def rename(project: Project, offset: int, files: list[File], old: str = old, new: str = new) -> ChangeSet:
            _, names = changer(project, offset)
            index_of(old, names)
            file = project.get_file(place.path)
            return Rename(project, file, _parameter_offset(file.read(), place, old)).get_changes(new, resources=files)

        yield rename
    for gone in arguments.remove:

        def remove(project: Project, offset: int, files: list[File], gone: str = gone) -> ChangeSet:
            found, names = changer(project, offset)
            return found.get_changes([ArgumentRemover(index_of(gone, names))], resources=files)

        yield remove
    for each in arguments.add:

        def add(project: Project, offset: int, files: list[File], each: NewParameter = each) -> ChangeSet:
            found, names = changer(project, offset)
            if each.name in names or not each.name.isidentifier() or keyword.iskeyword(each.name):
                raise UsageError(message("refactor_tools.bad_parameter", name=each.name))
            adder = ArgumentAdder(len(names), each.name, each.default or None, None)
            return found.get_changes([adder], resources=files)

        yield add


def _parameter_offset(text: str, place: DefinitionSite, name: str) -> int:
    """Where a parameter stands in its function's definition, in characters."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_at(node, place):
            every = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            extra = [each for each in (node.args.vararg, node.args.kwarg) if each]
            found = next((each for each in (*every, *extra) if each.arg == name), None)
            if found is not None:
                lines = text.split("\n")
                before = lines[found.lineno - 1].encode()[: found.col_offset].decode()
                return sum(len(line) + 1 for line in lines[: found.lineno - 1]) + len(before)
    raise UsageError(message("refactor_tools.no_parameter", name=name, function=place.symbol.qualified))


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
    holding = [p for p in copy.paths() if p.endswith(".py") and _holds(root / p, word)]
    unread = [p for p in holding if not _parses(root / p)]
    if place.path in unread or not _parses(root / place.path):
        raise UsageError(message("refactor_tools.no_parse", path=place.path))
    return _Python(root, place, tuple(p for p in holding if p not in unread), tuple(unread))


def _holds(file: Path, word: str) -> bool:
    try:
        return re.search(rb"\b%s\b" % re.escape(word.encode()), file.read_bytes()) is not None
    except OSError:
        return False


def _parses(file: Path) -> bool:
    return syntax_error(file.name, file.read_text("utf-8", errors="replace")) is None


def _by_rope(python: _Python, change: _Step) -> Texts:
    """The new texts of the files that a refactoring changes. Rope writes nothing.

    Raises:
        UsageError: rope can't do it; the message says why.
    """
    project = Project(str(python.root), ropefolder=None, ignore_syntax_errors=True)
    try:
        text = project.get_file(python.place.path).read()
        files = [project.get_file(path) for path in python.files]
        changes = change(project, name_offset(text, python.place.symbol), files)
        return {c.resource.path: c.new_contents for c in _contents(changes)}
    except RopeError as error:
        raise UsageError(message("refactor_tools.rope", problem=str(error))) from error
    except UsageError:
        raise
    except Exception as error:  # rope fails on unusual code with errors of every kind
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
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--select=I,F401",
        "--fix",
        "--quiet",
        "--no-cache",
        "--exit-zero",
    ]
    try:
        done = subprocess.run(
            [*command, f"--stdin-filename={path}", "-"],
            input=text.encode(),
            capture_output=True,
            cwd=copy.root(),
            timeout=RUFF_S,
            check=True,
        )
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
    new = {path: text for path, text in texts.items() if text != copy.text(path)}
    for path, text in new.items():
        fault = syntax_error(path, text or "")
        if fault is not None and syntax_error(path, copy.text(path) or "") is None:
            raise UsageError(message("edit_tools.syntax", path=path, problem=fault.message))
    if not new:
        raise UsageError(message("edit_tools.same"))
    made = copy.edit(new)
    rows = [f"{c.path} +{_count(c.diff, '+')} -{_count(c.diff, '-')}" for c in made]
    left = [f"{row['path']}:{row['line']} {row['text']}" for row in unsure[:MOST_LISTED]]
    if left:
        rows += [message("refactor_tools.unsure", count=len(unsure)), *left]
    rows += [message("refactor_tools.unread", path=path) for path in unread]
    data = {"files": [c.path for c in made], "unsure": list(unsure[:MOST_LISTED]), "unread": list(unread)}
    return ToolResult("\n".join(rows), {**data, "unsure_count": len(unsure)})


def _count(diff: str, sign: str) -> int:
    return sum(line.startswith(sign) and not line.startswith(sign * 3) for line in diff.split("\n"))


TOOLS = (
    Tool("rename_symbol", RenameSymbol, "edit", rename_symbol),
    Tool("move_symbol", MoveSymbol, "edit", move_symbol),
    Tool("change_signature", ChangedSignature, "edit", change_signature),
    Tool("set_value", SetValue, "edit", set_value),
    Tool("organize_imports", OnePath, "edit", organize_imports),
)
