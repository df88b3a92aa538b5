"""Parses a query: its kind, weighted terms, filters, phrases, names, paths and stack frames. Pure.

Of a very long query only the beginning and the end are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Literal, get_args

from repopilot import i18n
from repopilot.foreign_text import without_surrogates
from repopilot.index.tokens import expand, words
from repopilot.retrieval.query.asked import Asked, Command, Part, asked
from repopilot.retrieval.query.french import english_terms, is_french
from repopilot.retrieval.query.query_words import (
    AREA_HEAD,
    BULLETS,
    CONVENTIONAL_HEAD,
    DOCS,
    ERROR,
    MESSAGE,
    ONLY_EN,
    ONLY_FR,
    QUESTION,
    STOP_EN,
    STOP_FR,
    STOP_OTHER,
    TESTS,
    VAGUE,
)
from repopilot.retrieval.query.stack_frames import Frame, frames, places, without_frame, without_traces
from repopilot.settings import Settings

Kind = Literal["overview", "symbol", "path", "natural", "traceback", "task"]
Language = Literal["en", "fr"]

HEAD = 12_000
TAIL = 6_000
MOST_TERMS = 64
SHORT = 7
VERB_WEIGHT = 0.5
BODY_WEIGHT = 0.6
FRENCH_WEIGHT = 0.5
FURTHER_WEIGHT = 0.5
NAME_WEIGHT = 1.3

BESIDE = 1
"""Words that a question may have besides the name that it looks for."""
_OF_ALL = frozenset((*get_args(Part), *get_args(Command)))
"""Kinds of questions about the repository as a whole."""
_FILTER = re.compile(r"(?<![\w/])(file|path|lang|language|kind|symbol):(?!//)(\"[^\"\n]+\"|[^\s\"]+)", re.I)
_PHRASE = re.compile(r"[\"“«]\s?([^\"“”«»\n]{2,200}?)\s?[\"”»]")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"(?<![\w/.])(?:[\w@.+~-]+/)+[\w@.+~-]*\w|(?<![\w/.@])[\w.+-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w(])")
_SUFFIX = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|md|rst|txt|toml|json|ya?ml|cfg"
    r"|ini|sql|prisma|sh|html|css|vue|svelte|lock|xml|gradle)$",
    re.I,
)
_COMPOUND = re.compile(
    r"\b(?:[A-Za-z]\w*(?:\.|::))+[A-Za-z_]\w*|\b\w*[a-z0-9][A-Z]\w*|\b\w*[A-Za-z0-9]_\w+|\b_\w+|\b\w+(?=\(\))"
)


_OTHER_SCRIPT = re.compile(r"[\u0370-\u1cff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\uffef]{2,}")
"""Words in a script that isn't Latin."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What hits must satisfy. The values of one filter are alternatives; languages and kinds are in lower case."""

    files: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(as_pairs(self))


_FIELDS = {"file": "files", "lang": "languages", "kind": "kinds", "symbol": "symbols"}
"""The fields of `Filters` by the names of the query syntax."""


def as_pairs(filters: Filters) -> list[tuple[str, str]]:
    """Filters as (name, value), with the names of the query syntax."""
    return [(name, value) for name, field in _FIELDS.items() for value in getattr(filters, field)]


