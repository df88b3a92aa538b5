"""Tools that edit files of the working copy. None leaves a file with a syntax error that it didn't have."""

from __future__ import annotations

import asyncio
import difflib
import re
import textwrap
from dataclasses import replace
from typing import Literal

from pydantic import Field

from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import analyse
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.redact import redacted
from repopilot.redaction.restore import restored
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.resolve.captures import captured_names
from repopilot.tools import result_types
from repopilot.tools.file_change import safe_path, syntax_error, with_final_newline, with_line_ends
from repopilot.tools.move_file import ModuleMove
from repopilot.tools.refactored import finished
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

NEAREST = 3
"""Lines shown on each side of the line that comes nearest to a text that isn't there."""
_NUMBERED = re.compile(r"^ *\d+(?:[:|\t] ?| )", re.M)
"""A line number before a line, as `read` shows it."""


class ReplaceText(Arguments):
    """A text and what replaces it."""

    path: str = Field(description="the file")
    old: str = Field(description="the text to replace, exactly as it stands in the file")
    new: str = Field(description="what replaces it")
    count: int = Field(1, ge=1, description="how often `old` stands in the file")


class ReplaceSymbol(Arguments):
    """A definition and its new code."""

    path: str = Field(description="the file")
    name: str = Field(description="the definition, plain or Class.method")
    code: str = Field(description="all of the new definition")


class InsertCode(Arguments):
    """Code and where it goes."""

    path: str = Field(description="the file")
    anchor: str = Field("", description='a definition of the file; "" for the end of the file')
    position: Literal["before", "after", "inside"] = Field("after", description="where, seen from the anchor")
    code: str = Field(description="the code, at any indentation")


class CreateFile(Arguments):
    """A new file."""

    path: str = Field(description="where it shall be; nothing may be there yet")
    content: str = Field(description="its text")


class DeleteFile(Arguments):
    """A file to delete."""

    path: str = Field(description="the file")


class MoveFile(Arguments):
    """A file and its new path."""

    path: str = Field(description="the file")
    new_path: str = Field(description="where it shall be; nothing may be there yet")


class Undo(Arguments):
    """How much to take back."""

    steps: int = Field(1, ge=1, description="how many edits")


async def replace_text(arguments: ReplaceText, desk: Desk) -> ToolResult:
    """Replace a text that stands in a file exactly `count` times. Give enough lines around it to be unambiguous."""
    text = await _text(arguments.path, desk)
    plain = text.replace("\r\n", "\n")
    shown = desk.working_copy.hidden(redacted(plain))  # whether a text stands there must not tell what a secret is
    old, new = _as_in_file(arguments.old.replace("\r\n", "\n"), arguments.new.replace("\r\n", "\n"), shown)
    found = shown.count(old) if old else 0
    if found != arguments.count:
        problem = message("edit_tools.not_there", path=arguments.path, count=found, wanted=arguments.count)
        raise UsageError(problem, message("edit_tools.nearest", lines=_nearest(shown, old)))
    if plain.count(old) == found:
        return await _edited(arguments.path, plain.replace(old, new), text, desk)
    made, lost = restored(shown.replace(old, new), shown, plain)
    if lost is not None:
        raise UsageError(message("generate.secret_line"), message("generate.secret_line_hint", line=lost[:80]))
    return await _edited(arguments.path, made, text, desk)


async def replace_symbol(arguments: ReplaceSymbol, desk: Desk) -> ToolResult:
    """Replace the whole of a definition by new code; by nothing, to remove it."""
    text = await _text(arguments.path, desk)
    place = _definition(arguments.path, arguments.name, text)
    lines = text.replace("\r\n", "\n").split("\n")
    code = _at_indentation(arguments.code, _indentation(lines[place.start_line - 1]))
    start = place.start_line - 1
    while not arguments.code.strip() and start and not lines[start - 1].strip():
        start -= 1
    lines[start : place.end_line] = code if arguments.code.strip() else []
    return await _edited(arguments.path, "\n".join(lines), text, desk)


async def insert_code(arguments: InsertCode, desk: Desk) -> ToolResult:
    """Insert code before, after or at the end inside of a definition, or at the end of a file."""
    text = await _text(arguments.path, desk)
    lines = text.replace("\r\n", "\n").split("\n")
    if not arguments.anchor:
        kept = "\n".join(lines).rstrip("\n")
        code = "\n".join(_at_indentation(arguments.code, ""))
        gap = "\n\n\n" if language_of(arguments.path) == "python" and kept else "\n\n" if kept else ""
        return await _edited(arguments.path, with_final_newline(f"{kept}{gap}{code}\n", text), text, desk)
    place = _definition(arguments.path, arguments.anchor, text)
    lines = _inserted(lines, place, arguments)
    return await _edited(arguments.path, "\n".join(lines), text, desk)


async def create_file(arguments: CreateFile, desk: Desk) -> ToolResult:
    """Create a file. Fails where there is one already."""
    await _require_free(arguments.path, desk)
    return await _edited(arguments.path, arguments.content, None, desk)


async def delete_file(arguments: DeleteFile, desk: Desk) -> ToolResult:
    """Delete a file."""
    await _text(arguments.path, desk)
    return _result(desk, {safe_path(arguments.path): None})


async def move_file(arguments: MoveFile, desk: Desk) -> ToolResult:
    """Give a file another path. Imports of a Python module follow."""
    text = await _text(arguments.path, desk)
    await _require_free(arguments.new_path, desk)
    path, new = safe_path(arguments.path), safe_path(arguments.new_path)
    if path.endswith(".py") and new.endswith(".py"):
        return await asyncio.to_thread(_move_module, path, new, desk.working_copy)
    return _result(desk, {path: None, new: text})


