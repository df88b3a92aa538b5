"""Why a file is among those a change will probably touch, in words."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence

from repopilot.agents.impact.change import Change
from repopilot.agents.impact.dependents import used_by_change
from repopilot.agents.impact.gather import ImpactEvidence
from repopilot.agents.impact.rank_files import WEIGHTS, ScoredFile
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words
from repopilot.repo.co_change import LEAST_TOGETHER
from repopilot.results import AffectedPlace, RankedFile

_LONGEST_TEXT = 200_000
_SHOWN_WORDS = 4
_SHORTEST_WORD = 3
_VERY_SIMILAR = 0.5
_KEYWORDS = frozenset(map(str.lower, keyword.kwlist)) | frozenset(
    "self cls obj str int dict list tuple bool float args kwargs err res ret tmp val null undefined function const let "
    "var new this void public private static final func nil struct impl pub use mut".split()
)


def with_reasons(evidence: ImpactEvidence, ranked: Sequence[ScoredFile]) -> list[RankedFile]:
    """The ranked files with their reasons: dependencies, tests, co-change; without any of these, similar text."""
    nearest: dict[str, AffectedPlace] = {}
    for item in evidence.affected:
        nearest.setdefault(item.path, item)
    tests = {test.path: test for test in evidence.tests}
    co_changed = {found.path: found for found in evidence.co_changed}
    used = used_by_change(evidence.base, evidence.changes)
    spelling = _spelling(evidence.index, evidence.changes)
    result = []
    for file in ranked:
        reasons: list[str] = []
        distances: list[int] = []
        for found in (nearest.get(file.path), tests.get(file.path)):
            if found is not None and found.reason not in reasons:
                reasons.append(found.reason)
                distances.append(found.distance)
        if file.path in used:
            reasons.append(used[file.path])
            distances.append(1)
        together = co_changed.get(file.path)
        if together is not None and together.together >= LEAST_TOGETHER:
            reasons.append(message("impact.reasons.co_changed", together=together.together, of=together.of))
        if not reasons and together is not None:
            reasons.append(message("impact.reasons.co_changed_once"))
        if not reasons:
            reasons.append(_strongest_signal(evidence, file, spelling))
        elif file.signals.get("file text", 0) > _VERY_SIMILAR and (shared := _shared_words(evidence, file, spelling)):
            reasons.append(message("impact.reasons.vocabulary", words=shared))
        result.append(RankedFile(file.path, file.score, distances[0] if distances else None, tuple(reasons)))
    return result


def _strongest_signal(evidence: ImpactEvidence, file: ScoredFile, spelling: Mapping[str, str]) -> str:
    """The strongest signal, in words, of a file that nothing specific connects to the change."""
    shares = {
        name: WEIGHTS[name] * file.signals.get(name, 0.0) for name in ("symbol text", "file text", "path", "size")
    }
    strongest = max(shares, key=lambda name: shares[name])
    if strongest == "path":
        return message("impact.reasons.only_path")
    shared = "" if strongest == "size" else _shared_words(evidence, file, spelling)
    return message("impact.reasons.only_words", words=shared) if shared else message("impact.reasons.only_size")


def _shared_words(evidence: ImpactEvidence, file: ScoredFile, spelling: Mapping[str, str]) -> str:
    """The words that a file shares with the first changed file, spelled as in the latter; '' when there are none."""
    base = evidence.base
    numbers = [base.graph.by_path[c.path] for c in evidence.changes if c.path in base.graph.by_path]
    if not numbers:
        return ""
    tokens = base.similarity.shared(numbers[0], base.graph.by_path[file.path], 3 * _SHOWN_WORDS)
    return ", ".join(list(dict.fromkeys(spelling[t] for t in tokens if t in spelling))[:_SHOWN_WORDS])


def _spelling(index: Index, changes: Sequence[Change]) -> dict[str, str]:
    """For each index token of the first changed file (a stem, mostly) the shortest word it stands for there."""
    text = next((text for change in changes if (text := index.text(change.path))), "")
    found: dict[str, str] = {}
    telling = {
        word for word in words(text[:_LONGEST_TEXT]) if len(word) >= _SHORTEST_WORD and word.lower() not in _KEYWORDS
    }
    for word in sorted(telling, key=lambda w: (len(w), w)):
        for token in expand(word):
            found.setdefault(token, word)
    return found
