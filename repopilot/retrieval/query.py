"""What is being asked: the kind of query, its weighted terms, filters, phrases, names, paths and stack frames. Pure.

Work is bounded: of a very long query only the head and the tail are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import log
from typing import Literal

from repopilot.retrieval.frames import Frame, frames, places
from repopilot.retrieval.tokens import expand, words
from repopilot.retrieval.vocabulary import CONVENTIONAL, FRENCH, IMPERATIVES, STOP_EN, STOP_FR, VAGUE

Kind = Literal["overview", "symbol", "path", "natural", "traceback", "error", "task", "schema"]
Language = Literal["en", "fr"]

HEAD, TAIL, MOST_TERMS, SHORT = 12_000, 6_000, 64, 7
VERB_WEIGHT, BODY_WEIGHT, FRENCH_WEIGHT, NAME_WEIGHT = 0.5, 0.6, 0.5, 1.3

_FILTER = re.compile(r"(?<![\w/])(file|path|lang|language|kind|symbol):(\"[^\"\n]+\"|[^\s\"]+)", re.I)
_PHRASE = re.compile(r"[\"“«]\s?([^\"“”«»\n]{2,200}?)\s?[\"”»]")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"(?<![\w/.])(?:[\w@.+~-]+/)+[\w@.+~-]*\w|(?<![\w/.@])[\w.+-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w(])")
_COMPOUND = re.compile(
    r"\b(?:[A-Za-z]\w*(?:\.|::))+[A-Za-z_]\w*|\b\w*[a-z0-9][A-Z]\w*|\b\w*[A-Za-z0-9]_\w+|\b_\w+|\b\w+(?=\(\))"
)
_CONVENTIONAL = re.compile(r"^(\w+)(?:\(([^)\n]{1,60})\))?!?:\s")
_ERROR = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning|Panic)\b\s*:\s|^\s*(?:fatal|error|panic|exception|erreur)\b[\w\[\]]*\s*:",
    re.M,
)
_RAISES = re.compile(
    r"\b(?:raise[sd]?|throws?|thrown|fails? with|crash\w* with|(?:an?|this|une?|cette) (?:error|exception|erreur))\b",
    re.I,
)
_BULLETS = re.compile(r"^\S[^\n]*\n(?:[^\n]*\n)?\s*[*-] \S")
_SCHEMA = re.compile(
    r"\b(?:database|db|sql|prisma|tables?|columns?|foreign keys?|migrations?|schema|entit(?:y|ies)|relations?"
    r"|base de données|colonnes?|clés? étrangères?|schéma)\b",
    re.I,
)
_SCHEMA_SURE = re.compile(
    r"\b(?:prisma|sql|foreign keys?|database schema|db schema|schéma de (?:la )?base|tables? (?:and|et) (?:columns?|colonnes?)"
    r"|(?:which|what|quelles?|list(?:e)?) (?:the |les |des )?(?:database |sql )?(?:tables?|columns?|colonnes?))\b",
    re.I,
)
_SEEK = re.compile(
    r"\b(?:where(?: is| are|'s)|find|locate|show(?: me)?|definition of|defined?|declared?|implement(?:ed|ation)"
    r"|où|trouve[rz]?|montre[rz]?|définition|définie?s?|déclarée?s?|implémentée?s?|what is|qu'est-ce que)\b",
    re.I,
)
_QUESTION = re.compile(
    r"\?|^\s*(?:how|what|where|why|when|which|who|does|do|is|are|can|could|should|explain|describe|show|tell|find|list"
    r"|comment|où|ou est|pourquoi|quand|quel|quelle|quels|quelles|qui|que|qu'|est-ce|explique|décris|montre|trouve|liste)\b",
    re.I,
)
_TESTS = re.compile(
    r"\b(?:(?:unit|integration|regression)[ -]?tests?|tests?|test (?:case|suite|file)s?|tested|testing|pytest|unittest|specs?"
    r"|fixtures?|test coverage|tests? unitaires?|testée?s?|jeux? d'essais?|couverture)\b",
    re.I,
)
_DOCS = re.compile(
    r"\b(?:docs|documentation|documented|readme|changelog|release notes|tutorials?|guides?|docstrings?|documentée?s?"
    r"|notes de version|journal des modifications|tutoriels?)\b",
    re.I,
)
_WHOLE = re.compile(
    r"\b(?:what(?: is|'s| does| are)? (?:this|the) (?:project|repo(?:sitory)?|code ?base|package|library|app(?:lication)?|tool|program)\b"
    r"(?! \w+ed\b)"
    r"|what (?:is|does) (?:it|this)(?: all)?(?: about| do| for)?\s*\??$"
    r"|(?:overview|summary|structure|architecture|layout|outline|organi[sz]ation|big picture|tech(?:nology)? stack)"
    r" of (?:this|the) (?:whole |entire )?(?:project|repo(?:sitory)?|code ?base|package|library|app(?:lication)?|code)\b"
    r"|(?:project|repo(?:sitory)?|code ?base|code) (?:overview|summary|structure|architecture|layout|outline)\b"
    r"|how (?:is|are) (?:it|this|(?:the|this) (?:project|repo(?:sitory)?|code ?base|code|package|library|app(?:lication)?))"
    r" (?:structured|organi[sz]ed|laid out|built|split|architected)"
    r"|how (?:do|can|to|does one|should)(?: (?:i|we|you|one))? (?:run|start|launch|install|build|set ?up|use|try|deploy)"
    r" (?:it|this|(?:the|this) (?:project|repo(?:sitory)?|code ?base|code|package|library|app(?:lication)?|tool|program|server))\b"
    r"|how do i get started|getting started\s*\??$|where (?:do|should|to) (?:i |we )?(?:start|begin)\b"
    r"|(?:entry ?points?|main dependencies|technologies|frameworks?) (?:of|used (?:in|by)|does) (?:this|the) (?:project|repo|code)"
    r"|(?:explain|describe|summari[sz]e|understand) (?:this|the) (?:whole |entire )?(?:project|repo(?:sitory)?|code ?base|code|package)\s*[.?!]?$"
    r"|(?:à quoi sert|c'est quoi|qu'est-ce que(?: c'est)?|que fait|explique|décris|présente|résume)(?:[- ]moi)? (?:que )?(?:ce|le|cette|la)"
    r" (?:projet|dépôt|repo|bibliothèque|application|appli|base de code|programme|outil)\b"
    r"|(?:structure|architecture|organisation|vue d'ensemble|aperçu|résumé) (?:de ce|du|de cette|de la)"
    r" (?:projet|dépôt|repo|bibliothèque|application|base de code|code)\b"
    r"|comment (?:est|sont) (?:structuré|organisé|construit|architecturé)e?s? (?:ce|le|cette|la)"
    r"|comment (?:ce|le|cette|la) (?:projet|dépôt|repo|code|application|bibliothèque|base de code) (?:est|fonctionne)"
    r"|comment (?:lancer|exécuter|démarrer|installer|utiliser|déployer|construire|compiler)"
    r" (?:ce|le|cette|la|l') ?(?:projet|dépôt|repo|application|appli|serveur|programme|bibliothèque|code|outil)?\b"
    r"|(?:par où|où) commencer)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Filters:
    """What hits must satisfy; values of one filter are alternatives, all in lower case except paths and symbols."""

    files: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.languages or self.kinds or self.symbols)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `terms` gives index tokens their weight; `names` are identifiers as written, likeliest first;
    `asks`: it is put as a question; `paths` are mentioned files or folders; `scope` is that of a conventional commit (`fix(router): …`)."""

    kind: Kind
    text: str
    terms: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    filters: Filters = Filters()
    frames: tuple[Frame, ...] = ()
    scope: str = ""
    asks: bool = False
    wants_tests: bool = False
    wants_docs: bool = False
    language: Language = "en"
    notes: tuple[str, ...] = ()


