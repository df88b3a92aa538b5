"""A misspelt word that nothing is defined as put right: in text, or a name that code uses, as in `set.issupserset`."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator

from repopilot.agents.editing.exact.declared_fields import declared_fields
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.grounded_shapes import likeness
from repopilot.agents.editing.exact.intents.task_mentions import TaskMentions, parameters_of

MISSPELT = re.compile(r"\b(?:mis-?sp\w+|typos?|spell(?:ing|ed|t)\b|spelt|faute|coquille|orthograph\w*)\b")
"""What says, in folded words, that a name is written wrong."""
_NAME = re.compile(r"(?<!\w)[A-Za-z_]\w{4,}(?!\w)")
_ALIKE = 0.8
"""How much of a misspelt name is right."""
_RIGHT = re.compile(
    r"\b(?:to|be|as|en|into|instead of|is|par)\s+(?:the\s+)?[`\"'«]?[\w.]*$|(?:->|=>|→)\s*[`\"'«]?[\w.]*$"
)
"""What stands before the right spelling."""


def misspelt_use_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The correction of a misspelt word, where a task has both spellings, or where the repository writes the word
    otherwise: in the files that it names, or whose definitions it names, else everywhere.

    Args:
        task: with its mentions.
    """
    if not MISSPELT.search(task.words):
        return
    names = dict.fromkeys(match[0] for match in _NAME.finditer(task.text))
    pairs = [pair for pair in itertools.permutations(names, 2) if _is_correction(*pair, task)]
    pairs = pairs or list(_alone(task))
    if len(pairs) != 1:
        return
    wrong, right = pairs[0]
    held = task.sources.mentioning(wrong)
    meant = {m.path for m in task.files} | {s.path for m in task.definitions for s in m.symbols if m.last != right}
    named = [path for path in held if path in meant]
    yield [ExactTask("replace_text", "", "", right, wrong, (NamedPlace(path, "file"),)) for path in named or held]


def _is_correction(wrong: str, right: str, task: TaskMentions) -> bool:
    """Whether nothing is defined as `wrong`, and `right`, nearly the same, is defined or said to be right."""
    if likeness(wrong, right) < _ALIKE or wrong.lower() == right.lower():
        return False
    index = task.sources.workspace.index
    passed = (name for m in task.functions() for s in m.symbols for name in parameters_of(s, task.sources))
    if index.symbols(wrong) or declared_fields(wrong, task.sources) or wrong in passed:
        return False
    said = re.finditer(rf"(?<!\w){re.escape(right)}(?!\w)", task.text)
    told = any(_RIGHT.search(task.text[: m.start()]) for m in said)
    return (bool(index.symbols(right)) or told) and bool(task.sources.mentioning(wrong))


_WORD = r"(?P<{0}>[a-z]{{5,}})"
_CALLED_WRONG = re.compile(
    r"\b(?:typos?|mis-?sp\w+(?: words?)?|faute|coquille)\s*:?\s+(?:(?:in )?the words?\s+)?(?:"
    rf"[`\"'«]\s?{_WORD.format('quoted')}\s?[`\"'»]|{_WORD.format('bare')}(?=[.!]?$|,? (?:in|dans) ))"
    rf"|[`\"'«]?\b{_WORD.format('subject')}[`\"'»]? (?:is|est) (?:an? |une )?(?:typo|mis-?sp\w+|faute|coquille)"
)
"""A word that a task calls wrong: `the typo "recieve"`."""
_SEEN, _TIMES_AS_OFTEN = 2, 3
"""How often a word is in the repository that is right, and how many times as often as another one."""


def _alone(task: TaskMentions) -> Iterator[tuple[str, str]]:
    """A word that a task calls wrong, and the one of the repository that differs in one letter, or two exchanged."""
    match = _CALLED_WRONG.search(task.text)
    wrong = next((word for word in match.groups() if word), "") if match else ""
    if not wrong or task.sources.workspace.index.symbols(wrong) or not task.sources.mentioning(wrong):
        return
    index = task.sources.workspace.index
    seen = Counter(w for path in index.files for w in re.findall(r"(?<![A-Za-z_])[a-z]{4,}", index.text(path) or ""))
    near = [word for word, count in seen.most_common() if count >= _SEEN and _one_apart(wrong, word)]
    if near and seen[near[0]] > seen[wrong] and all(_TIMES_AS_OFTEN * seen[n] <= seen[near[0]] for n in near[1:2]):
        yield wrong, near[0]


def _one_apart(one: str, other: str) -> bool:
    """Whether one letter is too much, missing, or another one, or two neighbours are exchanged."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next((n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a == b[1:] or a[1:] == b or (a[:2] == b[1::-1] and len(b) > 1 and a[2:] == b[2:])
