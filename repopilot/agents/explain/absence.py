"""Does the repository hold what a question is about? Finds proper names that occur nowhere in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from repopilot.index.store import Index
from repopilot.index.tokens import expand
from repopilot.resolve.values import Occurrence
from repopilot.retrieval.claims import last_name
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR
from repopilot.workspace import Workspace

_MOST_SKIPPED = 8
_PROPER_NAME = re.compile(r"(?<=[a-z,;:(/] )[A-Z][A-Za-z0-9]{2,}\b")
"""A capitalized word that doesn't begin a sentence."""
_SHORT = 4
"""A stem of at most this many letters proves nothing in the middle of a longer token: `redi` is in `redirect`."""


def absent_proper_names(question: str, index: Index) -> list[str]:
    """Capitalized words that are no part of any name or word of the repository.

    Args:
        question: as the user asked it. Where it capitalizes many words, capitals don't mean proper names.
        index: the repository's index.
    """
    found = [name for name in dict.fromkeys(_PROPER_NAME.findall(question)) if name.lower() not in STOP_EN | STOP_FR]
    if 3 * len(found) > len(question.split()):
        return []
    return [name for name in found if not _occurs(expand(name.lower())[0], index)]


def _occurs(stem: str, index: Index) -> bool:
    return any(token.endswith(stem) or (len(stem) > _SHORT and stem in token) for token in index.lexical.tokens)


def in_skipped_files(names: Iterable[str], workspace: Workspace) -> list[Occurrence]:
    """The first places where some names occur in files that the index skips. Blocking."""
    asked = dict.fromkeys(spelled for name in names for spelled in (last_name(name), last_name(name).lower()))
    found = (at for name in asked for at in workspace.resolver.occurrences(name))
    return [at for at in found if at.span.path not in workspace.index.files][:_MOST_SKIPPED]