def parse(text: str) -> Query:
    """Understand a query. Never raises; a query without a word in it has no terms."""
    cut, notes = _bounded(text)
    bare, filters = _filters(cut)
    language = _language(bare)
    stack = frames(bare)
    spots = () if stack else places(bare)
    names = _names(bare, filters)
    paths = tuple(dict.fromkeys(path.strip(".") for path in _PATH.findall(bare) if _is_path(path)))[:20]
    asks = bool(_QUESTION.search(bare))
    kind = _kind(bare, stack, names, paths, filters, asks)
    subject = _subject(bare, kind, asks)
    head = _CONVENTIONAL.match(bare)
    return Query(
        kind=kind,
        text=text,
        terms=_terms(_message(bare, stack) if kind == "traceback" else bare, kind, language, names),
        names=names,
        paths=paths,
        phrases=tuple(dict.fromkeys(_PHRASE.findall(bare)))[:8],
        filters=filters,
        frames=stack or spots,
        scope=(head.group(2) or "") if head and head.group(1).lower() in CONVENTIONAL else "",
        asks=asks,
        wants_tests=bool(_TESTS.search(subject)),
        wants_docs=bool(_DOCS.search(subject)),
        language=language,
        notes=notes,
    )


def _bounded(text: str) -> tuple[str, tuple[str, ...]]:
    text = text.replace("\r\n", "\n").replace("\0", " ")
    if len(text) <= HEAD + TAIL:
        return text, ()
    note = f"The question has {len(text):,} characters: only its first {HEAD:,} and last {TAIL:,} were searched for."
    return f"{text[:HEAD]}\n{text[-TAIL:]}", (note,)


