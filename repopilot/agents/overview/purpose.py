"""The sentence that says what a repository is: from its manifest, its README, or a file that users import. Sync."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from repopilot.agents.overview.overview_values import NamedPlace
from repopilot.code.source_positions import line_at
from repopilot.index.manifests import facts
from repopilot.index.store import Index
from repopilot.project.manifest import ProjectFact
from repopilot.retrieval.places.doc_summary import head_summary
from repopilot.retrieval.query.parse import is_other_language
from repopilot.retrieval.repo_map import readme_paragraphs, readme_path, word_count

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-ÞΑ-ΩА-Я\"'`(])|(?<=[。！？])")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]|:[a-z0-9_+-]{3,30}:")
_DEFINES = r"\b(?:is|are) (?:an?|the)\b"
"""What follows a project's name in a definition: of 77 open repositories 76 get their purpose with it, 70 without."""
_ABOUT = re.compile(r"(?:^|/)about(?:\.\w+)+$", re.I)
"""A page that tells the users of a web application what it is."""
_SUBJECT = (
    r"(?!.*\b(?:must|should|shall)\b)(?:(?:an?|the|this|these|it|we|our|i|my|une?|les?|la|ce(?:t|tte|s)?|nous|notre|mon"
    r"|ma) |[lc]['’])"
)
"""A sentence in English or French that begins with its subject, and not with what readers are to do: what a README
instructs its readers or a model to do is never shown as the purpose, though any first sentence would do for all 77."""
_PACKAGED = re.compile(
    r"(?:[^/]+/)?[^/]+\.(?:(?:pc|spec)(?:\.in)?|(?:metainfo|appdata)\.xml)|mix\.exs|mkdocs\.ya?ml|snapcraft\.ya?ml|bower\.json"
)
"""Files beside manifests that describe the project to package managers, installers and builders of documentation."""
_STATED = re.compile(
    r"^[^\w\n]*(?:site_)?(?:description|summary)\b[\"']?[ \t]*[:=>]?[ \t]*[\"']?(\w.*?)[\"',;]*(?:</.*)?$", re.I | re.M
)
_TITLE = re.compile(r"^(?:# .+|.+\n[=*]{3,})$|<h1\b[^<>]*>(?:(?!</?h1\b)[\s\S]){0,400}</h1>", re.I | re.M)
FEWEST_WORDS = 3
SHORT = 5
"""A description with no more words is a slogan, or could be one."""
PARAGRAPHS = 3
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
        root manifest or of the package named after the repository, where it is longer than SHORT; the definition in an
        about page, then in the README, that begins with the name; a shorter such description; that in a file for
        packaging; that of a package that the README names; another statement at the beginning of the README that begins
        with the name; the head of a file that users import; any other package's description; the README's first
        sentence, where it begins with its subject: it may be an instruction to readers. In languages other than English
        and French, only the position of the sentence counts.
    """
    return next(_candidates(index, facades), None)


def _candidates(index: Index, facades: Iterable[str]) -> Iterator[NamedPlace]:
    """What may say what the repository is, best first, see `purpose_of`."""
    described = [fact for fact in facts(index, "description") if word_count(fact.value) >= FEWEST_WORDS]
    called = {fact.path for fact in facts(index, "name") if fact.value.casefold() == _name(index).casefold()}
    own = [fact for fact in described if "/" not in fact.path or fact.path in called]
    if own and word_count(_said(own[0]).note) > SHORT:
        yield _said(own[0])
    about = min((path for path in index.files if _ABOUT.search(path)), key=lambda path: path.count("/"), default="")
    readme = readme_path(index) or ""
    begins = _led_by_name(index, readme)
    for path in filter(None, (about, readme)):
        yield from _matching(index, path, rf"{begins}[^.]{{0,40}}?{_DEFINES}", MOST_PARAGRAPHS)
    mentions = _mentions(index, readme)
    described.sort(key=lambda fact: -mentions.get(fact.path, 0))
    yield from map(_said, own)
    yield from _packaged(index)
    yield from (_said(fact) for fact in described if mentions.get(fact.path))
    yield from _matching(index, readme, rf"{begins}.*(?<![:：])$", PARAGRAPHS, 1)
    yield from filter(None, (_of_facade(index, path) for path in facades))
    yield from map(_said, described)
    yield from _matching(index, readme, _SUBJECT, PARAGRAPHS, 1)
    firsts = _matching(index, readme, ".*(?<![:：])$", PARAGRAPHS, 1)
    yield from (said for said in firsts if is_other_language(said.note))


def _packaged(index: Index) -> Iterator[NamedPlace]:
    """The descriptions in files for packaging, those nearest to the root first."""
    own = (path for path in index.files if _PACKAGED.fullmatch(path) and not index.is_foreign(path))
    for path in sorted(own, key=lambda path: (path.count("/"), len(path))):
        text = index.text(path) or ""
        stated = ((line_at(text, found.start(1)), found[1]) for found in _STATED.finditer(text))
        yield from (NamedPlace(path, path, line, said) for line, said in stated if word_count(said) >= FEWEST_WORDS)


def _of_facade(index: Index, path: str) -> NamedPlace | None:
    """What a file says of itself at its head."""
    said = head_summary(index.text(path) or "")
    return NamedPlace(path, path, 1, said) if word_count(said) >= FEWEST_WORDS else None


def _name(index: Index) -> str:
    return index.name.rpartition("/")[2].removesuffix(".git")


def _mentions(index: Index, readme: str) -> dict[str, int]:
    """How often the README names each package, by the path of its manifest."""
    words = Counter(re.findall(r"[\w@-]+", (index.text(readme) or "").casefold()))
    return {fact.path: words[fact.value.casefold()] for fact in facts(index, "name")}


def _said(fact: ProjectFact) -> NamedPlace:
    return NamedPlace(fact.path, fact.path, fact.line, " ".join(_EMOJI.sub("", fact.value).split()))


def _led_by_name(index: Index, readme: str) -> str:
    """A pattern of the beginning of a sentence about the project, by its name, its package's or its title."""
    title = _TITLE.search(index.text(readme) or "")
    told = (
        _name(index),
        re.sub("<[^<>]*>", " ", title[0]) if title else "",
        *(f.value for f in facts(index, "name") if "/" not in f.path),
    )
    names = [words for name in told if (words := re.findall(r"[^\W_]+", name))]
    either = "|".join(map(r"[\W_]?".join, names))
    return rf"\W?(?:(?:the )?(?:{either})\b|\w+ (?:{either}),)"


def _matching(index: Index, path: str, pattern: str, most: int, sentences: int | None = None) -> Iterator[NamedPlace]:
    """The sentences at the beginning of a document, and of its paragraphs, that match a pattern."""
    paragraphs = islice(readme_paragraphs(index.text(path) or ""), most)
    told = chain.from_iterable(_sentences(paragraph)[:sentences] for paragraph in paragraphs)
    yield from (_told(index, path, each) for each in told if re.match(pattern, each, re.I))


def _told(index: Index, path: str, said: str) -> NamedPlace:
    """A sentence at its place in a document."""
    text = index.text(path) or ""
    found = re.search(re.escape(" ".join(said.split()[:3])).replace(r"\ ", r"\W+"), text)
    # A list follows a colon.
    return NamedPlace(path, path, line_at(text, found.start() if found else 0), re.sub(r":$", " …", said))


def _sentences(paragraph: str) -> list[str]:
    found = (" ".join(_EMOJI.sub("", each).split()) for each in _SENTENCE_END.split(paragraph)[:3])
    return [each for each in found if word_count(each) > FEWEST_WORDS]
