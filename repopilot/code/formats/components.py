"""The scripts of Vue and Svelte components, with their line numbers kept. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A quoted value may hold `>`, as in `generic="T extends Map<K, V>"`. Nothing is read twice (`*+`), and an unfinished
# tag ends where the next begins: many of them take little time.
_TAG = re.compile(r"""<!--|<script(?=[\s>])((?:"[^"]{0,500}"|'[^']{0,500}'|[^<>"'])*+)(>?)""", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_END = re.compile(r"</script\s*>", re.IGNORECASE)
_NOT_LINE_END = re.compile(r"[^\n]")
_LANGUAGES = {
    "": "javascript",
    "js": "javascript",
    "javascript": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "typescript": "typescript",
    "tsx": "tsx",
}
_TYPES = frozenset(("", "module"))  # other types are languages or data
_WIDEST = ("tsx", "typescript", "javascript")
"""Each language before those that it includes: the scripts of a component share their names, so they are parsed as
one."""


@dataclass(frozen=True, slots=True)
class Script:
    """The scripts of a component: its text with all else blanked out, and the language that includes all of theirs."""

    text: str
    language: str


def script_of(text: str) -> Script | None:
    """The scripts of a component; None where it has none that can be parsed.

    Args:
        text: the component's text, with LF line ends.
    """
    parts: list[str] = []
    found: set[str] = set()
    kept = at = 0
    while tag := _TAG.search(text, at):
        start = tag.end()
        if tag[0] == "<!--":
            at = _after(text, "-->", start)
            continue
        if not tag[2]:
            at = start
            continue
        end = _END.search(text, start)
        if end is None:
            break  # still being written, or no tag at all
        at = end.end()
        language = _language(tag[1])
        if language is not None:
            parts += [_blank(text[kept:start]), text[start : end.start()]]
            kept = end.start()
            found.add(language)
    if not found:
        return None
    return Script("".join([*parts, _blank(text[kept:])]), next(each for each in _WIDEST if each in found))


def _language(attributes: str) -> str | None:
    """The language of a script by the attributes of its tag, None for one that isn't parsed."""
    given = {m[1].lower(): (m[2] or m[3] or m[4] or "").lower() for m in _ATTRIBUTE.finditer(attributes)}
    type_ = given.get("type", "").rpartition("/")[2]
    return _LANGUAGES.get(given.get("lang") or ("" if type_ in _TYPES else type_))


def _after(text: str, mark: str, start: int) -> int:
    """The position after the next mark, the end of the text where there is none."""
    at = text.find(mark, start)
    return at + len(mark) if at >= 0 else len(text)


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text)