def _filters(text: str) -> tuple[str, Filters]:
    found: dict[str, list[str]] = {"file": [], "lang": [], "kind": [], "symbol": []}
    for name, value in _FILTER.findall(text):
        key = {"path": "file", "language": "lang"}.get(name.lower(), name.lower())
        found[key].append(value.strip('"'))
    filters = Filters(
        files=tuple(found["file"]),
        languages=tuple(value.lower() for value in found["lang"]),
        kinds=tuple(value.lower() for value in found["kind"]),
        symbols=tuple(found["symbol"]),
    )
    return (_FILTER.sub(" ", text) if filters else text), filters


def _language(text: str) -> Language:
    found = [word.lower() for word in words(text[:2000])]
    french = sum(word in STOP_FR and word not in STOP_EN for word in found) + sum(word in FRENCH for word in found) / 2
    english = sum(word in STOP_EN and word not in STOP_FR for word in found)
    return "fr" if french > english and french >= 1 else "en"


def _names(text: str, filters: Filters) -> tuple[str, ...]:
    quoted = [name for code in _CODE.findall(text) for name in re.findall(r"[A-Za-z_][\w.:]*", code)]
    whole = re.fullmatch(r"\s*([A-Za-z_]\w*)(?:\(\))?\s*[?.]?\s*", text)
    found = [*filters.symbols, *quoted, *_COMPOUND.findall(text), *([whole.group(1)] if whole else [])]
    kept = (name.strip(".:") for name in found)
    return tuple(dict.fromkeys(name for name in kept if name and not _is_path(name)))[:20]


def _is_path(text: str) -> bool:
    if "/" in text:
        return not re.fullmatch(r"[\w.]+/[\w.]+", text) or "." in text or text.count("/") > 1 or text.islower()
    return bool(
        re.search(
            r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|md|rst|txt|toml"
            r"|json|ya?ml|cfg|ini|sql|prisma|sh|html|css|vue|svelte|lock|xml|gradle)$",
            text,
            re.I,
        )
    )


