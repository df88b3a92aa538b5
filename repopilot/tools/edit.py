"""Tools that edit files of the working copy. None leaves a file with a syntax error that it didn't have."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Literal

from pydantic import Field

from repopilot.code.languages import language_of
from repopilot.code.split import analysed
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.redact import redacted
from repopilot.redaction.restore import restored
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.resolve.captures import captured_names
from repopilot.tools import result_types
from repopilot.tools.file_change import safe_path, syntax_error, with_final_newline, with_line_ends
from repopilot.tools.refactoring.move_file import ModuleMove
from repopilot.tools.refactoring.refactored import finished
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

MOST_SHOWN = 30
"""Most lines of a file that are shown with an error."""
NEAREST = 3
"""Lines shown on each side of the line most similar to a text that isn't there."""
MOST_AROUND_A_CUT = 4
"""Lines kept on each side of a cut in a long run of lines that an edit adds or removes."""
_HEAD_END = re.compile(r"[:{]\s*(?:#.*|//.*)?$")
"""The end of a definition's head: its body begins on the next line."""
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


@in_thread
def replace_text(arguments: ReplaceText, context: ToolContext) -> ToolResult:
    """Replace a text that stands in a file exactly `count` times. For small edits of lines that you have read; give
    enough lines around it to be unambiguous."""
    text = _text(arguments.path, context)
    plain = text.replace("\r\n", "\n")
    shown = context.working_copy.hidden(redacted(plain))  # asking for a text must not reveal a secret
    old, new = _as_in_file(arguments.old.replace("\r\n", "\n"), arguments.new.replace("\r\n", "\n"), shown)
    found = shown.count(old) if old else 0
    if found != arguments.count:
        problem = message("edit_tools.not_there", path=arguments.path, count=found, wanted=arguments.count)
        raise UsageError(problem, _where_it_stands(shown, old, found))
    if plain.count(old) == found:
        return _edited(arguments.path, plain.replace(old, new), text, context)
    made, lost = restored(shown.replace(old, new), shown, plain)
    if lost is not None:
        raise UsageError(message("generate.secret_line"), message("generate.secret_line_hint", line=lost[:80]))
    return _edited(arguments.path, made, text, context)


@in_thread
def replace_symbol(arguments: ReplaceSymbol, context: ToolContext) -> ToolResult:
    """Replace the whole of a definition by new code; by nothing, to remove it. For more than a few of its lines."""
    text = _text(arguments.path, context)
    place = _definition(arguments.path, arguments.name, text)
    lines = text.replace("\r\n", "\n").split("\n")
    code = _at_indentation(arguments.code, _indentation(lines[place.start_line - 1]), _unit(lines))
    start = place.start_line - 1
    while not arguments.code.strip() and start and not lines[start - 1].strip():
        start -= 1
    lines[start : place.end_line] = code if arguments.code.strip() else []
    return _edited(arguments.path, "\n".join(lines), text, context)


@in_thread
def insert_code(arguments: InsertCode, context: ToolContext) -> ToolResult:
    """Insert code before, after or at the end inside of a definition, or at the end of a file. For new definitions: its
    indentation becomes the file's."""
    if not arguments.code.strip():
        raise UsageError(message("edit_tools.no_code"))
    text = _text(arguments.path, context)
    lines = text.replace("\r\n", "\n").split("\n")
    if not arguments.anchor:
        kept = "\n".join(lines).rstrip("\n")
        code = "\n".join(_at_indentation(arguments.code, "", _unit(lines)))
        gap = "\n\n\n" if language_of(arguments.path) == "python" and kept else "\n\n" if kept else ""
        return _edited(arguments.path, with_final_newline(f"{kept}{gap}{code}\n", text), text, context)
    place = _definition(arguments.path, arguments.anchor, text)
    lines = _inserted(lines, place, arguments)
    return _edited(arguments.path, "\n".join(lines), text, context)


@in_thread
def create_file(arguments: CreateFile, context: ToolContext) -> ToolResult:
    """Create a file, for what belongs into none that there is. Fails where there is one already."""
    _require_free(arguments.path, context)
    return _edited(arguments.path, arguments.content, None, context)


@in_thread
def delete_file(arguments: DeleteFile, context: ToolContext) -> ToolResult:
    """Delete a file that nothing needs any more."""
    _text(arguments.path, context)
    return _result(context, {safe_path(arguments.path): None})


