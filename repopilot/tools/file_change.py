"""From a file's new text to a change that can be shown: paths, syntax, line ends, diffs. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from repopilot import i18n
from repopilot.code.languages import file_kind, language_of
from repopilot.code.python_ast import parse_python
from repopilot.code.syntax import parse
from repopilot.errors import GenerationFailed
from repopilot.foreign_text import is_plain_name
from repopilot.redaction.redact import redacted
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.repo.patches.patch import quoted_path
from repopilot.repo.paths.attributes import LinguistAttributes
from repopilot.types import FileChange

Changes = tuple[FileChange, ...]
NO_NEWLINE = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with generated text: the 1-based line, 0 for all of it, and a message for model and user."""

    line: int
    message: str


def safe_path(path: str) -> str:
    """The path relative to the repository's root.

    Raises:
        GenerationFailed: the path leads out of the repository.
    """
    bare = path.strip().removeprefix("./").replace("\\", "/")
    parts = PurePosixPath(bare).parts
    bad = not parts or bare.startswith("/") or ".." in parts or any(p.lower() == ".git" for p in parts)
    if bad or not is_plain_name(bare) or re.match(r"[A-Za-z]:", bare):
        message = i18n.message("generate.outside_path", path=repr(path))
        raise GenerationFailed(message, i18n.message("generate.outside_path_hint"))
    return "/".join(parts)


def syntax_error(path: str, text: str) -> Problem | None:
    """The first syntax error by tree-sitter, for Python by its own compiler; None without one or without a grammar."""
    language = language_of(path)
    if language is None or file_kind(path) != "code":
        return None
    if language == "python":
        return _python_error(text)
    tree = parse(text.encode("utf-8", "replace"), language)
    if tree is None or not tree.root_node.has_error:
        return None
    node = tree.root_node
    while True:
        inner = next((c for c in node.children if c.is_error or c.is_missing or c.has_error), None)
        if inner is None or node.is_error or node.is_missing:
            break
        node = inner
    line = node.start_point[0] + 1
    if node.is_missing:
        what = i18n.message("generate.problem.missing_token", token=repr(node.type))
    else:
        what = i18n.message("generate.problem.no_parse")
    return _syntax_problem(line, what, text)


def _python_error(text: str) -> Problem | None:
    try:
        parse_python(text)
    except SyntaxError as error:
        return _syntax_problem(error.lineno or 0, error.msg, text)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(0, i18n.message("generate.problem.no_parse_at_all", error=str(error)))
    return None


def _syntax_problem(line: int, what: str, text: str) -> Problem:
    quoted = repr(_line(redacted(text), line))
    return Problem(line, i18n.message("generate.problem.syntax", line=line, what=what, text=quoted))


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1].strip()[:120] if 0 < number <= len(lines) else ""


def with_line_ends(new: str, old: str) -> str:
    """`new` with the byte order mark and line ends of `old`: each line keeps its own end, and a new line gets that of
    the line that it replaces or follows. Unchanged where `old` is empty."""
    if not old:
        return new
    mark = "\ufeff" if old.startswith("\ufeff") else ""
    lines, ends = _without_ends(old.removeprefix("\ufeff"))
    wanted, _ = _without_ends(new.removeprefix(mark))
    kept = _ends_of_lines(lines, ends, wanted)
    return mark + "".join(line + end for line, end in zip(wanted, [*kept[: len(wanted) - 1], ""], strict=True))


def with_final_newline(new: str, old: str) -> str:
    """`new`, without its final line end where `old` has none; unchanged where `old` is empty."""
    return new.rstrip("\r\n") if old.rstrip("\r\n") == old and old else new


def _without_ends(text: str) -> tuple[list[str], list[str]]:
    """The lines of a text, and the ends of all but the last one."""
    parts = text.split("\n")
    ends = ["\r\n" if part.endswith("\r") else "\n" for part in parts[:-1]]
    return [*(part.removesuffix("\r") for part in parts[:-1]), parts[-1]], ends


def _ends_of_lines(old: list[str], ends: list[str], new: list[str]) -> list[str]:
    """The line ends for the lines of a new text, taken from the old one."""
    if len(set(ends)) < 2:
        return (ends[:1] or ["\n"]) * len(new)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    pieces = [(first, end, start, stop) for _, first, end, start, stop in matcher.get_opcodes()]
    in_place = sum(map(str.__eq__, old, new))
    if len(old) == len(new) and in_place >= sum(block.size for block in matcher.get_matching_blocks()):
        pieces = [(0, len(old), 0, len(new))]  # equal lines are told apart by their place
    kept: list[str] = []
    for first, end, start, stop in pieces:
        last = min(max(end - 1, first - 1, 0), len(ends) - 1)
        kept += [ends[min(first + number, last)] for number in range(stop - start)]
    return kept


def texts_of(changes: Iterable[FileChange]) -> dict[str, str]:
    """The new texts by path, without deleted files."""
    return {c.path: c.content for c in changes if c.change != "deleted"}


def generated_in(changes: Iterable[FileChange], read: Callable[[str], str | None]) -> list[str]:
    """The generated files among those that a change modifies or deletes.

    Args:
        changes: the files.
        read: gives the text of a file of the repository, None where there is none.
    """
    attributes = LinguistAttributes(read)
    return [c.path for c in changes if c.change != "added" and attributes.is_generated(c.path, before_change(c) or "")]


def change(path: str, new: str, old: str | None) -> FileChange:
    """A file's change from one text to another.

    Args:
        path: of the file.
        new: its text after the change.
        old: its text before it; None where there was no such file.

    Returns:
        The change, with a diff that `git apply` accepts.
    """
    return FileChange(path, "added" if old is None else "modified", unified(path, old, new), new)


def deletion(path: str, old: str) -> FileChange:
    """The removal of a file with the text `old`."""
    return FileChange(path, "deleted", unified(path, old, None), "")


def unified(path: str, old: str | None, new: str | None) -> str:
    """A git diff from one text to another.

    Args:
        path: of the file, for the headers.
        old: the text before; None where there is no file.
        new: the text after; None where there is no file.

    Returns:
        The diff with headers; '' when nothing differs.
    """
    if old == new:
        return ""
    before = quoted_path(f"a/{path}")
    after = quoted_path(f"b/{path}")
    head = [f"diff --git {before} {after}\n"]
    head += ["new file mode 100644\n"] if old is None else ["deleted file mode 100644\n"] if new is None else []
    names = "/dev/null" if old is None else before, "/dev/null" if new is None else after
    rows = difflib.unified_diff(_rows(old or ""), _rows(new or ""), *names)
    body = [row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}" for row in rows]
    return "".join([*head, *body])


def _rows(text: str) -> list[str]:
    """Lines as git counts them: ended by LF only."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
