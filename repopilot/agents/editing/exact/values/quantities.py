"""Quantities and the numbers of code that stand for them, whatever the unit: `5 * 60`, `32 << 20`, `2**16`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from repopilot.agents.editing.exact.values.measures import UNITS

_TIME = {"ms": ("0.001",), "s": ("1",), "min": ("60",), "h": ("3600",), "d": ("86400",), "w": ("604800",)}
_SIZE = {"b": ("1",), "kb": ("1024", "1000"), "mb": (str(1024**2), str(1000**2)), "gb": (str(1024**3), str(1000**3))}
_SIZES: dict[str, tuple[str, tuple[Fraction, ...]]] = {
    **{unit: ("time", tuple(map(Fraction, sizes))) for unit, sizes in _TIME.items()},
    "mon": ("time", (Fraction(2_592_000), Fraction(2_678_400))),
    **{unit: ("size", tuple(map(Fraction, sizes))) for unit, sizes in _SIZE.items()},
    "": ("", (Fraction(1),)),
}
"""What a unit measures, and how much of a second or a byte it may be."""
_USUAL = {"time": ("s", "ms"), "size": ("b",), "": ("",)}
"""The units in which code counts that doesn't say which, likeliest first."""
_MOST_TIMES = 64
_ROUND = (Fraction(1000), Fraction(1024), Fraction(60), Fraction(24), Fraction(3600))
"""Factors that stand for a unit."""
_DIGITS = r"(?:0[xX][\da-fA-F][\da-fA-F_]*|0[oO]?[0-7][0-7_]*|\d[\d_]*(?:\.\d+)?)"
_IN_CODE = re.compile(
    rf"(?<![\w.$\"'`#-]){_DIGITS}(?:(?:u|i|f)(?:8|16|32|64|size)|n|L)?(?:\s*(?:\*\*?|<<)\s*{_DIGITS})*(?![\w.\"'`%])"
)
_CLOCK = re.compile(r"\s*\*\s*time\.(?P<unit>Second|Minute|Hour|Millisecond)\b")
_SAID = re.compile(
    r"(?<![\w.#/:-])(?P<digits>\d[\d_]*(?:\.\d+)?)(?P<gap>[ -]?)(?P<unit>[A-Za-z]+)?(?![\w+/]|[.,-]\d|-[a-z])"
)
"""A number in a comment, with the word behind it."""
_POWER = re.compile(r"(?P<base>[\w.]+)(?P<sign>\s*\*\*\s*)(?P<exponent>[\w.]+)")
_MOST_BITS = 64
_OCTAL = re.compile(r"0[oO]?[0-7]+")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the sign of its unit ('' for none), and where it stands in a text."""

    number: Fraction
    unit: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CodeNumber:
    """A number in code, or a product of numbers.

    Attributes:
        text: as it is written.
        start, end: its characters in the line.
        value: what it comes to.
        unit: the sign of the unit that it is multiplied by, as in `5 * time.Second`; '' for none.
    """

    text: str
    start: int
    end: int
    value: Fraction
    unit: str


def number_value(text: str) -> Fraction:
    """What a number comes to as code writes it: `0o644`, `1_000`, `3.0`, `10u64`."""
    plain = re.sub(r"(?:(?:u|i|f)(?:8|16|32|64|size)|n|L)\Z", "", text) if "x" not in text.lower() else text
    plain = plain.replace("_", "")
    if plain[:2].lower() == "0x":
        return Fraction(int(plain, 16))
    if _OCTAL.fullmatch(plain) and len(plain) > 1:
        return Fraction(int(plain.lower().replace("o", ""), 8))
    return Fraction(plain)


def code_numbers(line: str) -> Iterator[CodeNumber]:
    """The numbers of a line of code, products of them as one.

    Args:
        line: the line.
    """
    for match in _IN_CODE.finditer(line):
        value = _product(match[0])
        clock = _CLOCK.match(line, match.end())
        unit = {"Second": "s", "Minute": "min", "Hour": "h", "Millisecond": "ms"}[clock["unit"]] if clock else ""
        if value is not None:
            yield CodeNumber(match[0], match.start(), match.end(), value, unit)


def _product(text: str) -> Fraction | None:
    """What a product of numbers and powers comes to; None for one that is too large."""
    value = Fraction(1)
    for sign, factor in re.findall(r"(<<|(?<!\*)\*(?!\*)|^)\s*([\w.]+(?:\s*\*\*\s*[\w.]+)?)", text):
        power = _POWER.fullmatch(factor)
        exponent = number_value(power["exponent"]) if power is not None else Fraction(1)
        shift = number_value(factor) if sign == "<<" and power is None else Fraction(0)
        if not (0 <= exponent <= _MOST_BITS and exponent.denominator == 1 and 0 <= shift <= _MOST_BITS):
            return None
        plain = number_value(power["base"]) ** int(exponent) if power is not None else number_value(factor)
        value = value * 2 ** int(shift) if sign == "<<" else value * plain
    return value


def are_comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities measure the same: both times, both sizes, or both plain numbers."""
    return _SIZES[one.unit][0] == _SIZES[other.unit][0]


def is_size(quantity: Quantity) -> bool:
    """Whether a quantity is a number of bytes, kilobytes and so on."""
    return _SIZES[quantity.unit][0] == "size"


