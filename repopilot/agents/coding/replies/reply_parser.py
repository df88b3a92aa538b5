"""Reads the files in a model's reply: fenced blocks, parsed leniently, each with the path it is for. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.code.languages import language_of

_OPEN = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$")
_PATH = re.compile(r"(?<![\w./-])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][\w]{0,9}\b|\b(?:Makefile|Dockerfile)\b")
_TITLE = re.compile(r"^(?:\W*(?:file|path|filename|fichier|chemin)\b\s*:?\W*|[#*`\s>-]*)(?P<path>\S+?)[`*:\s]*$", re.I)
_COMMENT = re.compile(
    r"^\s*(?:#|//|--|/\*|<!--|;)+\s*(?:file(?:name)?:?\s*)?(?P<path>[\w./@+-]+\.\w{1,10})\s*(?:\*/|-->)?\s*$"
)
_CODE_LINE = re.compile(
    r"^(?:\s*(?:def|class|import|from|async|function|const|let|var|export|package|func|use|fn|pub|public|#include|@\w|"
    r"interface|struct|enum|type|namespace|module|require)\b|[{}<#\[]|\s+\S)"
)
_TAIL = re.compile(r"^(?:this|the|these|note|explanation|i have|here|changes|in this|it)\b.*[.:]$", re.I)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `path` as written near it, '' for none; `closed` is False when the reply ended inside it."""

    path: str
    language: str
    body: str
    closed: bool


def blocks(reply: str) -> list[Block]:
    """Every fenced block in order; a reply that is nothing but code without a fence counts as one block.

    A fence may be indented, longer than three ticks (then shorter ones inside belong to the text), or never closed.
    """
    lines = reply.replace("\r\n", "\n").split("\n")
    found: list[Block] = []
    at = 0
    while at < len(lines):
        opening = _OPEN.match(lines[at])
        if not opening:
            at += 1
            continue
        end, closed = _end(lines, at, opening["fence"], opening["info"].strip())
        body = _dedented(lines[at + 1 : end], len(opening["indent"]))
        info = opening["info"].strip()
        path = _path_of(info, lines[:at], body)
        found.append(Block(path, info.split(":")[0].split(" ")[0].lower(), _joined(_without_title(body, path)), closed))
        at = end + 1
    if not found and (bare := _unfenced_code(lines)):
        return [Block("", "", bare, True)]
    return [block for block in found if block.body.strip()]


def blocks_by_path(found: Sequence[Block], targets: Sequence[str]) -> dict[str, Block]:
    """Assign blocks to files.

    Args:
        found: the blocks of a reply.
        targets: paths that were asked for. A path in the reply may be the end of one (`cart.py` for `shop/cart.py`); a
            block without a path is for the first target whose language fits.

    Returns:
        One block for each path, of several for the same path the last. Unknown paths are returned unchanged.
    """
    result: dict[str, Block] = {}
    free = list(targets)
    for block in found:
        path = _matching(block.path, targets) or block.path
        if not path:
            path = next((t for t in free if _fits(block, t)), "")
        if path:
            previous = result.get(path)
            if previous is None or len(block.body) > len(previous.body) // 2:
                result[path] = block
            free = [t for t in free if t != path]
    return result


def _end(lines: Sequence[str], start: int, fence: str, info: str) -> tuple[int, bool]:
    """The line of the closing fence (or past the end). Markdown files hold fences of their own: those are counted."""
    depth = 0
    nests = info.split(" ")[0].lower() in ("markdown", "md") and len(fence) == 3
    for at in range(start + 1, len(lines)):
        bare = lines[at].strip()
        if not bare.startswith(fence[0] * 3):
            continue
        ticks = len(bare) - len(bare.lstrip(fence[0]))
        rest = bare[ticks:].strip()
        if nests and rest and ticks == len(fence):
            depth += 1
        elif not rest and ticks >= len(fence):
            if depth == 0:
                return at, True
            depth -= 1
    return len(lines), False


def _path_of(info: str, before: Sequence[str], body: Sequence[str]) -> str:
    named = _PATH.search(info.partition(" ")[2] or info.partition(":")[2])
    if named:
        return named[0]
    for line in [line for line in reversed(before[-3:]) if line.strip()][:1]:
        title = _TITLE.match(line)
        if title and _PATH.fullmatch(title["path"].strip("`*:")):
            return title["path"].strip("`*:")
        ticked = re.findall(r"`([^`\s]+)`", line)
        if len(ticked) == 1 and _PATH.fullmatch(ticked[0]):
            return ticked[0]
    first = _COMMENT.match(body[0]) if body else None
    return first["path"] if first else ""


def _without_title(body: Sequence[str], path: str) -> Sequence[str]:
    """Without a first comment that only repeats the path for the reader of the reply."""
    first = _COMMENT.match(body[0]) if body else None
    return body[1:] if first and first["path"] == path else body


def _dedented(lines: Sequence[str], indent: int) -> list[str]:
    return [line[indent:] if line[:indent].isspace() else line for line in lines]


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"


def _unfenced_code(lines: Sequence[str]) -> str:
    """The reply itself when most of it looks like code: small models forget fences."""
    code = [line for line in lines if not line.strip().startswith("```")]
    filled = [line for line in code if line.strip()]
    coded = sum(bool(_CODE_LINE.match(line)) for line in filled)
    if not filled or coded < max(2, 0.6 * len(filled)):
        return ""
    while code and (not code[0].strip() or not _CODE_LINE.match(code[0])):
        code.pop(0)
    while code and (not code[-1].strip() or _TAIL.match(code[-1].strip())):
        code.pop()
    return "\n".join(code) + "\n" if code else ""


def _matching(path: str, targets: Sequence[str]) -> str:
    bare = path.removeprefix("./").removeprefix("a/").removeprefix("b/")
    exact = [t for t in targets if t == bare]
    ending = [t for t in targets if bare and (t.endswith("/" + bare) or bare.endswith("/" + t))]
    return (exact or ending or [""])[0]


def _fits(block: Block, target: str) -> bool:
    """Whether the fence's language could be the target's; an unknown one fits every target."""
    wanted = language_of(target) or ""
    known = _ALIASES.get(block.language, block.language)
    return not known or known == wanted or language_of(f"x.{known}") in (wanted, None)


_ALIASES = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "sh": "bash",
    "rs": "rust",
    "rb": "ruby",
    "golang": "go",
    "c++": "cpp",
    "cs": "csharp",
    "yml": "yaml",
    "md": "markdown",
    "text": "",
    "plaintext": "",
}
