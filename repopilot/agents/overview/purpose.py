"""The sentence that says what a repository is: of its manifest, else of its README. Sync."""

from __future__ import annotations

import re
from itertools import islice

from repopilot.agents.overview.manifests import facts
from repopilot.agents.overview.overview_values import NamedPlace
from repopilot.code.project.manifest import ProjectFact
from repopilot.index.store import Index
from repopilot.retrieval.repo_map import readme_paragraphs, readme_path

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]|:[a-z0-9_+-]{3,30}:")
_SAYS_WHAT = re.compile(r"\b(?:is|are|provides?|implements?|lets|allows|aims|offers)\b", re.I)
FEWEST_WORDS = 3
PARAGRAPHS = 12


def purpose_of(index: Index) -> NamedPlace | None:
    """Find the sentence that says what the repository is.

    Args:
        index: the repository.

    Returns:
        The sentence as `note`, and where it stands; None where neither a manifest nor the README says it.
    """
    declared = next(
        (
            fact
            for fact in facts(index, "description")
            if "/" not in fact.path and len(fact.value.split()) >= FEWEST_WORDS
        ),
        None,
    )
    if declared is not None and len(declared.value.split()) > FEWEST_WORDS:
        return _said(declared)
    readme = _readme_sentence(index, says_what=declared is not None)
    return readme or (_said(declared) if declared else None)


def _said(fact: ProjectFact) -> NamedPlace:
    return NamedPlace(fact.path, fact.path, fact.line, " ".join(_EMOJI.sub("", fact.value).split()))


def _readme_sentence(index: Index, *, says_what: bool) -> NamedPlace | None:
    """The sentence of the README that says what the project is: the first that begins with its name or says what
    something is, else, where `says_what` is False, the first of all."""
    path = readme_path(index)
    if path is None:
        return None
    text = index.text(path) or ""
    sentences: list[str] = []
    for paragraph in islice(readme_paragraphs(text), PARAGRAPHS):
        sentences += [" ".join(_EMOJI.sub("", each).split()) for each in _SENTENCE_END.split(paragraph)[:3]]
    sentences = [each for each in sentences if len(each.split()) > FEWEST_WORDS]
    if not sentences:
        return None
    name = re.escape(index.name.rpartition("/")[2].removesuffix(".git"))
    named = re.compile(rf"(?:the )?{name}\b[^.]{{0,40}}?\b(?:is|are|provides?|lets|allows)\b", re.I)
    said = next((each for each in sentences if named.match(each)), None)
    if said is None and says_what:
        return None
    said = said or next((each for each in sentences[:4] if _SAYS_WHAT.search(each)), sentences[0])
    words = re.escape(" ".join(said.split()[:3])).replace(r"\ ", r"\W+")
    found = re.search(words, text)
    return NamedPlace(path, path, text.count("\n", 0, found.start()) + 1 if found else 1, said)
