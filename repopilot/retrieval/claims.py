"""What a sentence claims that can be looked up in code: identifiers, quotes, paths and content words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import Stemmer

from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

_CODE_SPAN = re.compile(r"`([^`\n]{1,300})`")
_QUOTE = re.compile(r"[\"“«]\s?([^\"“”«»\n]{4,200}?)\s?[\"”»]")
# Parts of bounded length: with `+`, a run of a thousand dashes would be searched again from each dash.
_PATH = re.compile(
    r"(?<![\w/])(?:[\w.-]{1,99}/)*[\w-]{1,99}\.[A-Za-z]{1,5}(?![\w(])|(?<![\w/])(?:[\w.-]{1,99}/){2,}[\w.-]{1,99}"
)
_EXTENSIONS = frozenset(
    "py js ts jsx tsx mjs cjs java kt go rs c h cc cpp hpp cs rb php swift scala md rst txt toml json yaml yml ini cfg "
    "html css scss sql sh prisma lock xml vue svelte lua pl ex exs erl hs ml zig dart r jl proto".split()
)
_NAME = re.compile(r"(?<![\w-])--[a-z][\w-]+|\b[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*\b(\()?")
_IDENTIFIER = re.compile(r"--[a-z][\w-]+|[A-Za-z_$][\w$]*")
_QUALIFIER = re.compile(r"\.|::|->|#")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zà-ÿ]+|\d+")
_FENCE = re.compile(r"^\s*(```|~~~)")
_SENTENCE = re.compile(
    r"\S.*?(?:(?:[.!?…]|:(?=\s*$))[\"”»)*_]*(?:\s*[\[【]\s*\^?\d[\d\s,;&–-]*\??[\]】](?!\())*(?=\s|$)|$)\s*", re.S
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs|p\. ex|ex|env|resp|approx)\.\s*$", re.I)
_LONGEST_ABBREVIATION = 20
_CLOSED = re.compile(r"(?:[.!?][\"”»)]+|…[\"”»)]*)\s*$")
"""The end of a quotation, of brackets or an ellipsis: it ends the sentence, too, unless a lower-case letter follows."""
_STEMMERS = (Stemmer.Stemmer("english"), Stemmer.Stemmer("french"))

LITERALS = frozenset("True False None null NULL nullptr true false nil self this undefined".split())
"""Words of code that aren't names of anything in it."""
_IN_ANY_SENTENCE = frozenset(
    """example excerpt excerpts fichier fichiers file files first following fonction fonctions function functions
    implementation key line lines main means method methods part point purpose second several shown useful various whole
    although always finally lets mais sous therefore two""".split()
)
"""Words of sentences about code, whatever code it is."""
_NOT_CLAIMED = STOP_EN | STOP_FR | _IN_ANY_SENTENCE


@dataclass(frozen=True, slots=True)
class Anchor:
    """Something a sentence names, which the cited lines contain or don't."""

    text: str
    kind: Literal["name", "quote", "path"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence's anchors and the stems of its content words."""

    anchors: tuple[Anchor, ...]
    words: frozenset[str]


def claim_of(sentence: str) -> Claim:
    """The anchors and content words of one sentence (Markdown allowed)."""
    anchors: list[Anchor] = []
    rest = _CODE_SPAN.sub(lambda m: _take_code(m.group(1), anchors), sentence)
    rest = _QUOTE.sub(lambda m: _take_quote(m.group(1), anchors), rest)
    rest = _PATH.sub(lambda m: _take_path(m.group(0), anchors), rest)
    rest = _NAME.sub(lambda m: _take_name(m, anchors), rest)
    words = frozenset(_stem(w) for w in re.findall(r"[A-Za-zÀ-ÿ]{3,}", rest.lower()) if w not in _NOT_CLAIMED)
    return Claim(tuple(dict.fromkeys(anchors)), words)


def split_sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Split Markdown into sentences.

    A list item is split like a paragraph; citation markers after the full stop stay with their sentence.

    Args:
        text: Markdown.

    Yields:
        Pieces that joined give the text again, each with whether it is prose (not fenced code, heading, table or
        blank).
    """
    fenced = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
            yield line, False
        elif fenced or not line.strip() or re.match(r"\s*(#{1,6} |\||    \S|>?\s*[-=*_]{3,}\s*$)", line):
            yield line, False
        else:
            yield from _line_sentences(line)


def identifiers(text: str) -> frozenset[str]:
    """Every identifier and long option in a text, as written."""
    return frozenset(_IDENTIFIER.findall(text))


def last_name(name: str) -> str:
    """The last part of a qualified name, in the notation of any language."""
    return _QUALIFIER.split(name)[-1]


def word_stems(text: str) -> frozenset[str]:
    """Stems of the words of a text and of the parts of its identifiers."""
    return _stems_of_parts(frozenset(_PARTS.findall(text)))


def _line_sentences(line: str) -> Iterator[tuple[str, bool]]:
    indent = len(line) - len(line.lstrip())
    if indent:
        yield line[:indent], False
    pending = ""
    for match in _SENTENCE.finditer(line[indent:]):
        pending += match.group(0)
        end = pending[-_LONGEST_ABBREVIATION:]
        goes_on = _CLOSED.search(end) and line[indent + match.end() :][:1].islower()
        if not (goes_on or _ABBREVIATION.search(end) or re.fullmatch(r"(?:\d+[.)]|[-*+])\s*", pending)):
            yield pending, True
            pending = ""
    if pending:
        yield pending, True


def _take_code(span: str, anchors: list[Anchor]) -> str:
    """Add the anchors of a code span; like the functions below, returns what remains of it in the sentence."""
    inner = span.strip()
    if _is_path(inner):
        anchors.append(Anchor(inner, "path"))
    elif re.search(r"[\s=<>+*/%!&|;{}\[\]\"']", inner) and not re.fullmatch(r"[\w.:]+\(.*\)", inner):
        anchors.append(Anchor(inner, "quote"))
    else:
        for name in (n for n in _NAME.finditer(inner) if n.group(0) not in LITERALS):
            anchors.append(Anchor(name.group(0).rstrip("("), "name"))
    return " "


def _take_quote(quote: str, anchors: list[Anchor]) -> str:
    anchors.append(Anchor(quote, "quote"))
    return " "


def _take_path(path: str, anchors: list[Anchor]) -> str:
    if not _is_path(path):
        return path
    anchors.append(Anchor(path, "path"))
    return " "


def _is_path(text: str) -> bool:
    stem, dot, extension = text.rpartition(".")
    return bool(re.fullmatch(r"[\w./-]+", text)) and bool(
        (dot and stem and extension.lower() in _EXTENSIONS) or text.count("/") >= 2
    )


def _take_name(match: re.Match[str], anchors: list[Anchor]) -> str:
    text = match.group(0).rstrip("(")
    code_like = (
        match.group(1)
        or "_" in text.strip("_")
        or "::" in text
        or text.startswith("--")
        or "$" in text
        or bool(_CAMEL.search(text))
        or bool(re.search(r"\w\.[A-Za-z_]\w{2,}", text))
    )
    if not code_like or text.lower() in {"e.g", "i.e"}:
        return match.group(0)
    anchors.append(Anchor(text, "name"))
    return " "


@lru_cache(maxsize=512)
def _stems_of_parts(parts: frozenset[str]) -> frozenset[str]:
    return frozenset(_stem(p.lower()) for p in parts)


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """The shorter of the English and French stems (Snowball), so that French words match English identifiers."""
    return min((s.stemWord(word) for s in _STEMMERS), key=len)
