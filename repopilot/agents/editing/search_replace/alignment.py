"""The lines that a small model repeats or leaves out by mistake around those it changes. Pure."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

from repopilot.agents.editing.exact.wording.task_tokens import folded
from repopilot.index.tokens import tokens_of

REMOVING = re.compile(
    r"\b(?:remov\w*|delet\w*|drop\w*|supprim\w*|retir\w*|enlev\w*|replac\w*|remplac\w*|without|no longer|instead|"
    r"strip\w*|get rid|simplif\w*|inlin\w*|not needed|unused|superflu\w*|obsolete|dead|"
    r"(?:can|could|may|should|must|to) go|goes? away)\b"
)
_ADDING = re.compile(r"\b(?:add\w*|ajout\w*|append\w*|includ\w*|inclu\w*|insert\w*|introduc\w*)\b")
_ALIKE = 0.5
"""From which likeness on a new line is an old one, changed."""
_CLOSING = re.compile(r"\s*(?:[)\]}]+[,;]?|end)?\s*")
_MOST_REPEATED = 8
"""Lines."""


def with_repeated(old: Sequence[str], new: Sequence[str], following: Sequence[str]) -> tuple[str, ...]:
    """The old lines with as many of the following ones as the new lines go on to repeat.

    Args:
        old: the lines to be replaced.
        new: what is to stand there.
        following: what stands below the old lines.
    """
    counts = range(min(_MOST_REPEATED, len(following)) + 1)
    best = min(counts, key=lambda count: _distance([*old, *following[:count]], new))
    return (*old, *following[:best])


def with_indentation(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The new lines, shifted as far as those of them stand off that are old ones but for their indentation.

    Args:
        old: the lines to be replaced.
        new: what is to stand there.
    """
    depths = {line.strip(): _depth(line) for line in old if line.strip()}
    pairs = Counter((_depth(line), depths[line.strip()]) for line in new if line.strip() in depths)
    if not pairs or any(wrong == right for wrong, right in pairs):
        return tuple(new)
    wrong, right = pairs.most_common(1)[0][0]
    if right.startswith(wrong):
        return tuple(right.removesuffix(wrong) + line if line.strip() else line for line in new)
    off = wrong.removeprefix(right) if wrong.startswith(right) else ""
    return tuple(line.removeprefix(off) for line in new)


def _depth(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _distance(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of lines that are in one of the two only."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return len(old) + len(new) - 2 * sum(block.size for block in matcher.get_matching_blocks())


def with_left_out(old: Sequence[str], new: Sequence[str], task: str) -> tuple[str, ...]:
    """The new lines, and the old ones that they leave out though the task removes nothing.

    Args:
        old: the lines to be replaced.
        new: what is to stand there.
        task: on one line.
    """
    if REMOVING.search(folded(task)):
        return tuple(new)
    adding = _ADDING.search(folded(task)) is not None
    result: list[str] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, begin, stop in matcher.get_opcodes():
        before, after = old[start:end], new[begin:stop]
        if tag in ("equal", "delete"):
            result += before
            continue
        stays = [line for line in before if line.strip() and not _goes_on(line, after, task, adding=adding)]
        closing = len(stays)
        while closing and _CLOSING.fullmatch(stays[closing - 1]):
            closing -= 1
        result += [*stays[:closing], *after, *stays[closing:]]
    return tuple(result)


def _goes_on(line: str, new: Sequence[str], task: str, *, adding: bool) -> bool:
    """Whether a line is in the new ones, changed; where something is added, losing only what the task names."""
    alike = [n for n in new if difflib.SequenceMatcher(None, line.strip(), n.strip(), autojunk=False).ratio() > _ALIKE]
    if not alike or not adding:
        return bool(alike)
    lost = set(re.findall(r"\w+", line)) - set(re.findall(r"\w+", "\n".join(new)))
    return not lost or bool(tokens_of(" ".join(lost)) & tokens_of(task))
