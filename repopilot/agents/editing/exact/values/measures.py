"""Units of time and size in tasks and beside values: a number in another unit is another value. Pure."""

from __future__ import annotations

import re

_UNITS = {
    word: unit
    for unit, words in {
        "s": "s sec secs second seconds seconde secondes",
        "ms": "ms millis millisecond milliseconds milliseconde millisecondes",
        "min": "min mins minute minutes",
        "h": "h hr hour hours heure heures",
        "d": "d day days jour jours",
        "b": "b byte bytes octet octets",
        "kb": "kb kib kilobyte kilobytes ko",
        "mb": "mb mib megabyte megabytes mo",
        "gb": "gb gib gigabyte gigabytes go",
    }.items()
    for word in words.split()
}
_PLAIN = frozenset(("s", "b"))
"""The units that a value has where nothing says otherwise."""
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
    return _UNITS.get(match["unit"].lower(), "") if match else ""


def in_unit(number: str, unit: str, old: str, around: str) -> str | None:
    """A number as the value that replaces an old one.

    Args:
        number: of the task, without its unit.
        unit: of the task, from `unit_of`.
        old: the old value's text.
        around: the name of the value and the comment beside it.

    Returns:
        The text; None where the old value is, or may be, in another unit.
    """
    match = _WITH_UNIT.fullmatch(old)
    if match:
        same = _UNITS.get(match["unit"].lower()) == unit
        return f"{match['quote']}{number}{match['gap']}{match['unit']}{match['quote']}" if same else None
    named = {
        _UNITS[w.lower()] for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", around) if w.lower() in _UNITS and len(w) > 1
    }
    fits = unit in named if named else unit in _PLAIN
    return number if fits else None