def exchanged_number(number: CodeNumber, unit: str, old: Quantity | None, new: Quantity) -> str | None:
    """A number of code as it is written when it becomes another quantity.

    Args:
        number: as it is.
        unit: the sign of the unit that the code says it counts; '' where it doesn't.
        old: the quantity that it must be; None for any.
        new: what it becomes; comparable with the old one.

    Returns:
        The text; None where the number isn't the old quantity, or the new one can't be written like it.
    """
    what, sizes = _SIZES[new.unit]
    sizes = tuple(sorted(sizes, key=lambda size: number.value % size != 0))  # 65536 is counted in 1024s
    if unit and _SIZES[unit][0] != what:
        return None
    texts = (
        _exchanged(number, counted, old, new.number * size)
        for counted in ((unit,) if unit else _USUAL[what])
        for size in sizes
    )
    return next((text for text in texts if text is not None), None)


def _exchanged(number: CodeNumber, counted: str, old: Quantity | None, amount: Fraction) -> str | None:
    """The text for an amount in the smallest unit, where code counts in a given one."""
    for one in _SIZES[counted][1]:
        if old is not None and number.value.denominator > 1 and one > 1 and counted not in ("s", "min"):
            continue
        if old is not None and number.value * one not in [old.number * size for size in _SIZES[old.unit][1]]:
            continue
        value = amount / one
        text = _like(number, value)
        if text is not None and (old is not None or _is_near(value, number.value)):
            return text
    return None


def _is_near(new: Fraction, old: Fraction) -> bool:
    """Whether a value may be in the unit of the one before: what is raised a hundred times is in another."""
    return old == 0 or Fraction(1, _MOST_TIMES) <= new / old <= _MOST_TIMES


def _like(number: CodeNumber, value: Fraction) -> str | None:
    """A value as a number of the same form: of a product one factor changes."""
    parts = re.split(r"(\s*(?:\*|<<)\s*)", number.text)
    if len(parts) == 1:
        return _written(value, number.text)
    if "**" in number.text:
        return _like_power(number.text, value)
    factors = range(0, len(parts), 2)
    for at in sorted(factors, key=lambda at: number_value(parts[at]) in _ROUND):
        shifts = at > 0 and "<<" in parts[at - 1]
        wanted = value / (number.value / number_value(parts[at])) if number_value(parts[at]) and not shifts else None
        if wanted is not None and wanted.denominator == 1:
            parts[at] = str(wanted)
            return "".join(parts)
    return None


def _like_power(text: str, value: Fraction) -> str | None:
    """A value in place of `2**16`: another power of two, else the number itself."""
    power = _POWER.fullmatch(text)
    if value.denominator > 1:
        return None
    bits = int(value).bit_length() - 1
    is_power = power is not None and power["base"] == "2" and value == 2**bits
    return f"2{power['sign']}{bits}" if power is not None and is_power else str(value)


def _written(value: Fraction, like: str) -> str | None:
    if like[:2].lower() == "0x":
        return f"{like[:2]}{int(value):x}" if value.denominator == 1 else None
    octal = _OCTAL.fullmatch(like) and len(like) > 1
    if value.denominator == 1:
        if octal:
            return f"{like[: 2 if like[1] in 'oO' else 1]}{int(value):o}"
        text = f"{int(value):_}" if "_" in like else str(int(value))
        suffix = re.search(r"(?:(?:u|i|f)(?:8|16|32|64|size)|n|L)\Z", like)
        return text + (".0" if "." in like else "") + (suffix[0] if suffix else "")
    text = repr(float(value))
    return None if octal or "e" in text else text


def exchanged_remark(remark: str, number: CodeNumber, new: str) -> str:
    """A comment that says a number of the code, when that becomes another: `# 5 minutes` beside `300`.

    Args:
        remark: the comment.
        number: of the code.
        new: the text that takes its place.
    """
    value = next((n.value for n in code_numbers(new)), None)
    if value is None or not number.value:
        return remark
    for match in reversed(list(_SAID.finditer(remark))):
        unit = UNITS.get((match["unit"] or "").lower(), "")
        quantity = Quantity(number_value(match["digits"]), unit, match.start(), match.end())
        said = quantity.number * value / number.value
        if said.denominator > 1 or not _is_said(quantity, number):
            continue
        word = match["unit"] or ""
        if len(word) > 3 and unit:  # a word, not a sign
            word = word.removesuffix("s") if said == 1 else f"{word}s" if quantity.number == 1 else word
        remark = f"{remark[: match.start()]}{said}{match['gap']}{word}{remark[match.end() :]}"
    return remark


def _is_said(quantity: Quantity, number: CodeNumber) -> bool:
    """Whether a quantity is a number of the code, in whatever unit that counts."""
    what, sizes = _SIZES[quantity.unit]
    counted = {one for measured, ones in _SIZES.values() if measured == what for one in ones}
    return any(quantity.number * size == number.value * one for size in sizes for one in counted)


def same_unit(one: Quantity, other: Quantity) -> tuple[Quantity, Quantity]:
    """Two quantities, of which one may have no unit because the other has it.

    Args:
        one: a quantity.
        other: the other.
    """
    return replace(one, unit=one.unit or other.unit), replace(other, unit=other.unit or one.unit)