@in_thread
def move_file(arguments: MoveFile, context: ToolContext) -> ToolResult:
    """Give a file another path, when it belongs elsewhere. Imports of a Python module follow."""
    text = _text(arguments.path, context)
    _require_free(arguments.new_path, context)
    path = safe_path(arguments.path)
    new = safe_path(arguments.new_path)
    if path.endswith(".py") and new.endswith(".py"):
        return _move_module(path, new, context.working_copy)
    return _result(context, {path: None, new: text})


def _move_module(path: str, new: str, copy: WorkingCopy) -> ToolResult:
    found = ModuleMove(copy, path, new)
    done = finished(copy, found.texts, found.left, (), found.unread, found.users)
    return ToolResult(done.text, {**done.data, "paths": done.data["files"]})


@in_thread
def undo(arguments: Undo, context: ToolContext) -> ToolResult:
    """Take back the last edits, when they were wrong."""
    taken = context.working_copy.undo(arguments.steps)
    return ToolResult(message("edit_tools.undone", count=taken), {"undone": taken})


def _text(path: str, context: ToolContext) -> str:
    text = context.working_copy.text(path)
    if text is None:
        near = difflib.get_close_matches(path, context.working_copy.paths(), 3, 0.5)
        hint = message("tools.similar_files", paths=", ".join(near)) if near else ""
        raise UsageError(message("tools.unknown_file", path=path), hint)
    return text


def _require_free(path: str, context: ToolContext) -> None:
    if context.working_copy.text(path) is not None:
        raise UsageError(message("edit_tools.exists", path=path), message("edit_tools.exists_hint"))


def _edited(path: str, new: str, old: str | None, context: ToolContext) -> ToolResult:
    """Put a new text into the working copy, with the line ends of the old one."""
    fault = syntax_error(path, new)
    if fault is not None and (old is None or syntax_error(path, old) is None):
        raise UsageError(message("edit_tools.syntax", path=path, problem=fault.message))
    done = _result(context, {safe_path(path): with_line_ends(new, old or "")})
    found = captured_names(old, new) if old is not None and language_of(path) == "python" else ()
    rows = [f"{path}:{line}: {message('edit_check.captured', name=name)}" for line, name in found]
    return replace(done, text="\n".join([done.text, *rows])) if rows else done


def _result(context: ToolContext, texts: dict[str, str | None]) -> ToolResult:
    made = context.working_copy.edit(texts)
    diff = shown_diffs(made)
    shown = "\n".join(_with_short_runs(diff.split("\n")))
    return ToolResult(shown or message("edit_tools.same"), {"paths": list(texts), "diff": diff})


def _with_short_runs(diff: Sequence[str]) -> Iterator[str]:
    """A diff in which long runs of lines that are added or removed are cut: whoever made the edit has them already."""
    for sign, run in groupby(diff, key=lambda line: line[:1]):
        lines = list(run)
        if sign not in ("+", "-") or len(lines) <= 2 * MOST_AROUND_A_CUT + 1:
            yield from lines
            continue
        left = len(lines) - 2 * MOST_AROUND_A_CUT
        yield from lines[:MOST_AROUND_A_CUT]
        yield message("edit_tools.cut_run", count=left, sign=sign)
        yield from lines[-MOST_AROUND_A_CUT:]


def _as_in_file(old: str, new: str, text: str) -> tuple[str, str]:
    """Both texts without copied line numbers, where the old one isn't in the file with them."""
    lines = old.strip("\n").split("\n")
    if old in text or not all(_NUMBERED.match(line) for line in lines):
        return old, new
    bare = _NUMBERED.sub("", old)
    numbered = all(_NUMBERED.match(line) for line in new.strip("\n").split("\n"))
    return (bare, _NUMBERED.sub("", new) if numbered else new) if bare in text else (old, new)


