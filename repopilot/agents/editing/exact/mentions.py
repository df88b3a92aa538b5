"""Names in documentation, comments and strings: which of them certainly mean a definition."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.code.languages import file_kind

_HISTORY = re.compile(
    r"(?:^|/)(?:(?:change|changes|changelog|history|news|release|releases|whatsnew|upgrad)[^/]*|"
    r"versions?(?:[_-]?history)?\.\w+$)",
    re.I,
)
_PREFIX = re.compile(r"\w[\w.:#]*(?:\.|:|#)$|\.$")
_ROLE = re.compile(r":(?:py:)?(?:func|meth|class|attr|data|obj|exc|const|any|mod):`[~!]?(?:[^`<]*<)?$")
_OTHER_ROLE = re.compile(r":[\w:-]+:`[^`]*$|\.\. _[^:]*$")
_DIRECTIVE = re.compile(
    r"\.\.\s+(?:py:)?(?:auto)?(?:function|method|attribute|class|exception|data|decorator|property)::\s*$"
)
_NO_WORD = re.compile(r"[^\W_]_+[^\W_]|^_+[^\W_]|[a-z\d][A-Z]|[A-Z]{2,}[a-z]{2}")
_PROPER = frozenset(
    "GitHub GitLab BitBucket JavaScript TypeScript CoffeeScript PostgreSQL MySQL SQLite MongoDB GraphQL OpenAPI "
    "WebSocket WebSockets OpenSSL LibreSSL YouTube LinkedIn OAuth JSONPath XPath WebAssembly CPython NumPy PyPy DevOps "
    "BaseException NotImplemented ValueError TypeError KeyError DataFrame macOS iOS PyPI CentOS FreeBSD".split()
)
_FILE_LIKE = re.compile(rb"\.(?:py|pyi|md|rst|txt|html?|json|toml|cfg|ini|js|ts|go|rs|java)\b|[-/@#]\w")
_BEFORE_NAME = frozenset((b"-", b"/", b"#", b"@", b"$", b"%", b"&", b"?", b"="))


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A definition that texts may name.

    Attributes:
        name: its name.
        owners: the dotted names of what it is in: classes, modules; none where every use of the name means it.
        unique: whether nothing else in the repository has the name.
        callable: whether it is a function or class.
        is_value: whether the name is also a value somewhere, which texts may speak of.
        is_shared: whether code near the text uses the name for something else.
    """

    name: str
    owners: frozenset[str]
    unique: bool
    callable: bool = False
    is_value: bool = False
    is_shared: bool = False

    @property
    def is_distinct(self) -> bool:
        """Whether the name, wherever it stands, can only mean the definition: no word of a language is written so."""
        return (
            self.unique and not self.is_shared and _NO_WORD.search(self.name) is not None and self.name not in _PROPER
        )


def is_history(path: str) -> bool:
    """Whether a file tells what was: its names stay as they were."""
    return file_kind(path) == "doc" and _HISTORY.search(path) is not None


def certain_mention(source: SourceText, start: int, mentioned: Mentioned) -> bool:
    """Whether a name in prose (a document, comment or docstring) certainly means a definition.

    Args:
        source: the file.
        start: the first byte of the name.
        mentioned: the definition.
    """
    before, after = _around(source, start, mentioned)
    if mentioned.callable and not mentioned.name[:1].isupper() and re.match(rb"\.\w", after):
        return False  # `fnmatch.fnmatch` begins with a module: a function has no members
    prefix = _PREFIX.search(before)
    if prefix is not None:
        return _is_qualified(prefix[0], mentioned)
    if _ROLE.search(before) or _DIRECTIVE.search(before):
        return mentioned.unique
    if mentioned.unique and before.endswith("`") and re.match(rb"(?:\(\))?`", after) is not None:
        return _OTHER_ROLE.search(before) is None
    return mentioned.is_distinct and (mentioned.callable or not mentioned.is_value) and _stands_alone(before, after)


