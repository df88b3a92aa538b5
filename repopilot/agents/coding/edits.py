"""From a model's code to a checked change of a file: symbols replaced, syntax, diffs, paths. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import FileAnalysis, analyse
from repopilot.errors import GenerationFailed
from repopilot.redaction.restore import restored
from repopilot.tools.file_change import (
    Problem,
    syntax_error,
)
from repopilot.types import Symbol

_LineEdit = tuple[int, int, list[str]]
"""The lines [start, end), counted from 0, and what replaces them."""
_REDACTED = re.compile(r"\[REDACTED:[\w-]+\]")
_OMISSION = re.compile(
    r"^(?:#|//|/\*|--|<!--)? ?(?:\.{3}|…)? ?(?:rest of|existing|remaining|previous|unchanged|other|same)\b.{0,50}"
    r"\b(?:code|unchanged|same|methods?|functions?|here|file|implementation|class)\b.*$",
    re.I,
)


def problem_of(path: str, text: str, before: str | None) -> Problem | None:
    """What makes a generated text unusable: a syntax error that the old text did not have, or code left out ("rest of
    the code unchanged").

    Args:
        path: the file, whose name tells the language.
        text: the generated text.
        before: the old text, None for a new file.

    Returns:
        The first problem; None without one, or where the language has no grammar.
    """
    old = set((before or "").split("\n"))
    for number, line in enumerate(text.split("\n"), 1):
        # On one space each: the time to match several runs of spaces grows with the third power of their length.
        if line.strip() and _OMISSION.match(" ".join(line.split())) and line not in old:
            left_out = i18n.message("generate.problem.left_out", line=number, text=repr(line.strip()))
            return Problem(number, left_out)
    fault = syntax_error(path, text)
    if fault is None or (before is not None and syntax_error(path, before) is not None):
        return None
    return fault


def with_symbols(path: str, text: str, outline: Sequence[Symbol], code: str) -> tuple[str, list[str]]:
    """Put the definitions of a reply into a file.

    A definition replaces the symbol of the same name. New methods of a known class go to the end of the class, other
    new definitions to the end of the file, new imports behind the old ones.

    Args:
        path: the file.
        text: its text.
        outline: its symbols.
        code: the reply's definitions.

    Returns:
        The new text, and the qualified names of what was replaced or added.

    Raises:
        GenerationFailed: `code` defines nothing.
    """
    language = language_of(path) or ""
    analysis = analyse(path, code, language, "code")
    new = [s for s in analysis.symbols if "." not in s.qualified and s.kind not in ("variable", "field")]
    if not new:
        raise GenerationFailed(
            i18n.message("generate.problem.no_definition"), i18n.message("generate.problem.no_definition_hint")
        )
    old_lines, code_lines = text.split("\n"), code.split("\n")
    bottom = len(text.rstrip().split("\n"))
    edits: list[_LineEdit] = []
    names = []
    for symbol in new:
        body = code_lines[symbol.start_line - 1 : symbol.end_line]
        place = _place(symbol, outline)
        names.append(place.qualified if place else symbol.qualified)
        if place is None:
            edits.append((bottom, bottom, ["", *([""] if language == "python" else []), *body]))
        elif place.kind == "class" and symbol.kind == "class" and _partial(symbol, place, outline, analysis.symbols):
            edits += _member_edits(symbol, place, outline, analysis.symbols, code_lines)
        else:
            edits.append((place.start_line - 1, place.end_line, _indented(body, old_lines[place.start_line - 1])))
    old = analyse(path, text, language, "code")
    edits += _import_edits(analysis, old, code_lines, old_lines)
    return _applied(old_lines, edits), names


def _place(symbol: Symbol, outline: Sequence[Symbol]) -> Symbol | None:
    """The old symbol a new one replaces: by qualified name, else by a plain name that only one has."""
    exact = [s for s in outline if s.qualified == symbol.qualified]
    if exact:
        return exact[0]
    named = [s for s in outline if s.name == symbol.name and s.kind not in ("variable", "field")]
    return named[0] if len(named) == 1 else None


def _partial(symbol: Symbol, place: Symbol, outline: Sequence[Symbol], inside: Sequence[Symbol]) -> bool:
    """Whether a class is given with only some of its methods, so that the others must be preserved."""
    old = {s.name for s in outline if s.qualified.startswith(place.qualified + ".")}
    return not old <= {s.name for s in inside if s.qualified.startswith(symbol.qualified + ".")}


def _member_edits(
    symbol: Symbol, place: Symbol, outline: Sequence[Symbol], inside: Sequence[Symbol], code: Sequence[str]
) -> list[_LineEdit]:
    """The changes to a class of which only some members are given."""
    edits: list[_LineEdit] = []
    for member in (s for s in inside if s.qualified.count(".") == 1 and s.qualified.startswith(symbol.qualified + ".")):
        body = list(code[member.start_line - 1 : member.end_line])
        old = next((s for s in outline if s.qualified == f"{place.qualified}.{member.name}"), None)
        if old is not None:
            edits.append((old.start_line - 1, old.end_line, body))
        elif member.kind not in ("variable", "field"):
            edits.append((place.end_line, place.end_line, ["", *body]))
    return edits


def _indented(body: Sequence[str], like: str) -> list[str]:
    """`body` moved to the indentation of the line it replaces."""
    wanted = like[: len(like) - len(like.lstrip())]
    first = body[0][: len(body[0]) - len(body[0].lstrip())]
    return [wanted + line.removeprefix(first) if line.strip() else line for line in body]


def _import_edits(
    new: FileAnalysis, old: FileAnalysis, code: Sequence[str], old_lines: Sequence[str]
) -> list[_LineEdit]:
    """Import lines of the reply that the file lacks, behind its last import."""
    known = {line.strip() for line in old_lines}
    wanted = dict.fromkeys(code[i.line - 1] for i in new.imports if code[i.line - 1].strip() not in known)
    added = [
        line
        for line in wanted
        if not line[:1].isspace() and (new.language != "python" or syntax_error(new.path, line) is None)
    ]
    if not added:
        return []
    lines = [i.line for i in old.imports if not old_lines[i.line - 1][:1].isspace()]
    at = max(lines, default=0)
    while at and at < len(old_lines) and re.match(r"[\s)]", old_lines[at]) and old_lines[at].strip():
        at += 1
    return [(at, at, added)]


def _applied(lines: Sequence[str], edits: Sequence[_LineEdit]) -> str:
    """The lines with the ranges [start, end) replaced; of ranges that overlap the later one."""
    result = list(lines)
    floor = len(lines) + 1
    for start, end, body in sorted(edits, key=lambda edit: (edit[0], edit[1]), reverse=True):
        if end > floor:
            continue
        result[start:end] = body
        floor = start if end > start else floor
    return "\n".join(result)


def with_secrets(new: str, redacted: str, raw: str) -> str:
    """`new`, derived from redacted text, with the secrets of unchanged lines restored.

    Args:
        new: the generated text.
        redacted: the old text as the model saw it.
        raw: the old text with its secrets.

    Raises:
        GenerationFailed: a line with a redacted value was changed, so its value can't be restored.
    """
    text, lost = restored(new, redacted, raw)
    if lost is not None:
        raise GenerationFailed(
            i18n.message("generate.secret_line"), i18n.message("generate.secret_line_hint", line=lost.strip()[:80])
        )
    return text


def complete_tests(code: str) -> str:
    """The longest beginning of a Python program, in complete lines, that parses; '' when it holds no test function."""
    lines = code.splitlines(keepends=True)
    for last in range(len(lines), 0, -1):
        shorter = "".join(lines[:last])
        if syntax_error("tests.py", shorter) is None:
            return shorter if re.search(r"^[^\S\n]*(?:async )?def test", shorter, re.M) else ""
    return ""


def public_names(path: str, text: str) -> set[str]:
    """Names a file offers to others: its top-level definitions and their members without a leading underscore."""
    language = language_of(path)
    if language is None or file_kind(path) != "code":
        return set()
    symbols = analyse(path, text, language, "code").symbols
    return {s.qualified for s in symbols if not any(part.startswith("_") for part in s.qualified.split("."))}