def _where_it_stands(shown: str, old: str, found: int) -> str:
    """A hint for a text that a file holds too often or not at all: all its places, else those that differ in white
    space only, else the most similar lines."""
    lines = shown.removesuffix("\n").split("\n")
    if found:
        starts = [match.start() for match in re.finditer(re.escape(old), shown)]
        at = dict.fromkeys(shown.count("\n", 0, start) for start in starts)
        return message("edit_tools.stands_at", lines=_numbered(lines, at), count=found)
    wanted = [line.strip() for line in old.strip("\n").split("\n")]
    bare = [line.strip() for line in lines]
    size = len(wanted)
    alike = [n for n in range(len(lines) - size + 1) if bare[n : n + size] == wanted] if any(wanted) else []
    if alike:
        rows = [row for first in alike for row in range(first, first + size)]
        return message("edit_tools.other_indentation", lines=_numbered(lines, rows))
    near = difflib.get_close_matches(next(filter(None, wanted), ""), bare, 1, 0.0)
    at_line = bare.index(near[0]) if near else 0
    near_by = range(max(0, at_line - NEAREST), min(len(lines), at_line + NEAREST + 1))
    return message("edit_tools.nearest", lines=_numbered(lines, near_by))


def _numbered(lines: Sequence[str], rows: Iterable[int]) -> str:
    """Some lines with their numbers, and how many are left out."""
    shown = [f"\n{n + 1} {lines[n]}" for n in rows]
    more = f"\n… +{len(shown) - MOST_SHOWN}" if len(shown) > MOST_SHOWN else ""
    return "".join(shown[:MOST_SHOWN]) + more


def _definition(path: str, name: str, text: str) -> Symbol:
    """The one definition of a name in a file.

    Raises:
        UsageError: there is none or several; the hint names those there are.
    """
    known = analysed(path, text.replace("\r\n", "\n")).symbols
    found = [s for s in known if name == s.qualified] or [s for s in known if name in (s.name, _named_with_lines(s))]
    if len(found) == 1:
        return found[0]
    names = [_named_with_lines(each) for each in found or known][:20]
    key = "edit_tools.several" if found else "tools.unknown_symbol_in"
    raise UsageError(message(key, name=name, path=path), message("tools.there_are", names=", ".join(names)))


def _named_with_lines(symbol: Symbol) -> str:
    """A definition's name and lines, which tell it from others of its name, such as overloads."""
    return f"{symbol.qualified} ({symbol.start_line}-{symbol.end_line})"


def _inserted(lines: list[str], place: Symbol, arguments: InsertCode) -> list[str]:
    own = _indentation(lines[place.start_line - 1])
    unit = _unit(lines)
    if arguments.position == "inside":
        rows = lines[place.start_line - 1 : place.end_line]
        head = next((number for number, line in enumerate(rows) if _HEAD_END.search(line)), 0)
        inner = [_indentation(line) for line in rows[head + 1 :] if line.strip()]
        braced = lines[place.end_line - 1].strip().startswith("}")
        at = place.end_line - 1 if braced else place.end_line
        deeper = next((indentation for indentation in inner if len(indentation) > len(own)), own + (unit or "    "))
        return [*lines[:at], "", *_at_indentation(arguments.code, deeper, unit), *lines[at:]]
    code = _at_indentation(arguments.code, own, unit)
    gap = ["", ""] if language_of(arguments.path) == "python" and not own else [""]
    if arguments.position == "before":
        return [*lines[: place.start_line - 1], *code, *gap, *lines[place.start_line - 1 :]]
    return [*lines[: place.end_line], *gap, *code, *lines[place.end_line :]]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _unit(lines: Sequence[str]) -> str:
    """The unit by which lines are indented: a tab, or some spaces; '' where no line is."""
    indented = [_indentation(line) for line in lines if line.strip()]
    tabs = sum(each.startswith("\t") for each in indented)
    if tabs * 2 > sum(map(bool, indented)):
        return "\t"
    steps = Counter(len(now) - len(before) for before, now in pairwise(["", *indented]) if "\t" not in before + now)
    usual = max((step for step in steps if step > 1), key=lambda step: (steps[step], -step), default=0)
    return " " * usual


def _at_indentation(code: str, indentation: str, unit: str) -> list[str]:
    """Code at an indentation, in the unit of the file that it goes to."""
    bare = textwrap.dedent(code.replace("\r\n", "\n")).strip("\n").split("\n")
    own = _unit(bare)
    inner = [_indentation(line) for line in bare]
    even = "\t" in own + unit or not any(len(each) % max(1, len(own)) for each in inner)
    if own and unit and own != unit and even:
        levels = [each.count("\t") if own == "\t" else len(each) // len(own) for each in inner]
        rest = [each.count(" ") if own == "\t" else len(each) % len(own) for each in inner]
        bare = [unit * level + " " * more + line.lstrip() for line, level, more in zip(bare, levels, rest, strict=True)]
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
