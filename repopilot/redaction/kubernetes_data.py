"""The values of Kubernetes secrets: whatever stands below `data:` and `stringData:` of a manifest of kind Secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.redaction.randomness import is_placeholder

ANCHORS = ("kind: secret", 'kind: "secret"', "kind: 'secret'")
_KIND = re.compile(r"kind:[ \t]*[\"']?secret[\"']?[ \t]*(?:#.*)?$", re.IGNORECASE | re.MULTILINE)
_DATA = re.compile(r"^([ \t]*)(?:data|stringData):[ \t]*(?:#.*)?\n(?=[ \t])", re.MULTILINE)
_ENTRY = re.compile(r"([ \t]*)[\"']?[\w./-]+[\"']?:[ \t]*(?:!!\w+[ \t]+)?([^\n]*)(?:\n|\Z)")
_ORDINARY = re.compile(
    r"[a-z]{1,12}(?:[-_.][a-z]{1,12})*|\d{1,5}|true|false|[\w.-]+\.(?:svc|local|com|internal)(?::\d+)?"
)
"""Values that are stored beside a password: hosts, ports, names of users."""
_LARGEST_MANIFEST = 6_000


def manifest_values(text: str, at: int, _anchor: str) -> Iterator[tuple[int, int, str]]:
    """The values of the manifest around an anchor.

    Args:
        text: any text.
        at: where one of `ANCHORS` stands in it.

    Yields:
        Start, end and the rule's name.
    """
    if not _KIND.match(text, at):
        return
    start = max(text.rfind("\n---", max(0, at - _LARGEST_MANIFEST), at), at - _LARGEST_MANIFEST, 0)
    end = text.find("\n---", at, at + _LARGEST_MANIFEST)
    end = end if end >= 0 else min(len(text), at + _LARGEST_MANIFEST)
    for data in _DATA.finditer(text, start, end):
        yield from _entries(text, data.end(), end, len(data[1]))


def _entries(text: str, at: int, end: int, indent: int) -> Iterator[tuple[int, int, str]]:
    while at < end and (entry := _ENTRY.match(text, at, end)) and len(entry[1]) > indent:
        at = entry.end()
        start, stop = entry.span(2)
        if re.match(r"[|>]", entry[2]):
            deeper = re.compile(rf"(?:[ \t]{{{len(entry[1]) + 1},}}[^\n]*(?:\n|\Z)|\n)*").match(text, at, end)
            assert deeper is not None
            start = at + len(entry[1]) + 2
            stop = deeper.end() - 1
            at = deeper.end()
        value = text[start:stop].strip("\"' \t")
        if len(value) >= 4 and not is_placeholder(value) and not _ORDINARY.fullmatch(value):
            yield start, stop, "kubernetes-secret"
