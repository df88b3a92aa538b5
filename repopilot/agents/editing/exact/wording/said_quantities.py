"""Quantities in prose, English or French: `ten minutes`, `half a second`, `64 Ko`, `four thousand`. Pure."""

from __future__ import annotations

import re
from fractions import Fraction

from repopilot.agents.editing.exact.values.measures import UNITS
from repopilot.agents.editing.exact.values.quantities import Quantity, number_value
from repopilot.agents.editing.exact.wording.lexicon import FRENCH_NUMBERS, NUMBERS

_TIMES = {"thousand": 1000, "mille": 1000, "hundred": 100, "cent": 100, "cents": 100, "million": 1_000_000}
_UNIT_WORDS, _UNIT_SIGNS = (
    "|".join(sorted((word for word in UNITS if (len(word) > 2) == long), key=len, reverse=True))
    for long in (True, False)
)
_NUMBER_WORDS = "|".join(sorted((*NUMBERS, *FRENCH_NUMBERS), key=len, reverse=True))
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_IN_PROSE = re.compile(
    rf"(?<![\w.#/:-])(?:(?P<share>half(?: an?)?|une demi[- ]?e?|(?:a )?quarter of an?|un quart d[e'])[ -]?"
    rf"|(?P<one>an?|one|une?|the \w+|la|le|chaque|every|per|each|par)[ -](?=(?:{_UNIT_WORDS})\b)"
    rf"|(?P<digits>\d(?:[\d_]|,(?=\d{{3}}\b)| (?=000\b))*(?:\.\d+)?)"
    rf"|(?:(?P<tens>{_TENS})-)?(?P<word>{_NUMBER_WORDS})\b|(?P<bare>(?:a )?(?=(?:thousand|hundred|mille)\b)))"
    rf"(?:[ -]?(?P<times>thousand|hundred|million|mille|cents?)\b)?"
    rf"(?:(?:(?<=[ -'])|\s?-?\s?)(?P<unit>{_UNIT_WORDS}|(?:(?<=\d)|(?<=\d[ -]))(?:{_UNIT_SIGNS}))\b)?"
    rf"(?![\w/]|[.,-]\d|-[a-z]|\+|\s?(?:%|per ?cent\b|pour ?cent\b))"
)


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text in English or French, without names that hold digits, versions and references.

    Args:
        text: the text, folded.
    """
    found = []
    for match in _IN_PROSE.finditer(text):
        if match["unit"] is None and (match["share"] or match["one"]):
            continue
        found.append(Quantity(_number(match), UNITS.get(match["unit"] or "", ""), match.start(), match.end()))
    return found


def _number(match: re.Match[str]) -> Fraction:
    number = Fraction(1)
    if match["share"]:
        number = Fraction(1, 4) if "quart" in match["share"] else Fraction(1, 2)
    elif match["digits"]:
        number = number_value(re.sub("[, ]", "", match["digits"]))
    elif match["word"]:
        number = Fraction(NUMBERS.get(match["word"]) or FRENCH_NUMBERS[match["word"]])
        number += Fraction(NUMBERS[match["tens"]]) if match["tens"] else 0
    return number * _TIMES[match["times"]] if match["times"] else number
