"""Units of time and size in tasks and beside values: a number in another unit is another value. Pure."""

from __future__ import annotations

import re
from fractions import Fraction

UNITS = {
    word: unit
    for unit, words in {
        "s": "s sec secs second seconds seconde secondes",
        "ms": "ms millis millisecond milliseconds milliseconde millisecondes",
        "min": "min mins minute minutes",
        "h": "h hr hour hours heure heures",
        "d": "d day days jour jours",
        "w": "week weeks semaine semaines",
        "mon": "month months mois",
        "b": "b byte bytes octet octets",
        "kb": "kb kib kilobyte kilobytes ko",
        "mb": "mb mib megabyte megabytes mo",
        "gb": "gb gib gigabyte gigabytes go",
    }.items()
    for word in words.split()
}
_PLAIN = frozenset(("s", "b"))
"""The units that a value has where nothing says otherwise."""
_SECONDS = {
    "s": Fraction(1),
    "ms": Fraction(1, 1000),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86_400),
}
_MOST_TIMES = 100
"""How much a value is likely raised or lowered at once; what is farther is in another unit."""
_WITH_UNIT = re.compile(
    r"(?P<quote>[\"'`]?)(?P<number>\d[\d_.]*)(?P<gap>\s*(?:\*\s*time\.)?)(?P<unit>[A-Za-z]+)(?P=quote)"
)


def unit_of(words: str) -> str:
    """The unit at the end of a value: of `30 seconds` and `30s` it is `s`.

    Args:
        words: a value as a task has it.

    Returns:
        The unit's sign, '' for none.
    """
    match = re.fullmatch(r"[\"'`]?-?\d[\d_.]*\s*(?P<unit>[A-Za-z]+)[\"'`]?", words.strip())
    return UNITS.get(match["unit"].lower(), "") if match else ""


def in_unit(number: str, unit: str, old: str, around: str) -> str | None:
    """A number as the value that replaces an old one.

    Args:
        number: of the task, without its unit.
        unit: of the task, from `unit_of`.
        old: the old value's text.
        around: the name of the value and the comment beside it.

    Returns:
        The text; None where the old value may be in a unit that code can't convert to.
    """
    match = _WITH_UNIT.fullmatch(old)
    if match:
        new = _converted(number, unit, UNITS.get(match["unit"].lower(), ""))
        return f"{match['quote']}{new}{match['gap']}{match['unit']}{match['quote']}" if new else None
    words = re.sub(r"\b(?:min|MIN)(?=_|[A-Z])", "", around)  # the least of something
    parts = [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", words)]
    named = {UNITS[w] for w in parts if w in UNITS and len(w) > 1}
    said = {u for u in named if _says(around, u, old)}
    named -= said
    own = next(iter(named)) if len(named) == 1 else unit if unit in (named or _PLAIN) else "s" if said else ""
    new = _converted(number, unit, own)
    return new if new and (named or _is_near(new, old)) else None


def _says(around: str, unit: str, old: str) -> bool:
    """Whether a comment says the old value in another unit: `300  # 5 minutes`."""
    said = re.search(r"(\d+)\s*([A-Za-z]+)", around)
    return said is not None and UNITS.get(said[2].lower()) == unit and _converted(said[1], unit, "s") == old


def _converted(number: str, unit: str, own: str) -> str:
    """A number of one unit in another, where that comes to a whole number of it; '' for none."""
    if unit == own:
        return number
    if unit not in _SECONDS or own not in _SECONDS or not re.fullmatch(r"[\d_]+", number):
        return ""
    result = Fraction(int(number)) * _SECONDS[unit] / _SECONDS[own]
    return str(result) if result.denominator == 1 else ""


def _is_near(new: str, old: str) -> bool:
    """Whether a value without a named unit may be in the same one as before: JavaScript counts in milliseconds."""
    if not all(re.fullmatch(r"[\d_]*\.?\d+", value) for value in (new, old)):
        return True
    ratio = float(new) / float(old) if float(old) else 1.0
    return 1 / _MOST_TIMES <= ratio <= _MOST_TIMES