def _move_module(path: str, new: str, copy: WorkingCopy) -> ToolResult:
    found = ModuleMove(copy, path, new)
    done = finished(copy, found.texts, found.left, (), found.unread, found.users)
    return ToolResult(done.text, {**done.data, "paths": done.data["files"]})


async def undo(arguments: Undo, desk: Desk) -> ToolResult:
    """Take back the last edits."""
    taken = desk.working_copy.undo(arguments.steps)
    return ToolResult(message("edit_tools.undone", count=taken), {"undone": taken})


async def _text(path: str, desk: Desk) -> str:
    text = await asyncio.to_thread(desk.working_copy.text, path)
    if text is None:
        near = difflib.get_close_matches(path, desk.working_copy.paths(), 3, 0.5)
        hint = message("tools.similar_files", paths=", ".join(near)) if near else ""
        raise UsageError(message("tools.unknown_file", path=path), hint)
    return text


async def _require_free(path: str, desk: Desk) -> None:
    if await asyncio.to_thread(desk.working_copy.text, path) is not None:
        raise UsageError(message("edit_tools.exists", path=path), message("edit_tools.exists_hint"))


async def _edited(path: str, new: str, old: str | None, desk: Desk) -> ToolResult:
    """Put a new text into the working copy, with the line ends of the old one."""
    fault = syntax_error(path, new)
    if fault is not None and (old is None or syntax_error(path, old) is None):
        raise UsageError(message("edit_tools.syntax", path=path, problem=fault.message))
    done = _result(desk, {safe_path(path): with_line_ends(new, old or "")})
    found = captured_names(old, new) if old is not None and language_of(path) == "python" else ()
    rows = [f"{path}:{line}: {message('edit_check.captured', name=name)}" for line, name in found]
    return replace(done, text="\n".join([done.text, *rows])) if rows else done


def _result(desk: Desk, texts: dict[str, str | None]) -> ToolResult:
    made = desk.working_copy.edit(texts)
    diff = shown_diffs(made)
    return ToolResult(diff or message("edit_tools.same"), {"paths": list(texts), "diff": diff})


def _as_in_file(old: str, new: str, text: str) -> tuple[str, str]:
    """The texts without line numbers that were copied with them, where the text as such isn't there."""
    lines = old.strip("\n").split("\n")
    if old in text or not all(_NUMBERED.match(line) for line in lines):
        return old, new
    bare = _NUMBERED.sub("", old)
    numbered = all(_NUMBERED.match(line) for line in new.strip("\n").split("\n"))
    return (bare, _NUMBERED.sub("", new) if numbered else new) if bare in text else (old, new)


def _nearest(shown: str, old: str) -> str:
    """The numbered lines around the one most like the first line of a text that isn't there."""
    lines = shown.split("\n")
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    near = difflib.get_close_matches(first, [line.strip() for line in lines], 1, 0.0)
    at = next((n for n, line in enumerate(lines) if near and line.strip() == near[0]), 0)
    near_by = range(max(0, at - NEAREST), min(len(lines), at + NEAREST + 1))
    return "\n" + "\n".join(f"{n + 1} {lines[n]}" for n in near_by)


def _definition(path: str, name: str, text: str) -> Symbol:
    """The one definition of a name in a file.

    Raises:
        UsageError: there is none or several; the hint names those there are.
    """
    language = language_of(path) or ""
    known = analyse(path, text.replace("\r\n", "\n"), language, file_kind(path)).symbols
    found = [s for s in known if name == s.qualified] or [s for s in known if name == s.name]
    if len(found) == 1:
        return found[0]
    names = [f"{s.qualified} ({s.start_line}-{s.end_line})" for s in found or known][:20]
    key = "edit_tools.several" if found else "tools.unknown_symbol_in"
    raise UsageError(message(key, name=name, path=path), message("tools.there_are", names=", ".join(names)))


def _inserted(lines: list[str], place: Symbol, arguments: InsertCode) -> list[str]:
    own = _indentation(lines[place.start_line - 1])
    if arguments.position == "inside":
        inner = [_indentation(line) for line in lines[place.start_line : place.end_line] if line.strip()]
        braced = lines[place.end_line - 1].strip().startswith("}")
        at = place.end_line - 1 if braced else place.end_line
        deeper = next((indentation for indentation in inner if len(indentation) > len(own)), f"{own}    ")
        return [*lines[:at], "", *_at_indentation(arguments.code, deeper), *lines[at:]]
    code = _at_indentation(arguments.code, own)
    gap = ["", ""] if language_of(arguments.path) == "python" and not own else [""]
    if arguments.position == "before":
        return [*lines[: place.start_line - 1], *code, *gap, *lines[place.start_line - 1 :]]
    return [*lines[: place.end_line], *gap, *code, *lines[place.end_line :]]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _at_indentation(code: str, indentation: str) -> list[str]:
    bare = textwrap.dedent(code.replace("\r\n", "\n")).strip("\n").split("\n")
    return [indentation + line if line.strip() else "" for line in bare]


TOOLS = (
    Tool("replace_text", ReplaceText, "edit", replace_text, result_types.Edited),
    Tool("replace_symbol", ReplaceSymbol, "edit", replace_symbol, result_types.Edited),
    Tool("insert_code", InsertCode, "edit", insert_code, result_types.Edited),
    Tool("create_file", CreateFile, "edit", create_file, result_types.Edited),
    Tool("delete_file", DeleteFile, "edit", delete_file, result_types.Edited),
    Tool("move_file", MoveFile, "edit", move_file, result_types.Moved),
    Tool("undo", Undo, "edit", undo, result_types.Undone),
)