def certain_text(source: SourceText, start: int, mentioned: Mentioned) -> bool:
    """Whether a name in the value of a string certainly means a definition: messages name functions and classes.

    Args:
        source: the file.
        start: the first byte of the name.
        mentioned: the definition.
    """
    before, after = _around(source, start, mentioned)
    prefix = _PREFIX.search(before)
    if prefix is not None:
        return _is_qualified(prefix[0], mentioned)
    if not (mentioned.unique and mentioned.callable) or mentioned.is_value:
        return False
    shown = mentioned.name[:1].isupper() and (re.match(rb"\(", after) or before.endswith("<"))
    return bool(shown) or (mentioned.is_distinct and _stands_alone(before, after))


def _around(source: SourceText, start: int, mentioned: Mentioned) -> tuple[str, bytes]:
    """The line before a name, and what follows it."""
    line_start = source.data.rfind(b"\n", 0, start) + 1
    end = start + len(mentioned.name.encode("utf-8"))
    return source.data[line_start:start].decode("utf-8", "replace"), source.data[end : end + 8]


def _is_qualified(prefix: str, mentioned: Mentioned) -> bool:
    """Whether what stands before a name, with its dot or colon, is an owner, or a variable whose class is open."""
    written = _dotted(prefix)
    if any(written and _names(written, owner) for owner in mentioned.owners):
        return True
    classes = (re.search(r"(?:^|\.)_*[A-Z]\w*$", owner) for owner in mentioned.owners)
    is_member = not mentioned.owners or any(classes)
    variable = re.fullmatch(r"[a-z_]\w*\.", prefix) is not None
    return is_member and variable and mentioned.is_distinct and not mentioned.is_value


def _stands_alone(before: str, after: bytes) -> bool:
    """Whether a name is no part of a path, an address, an option or the label of something else."""
    joined = before[-1:].encode("utf-8") in _BEFORE_NAME or _FILE_LIKE.match(after) is not None
    return not joined and _OTHER_ROLE.search(before) is None


def _names(written: str, owner: str) -> bool:
    """Whether a dotted name, which may leave out modules, is that of a class or module."""
    parts, wanted = owner.split("."), written.split(".")
    if parts[-1] != wanted[-1]:
        return False
    left = iter(parts)
    return all(part in left for part in wanted)


def document_mentions(
    sources: Sources, mentioned: Mentioned
) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, str]]]:
    """The places in documents and configuration that name a definition.

    Args:
        sources: the files.
        mentioned: the definition.

    Returns:
        The certain ones with their first and last byte, and others with the reason why they aren't.
    """
    sure: list[tuple[str, int, int]] = []
    unsure: list[tuple[str, int, str]] = []
    index = sources.workspace.index
    for path in sources.mentioning(mentioned.name):
        source, kind = sources.get(path), index.files[path].kind
        if source is None or kind == "code" or is_history(path):
            continue
        for match in word_pattern(mentioned.name).finditer(source.data):
            certain = certain_mention if kind == "doc" else _is_entry_point
            if certain(source, match.start(), mentioned):
                sure.append((path, match.start(), match.end()))
            elif kind == "doc" and _like_code(source, match.start(), match.end(), mentioned.name):
                unsure.append((path, match.start(), i18n.message("exact.open.document")))
    return sure, unsure


def _is_entry_point(source: SourceText, start: int, mentioned: Mentioned) -> bool:
    """Whether a name in a configuration follows its module: `package.module:name`."""
    before, _ = _around(source, start, mentioned)
    prefix = _PREFIX.search(before)
    written = _dotted(prefix[0]) if prefix is not None else ""
    return bool(written) and any(f".{owner}".endswith(f".{written}") for owner in mentioned.owners)


def _dotted(prefix: str) -> str:
    return re.sub(r"::|[:#]", ".", prefix.rstrip(".:#"))


def _like_code(source: SourceText, start: int, end: int, name: str) -> bool:
    distinct = re.search(r"_|[a-z][A-Z]|[A-Z]{2,}[a-z]{2}|\d", name) is not None
    around = source.data[start - 1 : start] + source.data[end : end + 1]
    return distinct or b"`" in around or b"(" in around or b"." in around[:1]