def as_filters(pairs: Sequence[tuple[str, str]]) -> Filters:
    """The inverse of `as_pairs`."""
    return Filters(**{field: tuple(v for n, v in pairs if n == name) for name, field in _FIELDS.items()})


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    `terms` gives index tokens their weights. `names` are identifiers as written, likeliest first; `paths` the files or
    folders it mentions; `frames` its stack frames, innermost first; `wish` what it asks for (asked.py); `scope` that of
    a conventional commit (`fix(router): …`). `asks`: it is phrased as a question; `wants_tests`, `wants_docs`: it asks
    for tests or documentation. `other_language`: it is neither English nor French, so only its names are found. `notes`
    say what was left out.
    """

    kind: Kind
    text: str
    terms: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    filters: Filters = Filters()
    frames: tuple[Frame, ...] = ()
    wish: Asked = "none"
    scope: str = ""
    asks: bool = False
    wants_tests: bool = False
    wants_docs: bool = False
    language: Language = "en"
    other_language: bool = False
    notes: tuple[str, ...] = ()


def reply_language(question: str, settings: Settings) -> Language:
    """The language to answer a question in: that of the settings, else that of the question."""
    return settings.language or parse(question).language


def without_filters(text: str) -> str:
    """A query without its filters (`file:…`, `lang:…`, `kind:…`, `symbol:…`)."""
    return _FILTER.sub(" ", text).strip()


def parse(text: str) -> Query:
    """Parse a query. Any text can be parsed; one without a word has no terms."""
    text = without_surrogates(text)
    cut, notes = _bounded(text)
    bare, filters = _filters(cut)
    language = _language(bare)
    stack = frames(bare)
    spots = () if stack else places(bare)
    names = _names(bare, filters)
    paths = tuple(dict.fromkeys(path.strip(".") for path in _PATH.findall(bare) if _is_path(path)))[:20]
    asks = bool(QUESTION.search(bare))
    wish: Asked = "none" if stack else asked(bare.strip().partition("\n")[0])
    kind = _kind(bare, wish, stack, names, paths, filters, asks)
    subject = _subject(bare, kind, asks)
    head = CONVENTIONAL_HEAD.match(bare)
    return Query(
        kind=kind,
        text=text,
        terms=_terms(_message(bare, stack) if kind == "traceback" else bare, kind, language, names),
        names=names,
        paths=paths,
        phrases=() if stack else tuple(dict.fromkeys(_PHRASE.findall(bare)))[:8],
        filters=filters,
        frames=stack or spots,
        wish=wish,
        scope=head.group(1) if head else "",
        asks=asks,
        wants_tests=bool(TESTS.search(subject)),
        wants_docs=bool(DOCS.search(subject)),
        language=language,
        other_language=is_other_language(bare),
        notes=notes,
    )


def _bounded(text: str) -> tuple[str, tuple[str, ...]]:
    text = text.replace("\r\n", "\n").replace("\0", " ")
    if len(text) <= HEAD + TAIL:
        return text, ()
    note = i18n.message("retrieval.long_query", characters=len(text), head=HEAD, tail=TAIL)
    return f"{text[:HEAD]}\n{text[-TAIL:]}", (note,)


def _filters(text: str) -> tuple[str, Filters]:
    written = ((name.lower(), value.strip('"')) for name, value in _FILTER.findall(text))
    named = [({"path": "file", "language": "lang"}.get(name, name), value) for name, value in written]
    filters = as_filters([(name, value.lower() if name in ("lang", "kind") else value) for name, value in named])
    return (_FILTER.sub(" ", text) if filters else text), filters


def _language(text: str) -> Language:
    found = [word.lower() for word in words(text[:2000])]
    french = sum(word in ONLY_FR for word in found) + sum(map(is_french, found))
    english = sum(word in ONLY_EN for word in found)
    return "fr" if french > english and french >= 1 else "en"


def is_other_language(text: str) -> bool:
    """Whether a text is in a language other than English and French, by its script or its stop words; names of code and
    quotations don't count."""
    prose = _COMPOUND.sub(" ", _PHRASE.sub(" ", _CODE.sub(" ", without_traces(text[:2000]))))
    found = [word.lower() for word in words(prose)]
    read = sum(word in STOP_EN or word in STOP_FR for word in found)
    other = sum(word in STOP_OTHER for word in found) + 2 * len(_OTHER_SCRIPT.findall(prose)) + prose.count("¿")
    shared = sum(word in STOP_OTHER and (word in STOP_EN or word in STOP_FR) for word in found)
    return other - shared > read - shared and (len(found) > 1 or not prose.isascii())


def _names(text: str, filters: Filters) -> tuple[str, ...]:
    quoted = [name for code in _CODE.findall(text) for name in re.findall(r"[A-Za-z_][\w.:]*", code)]
    whole = re.fullmatch(r"\s*([A-Za-z_]\w*)(?:\(\))?\s*[?.]?\s*", text)
    found = [*filters.symbols, *quoted, *_COMPOUND.findall(text), *([whole.group(1)] if whole else [])]
    stripped = (name.strip(".:") for name in found)
    return tuple(dict.fromkeys(name for name in stripped if name and not _is_path(name)))[:20]


