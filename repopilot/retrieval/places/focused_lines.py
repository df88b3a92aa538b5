"""The lines of a place that bear on a question. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from repopilot.index.tokens import tokens_of

TELLING = 1.15
"""A line that decides, sets, raises or returns something counts this much more than another with the same words."""
ANY_TELLING = 0.1
"""What such a line gets in addition, even without a word of the question, as a share of the rarest word's weight."""
NAMED = 0.3
"""What a line gets in addition for a name from the best lines, as a share of the rarest word's weight."""
_BEST = 3
_LEAST_NAME = 4
_TELLING = re.compile(
    r"\b(?:raise|throw|return|panic|default|def|class|func|fn|const|enum|if|case|when|match|assert|error)\b"
    r"|==|=>|[:=]\s*[\"'\d]"
)
_NAME = re.compile(r"[A-Za-z_]\w*")


def focused_lines(
    lines: Sequence[str], scores: Sequence[float], heaviest: float, count: int, always: Iterable[int] = ()
) -> list[int]:
    """Choose the lines of a place that say most about a question.

    Args:
        lines: all lines of the place.
        scores: the score of each line, as `line_scores` gives it.
        heaviest: the weight of the question's rarest token.
        count: how many lines at most.
        always: indices of lines to show in any case, such as signatures, as long as there is room.

    Returns:
        Indices, ascending; all of them where the place is short enough.
    """
    if len(lines) <= count:
        return list(range(len(lines)))
    order = sorted(range(len(lines)), key=lambda number: -scores[number])
    names = _names(lines[number] for number in order[:_BEST] if scores[number] > 0)
    order.sort(key=lambda number: -(scores[number] + NAMED * heaviest * bool(names & _names([lines[number]]))))
    chosen = list(dict.fromkeys([*[number for number in always if 0 <= number < len(lines)], *order]))[:count]
    return sorted(chosen)


def line_scores(lines: Sequence[str], weights: Mapping[str, float]) -> list[float]:
    """Score each line: the weights of the question's tokens in it, more if the line decides or sets something.

    Args:
        lines: the lines.
        weights: the tokens of the question with their weights.
    """
    least = ANY_TELLING * max(weights.values(), default=0.0)
    return [_score(line, weights, least) for line in lines]


def _score(line: str, weights: Mapping[str, float], least: float) -> float:
    if not any(character.isalnum() for character in line):
        return -1.0
    # An exact sum: the order of a set differs between processes, and ties decide which lines are shown.
    found = fsum(weights[token] for token in tokens_of(line) if token in weights)
    return found * TELLING + least if _TELLING.search(line) else found


def _names(lines: Iterable[str]) -> set[str]:
    """Identifiers of several words: others are too common to lead anywhere."""
    found = {name for line in lines for name in _NAME.findall(line) if len(name) >= _LEAST_NAME}
    return {name for name in found if "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name)}