def _kind(
    text: str, stack: tuple[Frame, ...], names: tuple[str, ...], paths: tuple[str, ...], filters: Filters, asks: bool
) -> Kind:
    if stack:
        return "traceback"
    content = [word for word in words(text) if word.lower() not in STOP_EN and word.lower() not in STOP_FR]
    if len(text) < 400 and _WHOLE.search(text) and not names and len(content) <= 8:
        return "overview"
    if not asks and not filters and _is_task(text):
        return "task"
    if paths and len(content) <= sum(len(words(path)) for path in paths) + 2:
        return "path"
    beside = 2 if _SEEK.search(text) else 0
    if content and (names or filters.symbols) and len(content) <= sum(len(words(name)) for name in names) + beside:
        return "symbol"
    if _ERROR.search(text) or (asks and _RAISES.search(text)):
        return "error"
    if _SCHEMA_SURE.search(text) or (asks and _SCHEMA.search(text) and len(content) <= 8):
        return "schema"
    return "natural"


def _is_task(text: str) -> bool:
    """Does it read like the message of a commit: an imperative, a conventional prefix, a subject and a list of changes?"""
    first = next(iter(words(text)), "").lower()
    head = _CONVENTIONAL.match(text)
    if head and (head.group(2) or head.group(1).lower() in CONVENTIONAL):
        return True
    return bool(_BULLETS.search(text)) or (first in IMPERATIVES and len(text.split()) > 2)


def _subject(text: str, kind: Kind, asks: bool) -> str:
    """The part of a query that says what sort of file is wanted: a question's first line, or a few words; of what reads
    like a commit nothing, for commits speak of tests and documentation in passing."""
    first = text.strip().partition("\n")[0]
    if kind in ("task", "traceback", "overview") or not (asks or len(first.split()) <= SHORT):
        return ""
    return first


def _message(text: str, stack: tuple[Frame, ...]) -> str:
    """The lines of a pasted stack trace that say what went wrong, and the functions it went through."""
    noise = re.compile(
        r'^\s*(?:File "|at |from |Traceback|goroutine |stack backtrace|\d+: |[\w./]+\.\w+:\d+)|^\s{3,}\S'
    )
    said = [line for line in text.splitlines() if line.strip() and not noise.match(line)]
    functions = " ".join(frame.function.replace(".", " ") for frame in stack[:8])
    return "\n".join(said[-12:]) + "\n" + functions


def _terms(text: str, kind: Kind, language: Language, names: tuple[str, ...]) -> dict[str, float]:
    """Index tokens with their weights. Later lines of a commit message count less than its first."""
    first, _, rest = text.strip().partition("\n")
    weights: dict[str, float] = {}
    for part, factor in ((first, 1.0), (rest, BODY_WEIGHT if kind == "task" else 1.0)):
        for token, weight in _weighted(Counter(words(part)).items(), language).items():
            weights[token] = max(weights.get(token, 0.0), factor * weight)
    for name in names:
        for token in expand(name.replace("::", ".").rpartition(".")[2]):
            if token in weights:
                weights[token] *= NAME_WEIGHT
    strongest = sorted(weights, key=lambda token: -weights[token])[:MOST_TERMS]
    return {token: weights[token] for token in sorted(strongest)}


def _weighted(counts: Iterable[tuple[str, int]], language: Language) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word, count in counts:
        for spelled, weight in _spellings(word, language):
            for token in expand(spelled):
                weights[token] = max(weights.get(token, 0.0), weight * (1 + log(count)))
    return weights


def _spellings(word: str, language: Language) -> list[tuple[str, float]]:
    lower = word.lower()
    if lower in STOP_EN or (language == "fr" and lower in STOP_FR) or (len(lower) < 2 and lower.isascii()):
        return []
    if language == "fr" and lower in FRENCH:
        return [(word, FRENCH_WEIGHT), *((english, 1.0) for english in FRENCH[lower])]
    return [(word, VERB_WEIGHT if lower in VAGUE else 1.0)]
