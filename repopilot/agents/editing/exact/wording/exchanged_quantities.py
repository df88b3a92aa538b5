"""Which quantity a task wants in place of which: `ten minutes instead of five`, `10 is not enough … 20`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from repopilot.agents.editing.exact.values.quantities import Quantity, are_comparable, same_unit
from repopilot.agents.editing.exact.wording.said_quantities import quantities
from repopilot.agents.editing.exact.wording.task_tokens import folded

_OLD, _NEW = r"#(?P<old>\d+)#", r"#(?P<new>\d+)#"
_WORDS = r"(?:[^\s#.;]+ ){0,7}?"
_EXCHANGES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:from|de) {_OLD}(?: \S+)? (?:up |down |back )?(?:to|a|into) {_NEW}",
        rf"{_NEW},? {_WORDS}(?:instead of|rather than|and not|not|au lieu d[e']|plutot que|et non(?: pas)?) ?"
        rf"(?:the |its |current |old |today's |every |any |all the |une |les |la |le |just |only )*{_OLD}",
        rf"\b(?:instead of|rather than|au lieu d[e']|plutot que) ?(?:the |current |les )*{_OLD},? {_WORDS}{_NEW}",
        rf"{_OLD} {_WORDS}(?:(?:is|are|isn't|aren't|seems?|n'est|ne sont|est|sont) (?:\S+ ){{0,2}}(?:enough|too|"
        rf"pas assez|trop|suffisant\w*|frozen|(?:short|low|small|high|long|tight)\b)|(?:looks|feels) too)[^#]*{_NEW}",
        rf"\bonly {_WORDS}{_OLD}[^#]*{_NEW}",
        rf"\b(?:up to|after|for|at|of) {_OLD} [^#]*\b(?:to|at|of|after) {_NEW}",
    )
)
_SETS = re.compile(
    r"\b(?:rais\w+|lower\w*|increas\w+|decreas\w+|reduc\w+|bump\w*|cut|limit\w*|cap|set|chang\w+|make|doubl\w+|halve|"
    r"lift|extend|shorten|up|should|must|ought|let's|better|use|allow|augment\w+|baiss\w+|redui\w+|mon?te\w*|pass\w+|"
    r"mets|mettre|fix\w+|doit|doivent|devrai\w+|port\w+|releve\w*)\b"
)
_BECOMES = re.compile(rf"\b(?:to|at|be|after|a|etre|up to|(?:make|set|cap|limit) [^#.;]{{3,60}}) {_NEW}")
_MORE = re.compile(
    r"\b(?:and|et|,) (?:also |then |please |aussi )*(?:say|document|mention|add|ajoute\w*|update|drop|remove|rename|"
    r"note|dis|documente\w*|return|raise an?|leve|log|warn|keep (?:a|the)|emit|make|use)\b|"
    r"\b(?:messages?|docstrings?|readme|comments?|prints?|says?|renam\w*|renomm\w*|mov(?:e|es|ing)|deplac\w*|swap|"
    r"capitali[sz]\w+|add|introduce|ajoute\w*|new|nouve\w+|option\w*|flag|configurable|param\w+ to|remove|"
    r"supprime\w*|(?<!see )(?<!as )(?<!even )if|when it|unless the|whenever|"
    r"lines? of|tests?|line \d|versions?|python|node|release)\b"
)
"""Words of tasks that ask for more than another number."""
_MOST_QUANTITIES = 4
_IN_ORDER, _REVERSED = 1.0, 0.8
"""What it is worth that a number has the old value, where the task tells the old one first and where the new one."""


@dataclass(frozen=True, slots=True)
class ExchangedQuantity:
    """An exchange that a task may ask for.

    Attributes:
        new: the quantity that is wanted.
        old: the one it replaces, None where the task doesn't say.
        certain: whether the task says so in so many words.
        worth: how much it speaks for a number in the code that it fits.
    """

    new: Quantity
    old: Quantity | None
    certain: bool
    worth: float


def exchanged_quantities(task: str) -> list[ExchangedQuantity]:
    """The exchanges of quantities that a task may ask for.

    Args:
        task: on one line.

    Returns:
        The exchanges, likeliest first, only the certain one where there is one; [] where the task asks for more.
    """
    text = folded(re.sub(r"[`\"“”«»]", "", task))
    found = quantities(text)
    words = "".join(_marked(text, found))
    if not 0 < len(found) <= _MOST_QUANTITIES or _MORE.search(re.sub(r"\([^()]*\)", " ", words)):
        return []
    told = _told_old(words, found)
    return [told] if told is not None else _pairs(found) or _only_new(words, found)


def _marked(text: str, found: Sequence[Quantity]) -> list[str]:
    """The text with its quantities numbered: `from #0# to #1#`."""
    pieces, at = [], 0
    for number, quantity in enumerate(found):
        pieces += [text[at : quantity.start], f"#{number}#"]
        at = quantity.end
    return [*pieces, text[at:]]


def _told_old(words: str, found: Sequence[Quantity]) -> ExchangedQuantity | None:
    for pattern in _EXCHANGES:
        match = pattern.search(words)
        if match is not None:
            return _exchange(found[int(match["old"])], found[int(match["new"])], certain=True)
    return None


def _exchange(old: Quantity, new: Quantity, *, certain: bool) -> ExchangedQuantity | None:
    worth = _IN_ORDER if certain or old.start < new.start else _REVERSED
    old, new = same_unit(old, new)
    differ = (old.number, old.unit) != (new.number, new.unit)
    return ExchangedQuantity(new, old, certain, worth) if differ and are_comparable(old, new) else None


def _pairs(found: Sequence[Quantity]) -> list[ExchangedQuantity]:
    """Any quantity for any other; what is told last is mostly the new one."""
    pairs = sorted(permutations(found, 2), key=lambda pair: (pair[0].start > pair[1].start, -pair[1].start))
    exchanges = (_exchange(old, new, certain=False) for old, new in pairs)
    return [exchange for exchange in exchanges if exchange is not None]


def _only_new(words: str, found: Sequence[Quantity]) -> list[ExchangedQuantity]:
    """The last quantity, for whatever stands there."""
    outside = re.sub(r"\([^()]*\)", " ", words)
    told = [int(number) for number in re.findall(r"#(\d+)#", outside)]
    if not told:
        return []
    certain = len(told) == 1 and _SETS.search(outside) is not None and _BECOMES.search(outside) is not None
    return [ExchangedQuantity(found[told[-1]], None, certain, 0.0)]
