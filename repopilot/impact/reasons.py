"""Why a file is on the list of those a change will probably touch, in words."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence

from repopilot.impact.change import Change
from repopilot.impact.co_change import LEAST_TOGETHER, Together
from repopilot.impact.codebase import Codebase
from repopilot.impact.dependents import Covering, Reached, used_by_change
from repopilot.impact.rank_files import WEIGHTS, Ranked
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words

_LONGEST_TEXT = 200_000
_WORDS = 4
_TELLING = 3
_SAYS_NOTHING = frozenset(map(str.lower, keyword.kwlist)) | frozenset(
    "self cls obj str int dict list tuple bool float args kwargs err res ret tmp val null undefined function const let "
    "var new this void public private static final func nil struct impl pub use mut".split()
)


def with_reasons(index: Index, base: Codebase, changes: Sequence[Change], ranked: Sequence[Ranked],
                 found: Sequence[Reached], tests: Sequence[Covering],
                 together: Sequence[Together]) -> list[dict]:  # fmt: skip
    """The ranked files as items of the report: {path, score, distance, reasons}."""
    nearest: dict[str, Reached] = {}
    for item in found:
        nearest.setdefault(item.path, item)
    covers = {c.path: c for c in tests}
    shared = {t.path: t for t in together}
    used = used_by_change(base, changes)
    result = []
    shows = _words_shown(index, changes)
    for item in ranked:
        reasons, distance = [], None
        if item.path in nearest:
            distance, reasons = nearest[item.path].distance, [nearest[item.path].reason]
        if item.path in covers and covers[item.path].reason not in reasons:
            distance, reasons = distance or covers[item.path].distance, [*reasons, covers[item.path].reason]
        if item.path in used:
            distance, reasons = distance or 1, [*reasons, used[item.path]]
        if item.path in shared and shared[item.path].together >= LEAST_TOGETHER:
            reasons.append(f"changed along in {shared[item.path].together} of {shared[item.path].of} commits")
        if not reasons or item.signals.get("file text", 0) > 0.5:
            alike = _likeness(base, changes, item, shows)
            once = "changed along once" if item.path in shared and not reasons else ""
            reasons.append(alike or once or ("" if reasons else _without_tie(base, changes, item, shows)))
        result.append(
            {"path": item.path, "score": item.score, "distance": distance, "reasons": [r for r in reasons if r]}
        )
    return result


def _likeness(base: Codebase, changes: Sequence[Change], item: Ranked, shows: Mapping[str, str]) -> str:
    words = _common(base, changes, item, shows) if item.signals.get("file text", 0) > 0.1 else ""
    if words:
        return f"talks of the same things: {words}"
    return "its path is like that of the change" if item.signals.get("path", 0) > 0.3 else ""


def _without_tie(base: Codebase, changes: Sequence[Change], item: Ranked, shows: Mapping[str, str]) -> str:
    """What put a file on the list that nothing specific ties to the change."""
    shares = {
        name: WEIGHTS[name] * item.signals.get(name, 0.0) for name in ("symbol text", "file text", "path", "size")
    }
    most = max(shares, key=lambda name: shares[name])
    words = _common(base, changes, item, shows)
    if most == "path":
        return "no direct tie found: ranked mostly by its path"
    if most == "size" or not words:
        return "no direct tie found: ranked mostly by its size"
    return f"no direct tie found: shares some words ({words})"


def _common(base: Codebase, changes: Sequence[Change], item: Ranked, shows: Mapping[str, str]) -> str:
    """The words that make a file like the first changed one, as they are written there; '' when there are none."""
    numbers = [base.graph.by_path[c.path] for c in changes if c.path in base.graph.by_path]
    if not numbers:
        return ""
    tokens = base.likeness.shared(numbers[0], base.graph.by_path[item.path], 3 * _WORDS)
    return ", ".join(list(dict.fromkeys(shows[t] for t in tokens if t in shows))[:_WORDS])


def _words_shown(index: Index, changes: Sequence[Change]) -> dict[str, str]:
    """For each index token of the first changed file (a stem, mostly) the shortest word it stands for there."""
    text = next((text for c in changes if (text := index.text(c.path))), "")
    found: dict[str, str] = {}
    telling = {w for w in words(text[:_LONGEST_TEXT]) if len(w) >= _TELLING and w.lower() not in _SAYS_NOTHING}
    for word in sorted(telling, key=lambda w: (len(w), w)):
        for token in expand(word):
            found.setdefault(token, word)
    return found