def _is_path(text: str) -> bool:
    if "/" in text:
        # `and/or`, `read/write` and `DateTime/Date` are words; a folder is written in small letters or has a dot.
        return "." in text or text.count("/") > 1 or text.islower()
    return bool(_SUFFIX.search(text))


def _kind(
    text: str,
    wish: Asked,
    stack: tuple[Frame, ...],
    names: tuple[str, ...],
    paths: tuple[str, ...],
    filters: Filters,
    asks: bool,
) -> Kind:
    if stack:
        return "traceback"
    content = content_words(text)
    if not asks and not filters and (_is_message(text) or (wish == "task" and len(text.split()) > 2)):
        return "task"
    if asks and words(text) and not (content or names or paths or filters):
        return "overview"  # nothing to look for: it is about all of it
    if wish in _OF_ALL and not (names or paths or filters):
        return "overview"
    if paths and len(content) <= sum(len(words(path)) for path in paths) + 2:
        return "path"
    beside = BESIDE if asks else 0
    if content and (names or filters.symbols) and len(content) <= sum(len(words(name)) for name in names) + beside:
        return "symbol"
    return "natural"


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text as written, without English and French stop words."""
    return tuple(word for word in words(text) if word.lower() not in STOP_EN and word.lower() not in STOP_FR)


def _is_message(text: str) -> bool:
    """Whether a text is laid out like a commit message: a prefix that names an area, or a subject and a body."""
    if CONVENTIONAL_HEAD.match(text):
        return True
    if (AREA_HEAD.match(text) or MESSAGE.match(text)) and not ERROR.search(text):
        return True
    return bool(BULLETS.search(text))


def _subject(text: str, kind: Kind, asks: bool) -> str:
    """The part of a query that indicates what sort of file is wanted: the first line of a question, or a few words.

    '' for a text that reads like a commit message, which mentions tests and documentation in passing.
    """
    first = text.strip().partition("\n")[0]
    if kind in ("task", "traceback", "overview") or not (asks or len(first.split()) <= SHORT):
        return ""
    return first


def _message(text: str, stack: tuple[Frame, ...]) -> str:
    """The lines of a pasted stack trace that say what went wrong, and the functions of its frames."""
    noise = re.compile(
        r'^[^\S\n]*(?:File "|at |from |Traceback|goroutine |stack backtrace|#\d+ |\d+: |[\w./]+\.\w+:\d+)|^\s{3,}\S'
    )
    said = (without_frame(line) for line in text.splitlines())
    lines = [line for line in said if line.strip() and not noise.match(line)]
    functions = " ".join(" ".join(frame.names[-2:]) for frame in stack[:8])
    return "\n".join(lines[-12:]) + "\n" + functions


def _terms(text: str, kind: Kind, language: Language, names: tuple[str, ...]) -> dict[str, float]:
    """Index tokens with their weights. The later lines of a commit message count less than the first."""
    first, _, rest = text.strip().partition("\n")
    weights: dict[str, float] = {}
    for part, factor in ((first, 1.0), (rest, BODY_WEIGHT if kind == "task" else 1.0)):
        for (spelling, weight), count in Counter(_spellings(words(part), language)).items():
            for token in expand(spelling):
                weights[token] = max(weights.get(token, 0.0), factor * weight * (1 + log(count)))
    for name in names:
        for token in expand(name.replace("::", ".").rpartition(".")[2]):
            if token in weights:
                weights[token] *= NAME_WEIGHT
    strongest = sorted(weights, key=lambda token: -weights[token])[:MOST_TERMS]
    return {token: weights[token] for token in sorted(strongest)}


def _spellings(found: Sequence[str], language: Language) -> Iterator[tuple[str, float]]:
    """The words to look for, with their weights: all but stop words, and the English words for French terms."""
    if language == "en":
        yield from ((word, _weight(word)) for word in found if not _is_stop_word(word))
        return
    for term, english in english_terms([word for word in found if not _is_stop_word(word)]):
        own = FRENCH_WEIGHT if english else 1.0
        yield from ((word, own) for word in term.split())
        for number, word in enumerate(english):
            yield word, (1.0 if not number else FURTHER_WEIGHT) * _weight(word)


def _is_stop_word(word: str) -> bool:
    return word.lower() in STOP_EN or (len(word) < 2 and word.isascii())


def _weight(word: str) -> float:
    return VERB_WEIGHT if word.lower() in VAGUE else 1.0
