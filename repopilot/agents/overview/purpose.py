"""The sentence that says what a repository is: from its manifest, its README, or a file that users import. Sync."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from repopilot.agents.overview.overview_values import NamedPlace
from repopilot.index.manifests import facts
from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.project.manifest import ProjectFact
from repopilot.retrieval.places.doc_summary import head_summary
from repopilot.retrieval.query.parse import is_other_language
from repopilot.retrieval.repo_map import readme_paragraphs, readme_path, word_count

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-ÞΑ-ΩА-Я\"'`(])|(?<=[。！？])")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]|:[a-z0-9_+-]{3,30}:")
_DEFINES = r"\b(?:is|are) (?:an?|the)\b"
_SAYS = r"\b(?:is|are|provides?|lets|allows)\b"
"""What follows a project's name in a definition (_DEFINES), and in any statement about it."""
_DEFINITION = re.compile(
    rf"(?!.*\b(?:must|should|shall)\b)(?:an? |(?!(?:you|we|i) )[\w-]+(?:[ /(]+[\w-]+[)]?){{0,3}} {_DEFINES}"
    r"|(?!(?:you|we|i) )[\w-]+(?: [\w-]+)?? (?:provides|lets|allows|implements|offers)\b)",
    re.I,
)
"""A sentence that says what something is or does (`a thing that …`, `the thing is a …`), not what must be done."""
_ABOUT = re.compile(r"(?:^|/)about(?:\.\w+)+$", re.I)
"""A page that tells the users of a web application what it is."""
_SUBJECT = re.compile(
    r"(?!.*\b(?:must|should|shall)\b)(?:(?:an?|the|this|these|it|we|our|i|my|une?|les?|la|ce(?:t|tte|s)?|nous|notre|mon"
    r"|ma) |[lc]['’])",
    re.I,
)
"""A sentence in English or French that begins with its subject, and not with what readers are to do."""
FEWEST_WORDS = 3
SHORT = 5
"""A description with no more words is a slogan, or could be one."""
PARAGRAPHS = 4
"""Paragraphs at the beginning of a README that may say what the project is."""
MOST_PARAGRAPHS = 12
"""Paragraphs of a README that are searched for a definition that begins with the project's name."""


def purpose_of(index: Index, facades: Iterable[str]) -> NamedPlace | None:
    """Find the sentence that says what the repository is.

    Args:
        index: the repository.
        facades: the files that users import.

    Returns:
        The sentence as `note`, and its place; None where nothing says it. The first of these: the description of the
        root manifest or of the package named after the repository, where it is longer than SHORT; the sentence of an
        about page, then of the README, that begins with the name; a shorter such description; that of a package that
        the README names; the head of a file that users import; another definition in the README; any other package's
        description; the README's first sentence, where it begins with its subject or the project's name: it may be an
        instruction to readers. In other languages than English and French its place has to do.
    """
    described = [fact for fact in facts(index, "description") if word_count(fact.value) >= FEWEST_WORDS]
    own = [fact for fact in described if "/" not in fact.path or fact.path in _packages_called(index, _name(index))]
    if own and word_count(_said(own[0]).note) > SHORT:
        return _said(own[0])
    about = min((path for path in index.files if _ABOUT.search(path)), key=lambda path: path.count("/"), default="")
    readme = readme_path(index) or ""
    paragraphs = _paragraphs(index, readme)
    mentioned, others = _by_mentions(index, described)
    for path in filter(None, (about, readme)):
        if said := _defined(index, path):
            return said
    if said := next(map(_said, (*own, *mentioned)), None):
        return said
    of_facade = next(filter(None, (_of_facade(index, path) for path in facades)), None)
    firsts = (sentences[0] for sentences in paragraphs[:PARAGRAPHS] if sentences)
    first = next((each for each in firsts if _says_something(index, each)), None)
    definition = next((s for sentences in paragraphs[:PARAGRAPHS] for s in sentences if _DEFINITION.match(s)), None)
    return (
        of_facade
        or (_told(index, readme, definition) if definition else None)
        or next(map(_said, others), None)
        or (_told(index, readme, first) if first else None)
    )


