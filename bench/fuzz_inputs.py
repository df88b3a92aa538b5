"""Inputs for the fuzzer: texts of real repositories, changed by bytes, by nesting, by length and by encoding. Pure.

An input follows from the corpus, the name of its target, a seed and its number alone, so any of them can be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

LARGE = 1 << 20
"""Bytes: the largest file that is indexed by default."""
ORDINARY = 24_000
"""Bytes of most inputs: small ones find as many faults in less time."""
_MOST_CHANGES = 6

_OPENERS = (
    b"(",
    b"[",
    b"{",
    b"[{",
    b"((",
    b"<a>",
    b"if x:\n ",
    b"- ",
    b"> ",
    b"f(",
    b"!",
    b"~",
    b"/*",
    b"`",
    b'"',
    b"{[(",
)
_OPENERS += (b"\\", b"*", b"a.", b"a->", b"lambda:", b"not ", b"-", b"else if (a) {", b'{"a":', b"[[", b"<<", b"```\n")
_MARKS = (
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\r",
    b"\x0c",
)
_MARKS += (
    b"\x0b",
    b"\x1c",
    b"\x1e",
    b"\x1f",
    b"\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
    b"\xe2\x81\xa6",
    b"\xf0\x9f\x92\xa9",
)
_MARKS += (
    b"\xcc\x81",
    b"\xc4\xb0",
    b"\xef\xac\x81",
    b"\xd9\xa1",
    b"\xe0\xb9\x91",
    b"\xc2\xb2",
    b"\x1b[2J",
    b"\t",
    b"\\",
    b"'''",
    b"%s",
)
_NUMBERS = (b"0", b"-1", b"1e999", b"NaN", b"99999999999999999999", b"9" * 5000, b"0x", b"1_0", b"-0", b"2147483648")
_ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "cp037")

Change = Callable[[bytearray, Random, Sequence[bytes]], bytearray]


def input_of(corpus: Sequence[bytes], target: str, seed: int, number: int) -> bytes:
    """Make one input.

    Args:
        corpus: the texts that inputs begin as.
        target: the name of what will read it.
        seed: of the run.
        number: of the input in the run.

    Returns:
        The input; about one in a hundred is as large as a file may be.
    """
    random = Random(f"{target}:{seed}:{number}")
    data = _part(bytearray(random.choice(corpus)), random)
    for _ in range(random.randint(1, _MOST_CHANGES)):
        data = random.choice(_CHANGES)(data, random, corpus)
    return bytes(data[: LARGE if random.random() < 0.01 else ORDINARY])


def _part(data: bytearray, random: Random) -> bytearray:
    """The text, or a part of it where it is long: changes then meet what is read."""
    if len(data) <= 4_000:
        return data
    start = random.randrange(len(data) - 2_000) if random.random() < 0.5 else 0
    return data[start : start + random.randint(500, ORDINARY)]


def _place(data: bytearray, random: Random) -> int:
    return random.randint(0, len(data))


def _flip(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    highest = 256 if random.random() < 0.2 else 128  # mostly still UTF-8, and then read
    for _ in range(random.randint(1, 8) if data else 0):
        data[random.randrange(len(data))] = random.randrange(9, highest)
    return data


def _insert_mark(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    for _ in range(random.randint(1, 4)):
        at = _place(data, random)
        data[at:at] = random.choice(_MARKS)
    return data


def _delete(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    at = _place(data, random)
    del data[at : at + random.choice((1, 2, 10, 100, 1000))]
    return data


def _cut(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    return data[: _place(data, random)]


def _nest(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    at = _place(data, random) if random.random() < 0.7 else 0
    data[at:at] = random.choice(_OPENERS) * random.choice((2, 50, 300, 3_000, 12_000))
    return data


def _repeat(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    start = _place(data, random)
    part = data[start : start + random.choice((1, 3, 20, 200))]
    times = random.choice((2, 30, 1_000, LARGE // max(1, len(part))))
    data[start:start] = part * times
    return data


def _long_line(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    return bytearray(data.replace(b"\n", random.choice((b" ", b"", b";", b"\r"))))


def _mixed_newlines(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    ends = (b"\n", b"\r\n", b"\r", b"\n\r", b"\x0b\n", b"\xe2\x80\xa8")
    return bytearray(b"".join(line + random.choice(ends) for line in data.split(b"\n")[:3_000]))


def _shuffle_lines(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    lines = data.split(b"\n")
    random.shuffle(lines)
    return bytearray(b"\n".join(lines))


def _splice(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    other = random.choice(corpus)
    start, at = random.randint(0, len(other)), _place(data, random)
    data[at:at] = other[start : start + random.choice((20, 200, 2_000))]
    return data


def _reencode(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    if random.random() < 0.7:
        return bytearray(data.decode("utf-8", "ignore").encode())
    return bytearray(data.decode("utf-8", "replace").encode(random.choice(_ENCODINGS), "replace"))


def _number(data: bytearray, random: Random, corpus: Sequence[bytes]) -> bytearray:
    digits = [at for at, byte in enumerate(data[:5_000]) if 48 <= byte <= 57]
    at = random.choice(digits) if digits else _place(data, random)
    data[at : at + 1] = random.choice(_NUMBERS)
    return data


_CHANGES: tuple[Change, ...] = (
    _flip,
    _insert_mark,
    _delete,
    _cut,
    _nest,
    _repeat,
    _long_line,
    _mixed_newlines,
    _shuffle_lines,
    _splice,
    _reencode,
    _number,
)