def _of_facade(index: Index, path: str) -> NamedPlace | None:
    """What a file says of itself at its head."""
    said = head_summary(index.text(path) or "")
    return NamedPlace(path, path, 1, said) if word_count(said) >= FEWEST_WORDS else None


def _name(index: Index) -> str:
    return index.name.rpartition("/")[2].removesuffix(".git")


def _says_something(index: Index, said: str) -> bool:
    """Whether the first sentence of a README may say what the project is, and isn't what readers are to do."""
    begins = _SUBJECT.match(said) is not None or _begins_with_name(index, said)
    return not said.endswith((":", "：")) if is_other_language(said) else begins


def _begins_with_name(index: Index, said: str) -> bool:
    """Whether a sentence begins with a word of the names of the repository, its packages and its outermost folders."""
    folders = {path.partition("/")[0] for path in index.files if "/" in path}
    packages = {fact.value for fact in facts(index, "name")}
    return not tokens_of(said.split()[0]).isdisjoint(tokens_of(" ".join((_name(index), *folders, *packages))))


def _packages_called(index: Index, name: str) -> set[str]:
    return {fact.path for fact in facts(index, "name") if fact.value.casefold() == name.casefold()}


def _by_mentions(index: Index, described: Iterable[ProjectFact]) -> tuple[list[ProjectFact], list[ProjectFact]]:
    """The descriptions of packages that the README names, the most often named first; and the other descriptions."""
    path = readme_path(index)
    words = Counter(re.findall(r"[\w@-]+", (index.text(path) or "").casefold() if path else ""))
    mentions = {fact.path: words[fact.value.casefold()] for fact in facts(index, "name")}
    named = sorted(described, key=lambda fact: -mentions.get(fact.path, 0))
    return [fact for fact in named if mentions.get(fact.path)], [fact for fact in named if not mentions.get(fact.path)]


def _said(fact: ProjectFact) -> NamedPlace:
    return NamedPlace(fact.path, fact.path, fact.line, " ".join(_EMOJI.sub("", fact.value).split()))


def _paragraphs(index: Index, path: str) -> list[list[str]]:
    """The sentences of a document's first paragraphs."""
    told = readme_paragraphs((index.text(path) or "") if path else "")
    return [_sentences(paragraph) for paragraph in islice(told, MOST_PARAGRAPHS)]


def _defined(index: Index, path: str) -> NamedPlace | None:
    """The sentence of a document that begins with the project's name and says what it is."""
    paragraphs = _paragraphs(index, path)
    names = {_name(index), *(fact.value for fact in facts(index, "name") if "/" not in fact.path)}
    named = rf"(?:the )?(?:{'|'.join(map(re.escape, sorted(names)))})\b[^.]{{0,40}}?"
    said = _first(paragraphs, named + _DEFINES) or _first(paragraphs[:PARAGRAPHS], named + _SAYS)
    return _told(index, path, said) if said else None


def _told(index: Index, path: str, said: str) -> NamedPlace:
    """A sentence at its place in a document."""
    text = index.text(path) or ""
    words = re.escape(" ".join(said.split()[:3])).replace(r"\ ", r"\W+")
    found = re.search(words, text)
    whole = re.sub(r":$", " …", said)  # a list follows
    return NamedPlace(path, path, text.count("\n", 0, found.start()) + 1 if found else 1, whole)


def _first(paragraphs: Iterable[Iterable[str]], pattern: str) -> str | None:
    """The first sentence that begins as a pattern says."""
    return next((each for sentences in paragraphs for each in sentences if re.match(pattern, each, re.I)), None)


def _sentences(paragraph: str) -> list[str]:
    found = (" ".join(_EMOJI.sub("", each).split()) for each in _SENTENCE_END.split(paragraph)[:3])
    return [each for each in found if word_count(each) > FEWEST_WORDS]
