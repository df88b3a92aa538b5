"""Which lines of the repository a task is likely about, whatever they define. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from repopilot.code.languages import file_kind, is_test_path
from repopilot.index.tokens import tokens_of
from repopilot.types import Symbol

MOST_LINES, MOST_EXCERPTS = 44, 4
_AROUND = 5
"""Lines shown above and below the best one."""
_NEAR = 6
"""Lines within which the words of a task support each other."""
_CHANGEABLE = 3
"""A line may be replaced that is so near to one with a word of the task."""
_HEAD, _MOST_HEADS = 14, 2
"""Lines shown of a named file without a word of the task, and of how many such files."""
_SMALL = 18
"""Lines of a definition that is shown whole."""
_COMMON = 0.02
"""Share of all lines; a word that more of them have says nothing."""
_CODE, _PART = 1.5, 0.7
"""How much a piece of code of the task counts, beside a word of it, and a part of one."""
_NAMED_FILE, _OTHER_KIND = 1.0, 0.6
"""What a file counts that the task names, and what one loses that isn't code, as shares of the rarest word's weight."""
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_CODE_WORD = re.compile(
    r"(?<![\w/])(?:\w*_\w+|[a-z]+[A-Z]\w*|[A-Z]{2,}\w*|[A-Z]\w+(?:\.\w+)+|\w+\(\)|-{1,2}[a-z][\w-]+|\d[\w.]*)"
)
"""Words that are written like code."""


@dataclass(frozen=True, slots=True)
class LineExcerpt:
    """Neighbouring lines of a file.

    Attributes:
        path: of the file.
        first: the first line, from 0.
        lines: the lines.
        changeable: for each line, whether it may be replaced.
    """

    path: str
    first: int
    lines: tuple[str, ...]
    changeable: tuple[bool, ...]


def code_of_task(task: str) -> dict[str, float]:
    """The names, literals and quoted texts of a task with their weights, and the names that they are made of.

    Args:
        task: on one line.
    """
    found: dict[str, float] = {}
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(task)]
    for text in (*quoted, *_CODE_WORD.findall(task)):
        bare = text.strip().removesuffix("()")
        if bare:
            found[bare] = _CODE
        for part in re.split(r"[.(),\s:]+", bare):
            if len(part) > 2:
                found.setdefault(part, _PART)
    return found


def choose_excerpts(
    task: str,
    texts: Mapping[str, str],
    outlines: Mapping[str, Sequence[Symbol]],
    named: Sequence[str],
    definitions: Collection[str] = (),
) -> list[LineExcerpt]:
    """Choose the lines that have most of a task's code and words, in windows.

    Args:
        task: on one line.
        texts: the files that come into question.
        outlines: their symbols.
        named: those that the task names.
        definitions: the words of the task that are names of definitions, whether they look like code or not.

    Returns:
        The windows, those of the best file first, in the order of their lines; [] where no line has anything of it.
    """
    lines = {path: text.split("\n") for path, text in texts.items()}
    members = {symbol.qualified for outline in outlines.values() for symbol in outline}
    weights = _Weights.of(task, lines, definitions, members)
    if not weights.heaviest:
        return []
    ranked: list[tuple[float, str, int]] = []
    scores: dict[str, list[float]] = {}
    for path, own in lines.items():
        scores[path] = _line_scores(own, weights, outlines.get(path, ()))
        base = weights.heaviest * (_NAMED_FILE * (path in named) - _OTHER_KIND * (file_kind(path) != "code"))
        base += 0.3 * sum(weights.words.get(word, 0.0) for word in tokens_of(path))
        base -= weights.heaviest * (is_test_path(path) and path not in named)
        ranked += [(base + _with_near(scores[path], n), path, n) for n, s in enumerate(scores[path]) if s > 0]
    ranked.sort(key=lambda each: (-each[0], each[1], each[2]))
    order = {path: rank for rank, (_, path, _) in reversed(list(enumerate(ranked)))}
    windows = _with_code(_merged(_windows(ranked, lines, outlines)), lines, weights, outlines)
    shown = {path for path, _, _ in windows}
    heads = [(path, 0, min(_HEAD, len(lines[path]))) for path in named if path in lines and path not in shown]
    windows += heads[:_MOST_HEADS]
    windows.sort(key=lambda window: (order.get(window[0], 0), window[1]))
    return [_excerpt(path, first, lines[path][first:last], scores[path]) for path, first, last in windows]


def _excerpt(path: str, first: int, lines: Sequence[str], scores: Sequence[float]) -> LineExcerpt:
    near = [_near_word(scores, number) for number in range(first, first + len(lines))]
    changeable = tuple(near) if any(near) else (True,) * len(lines)
    return LineExcerpt(path, first, tuple(lines), changeable)


@dataclass(frozen=True, slots=True)
class _Weights:
    """What the code of a task and its words weigh: more where fewer lines have them."""

    code: Mapping[str, float]
    words: Mapping[str, float]
    heaviest: float

    @classmethod
    def of(
        cls, task: str, lines: Mapping[str, Sequence[str]], definitions: Collection[str], qualified: Collection[str]
    ) -> _Weights:
        total = sum(len(own) for own in lines.values())
        wanted = {word for word in tokens_of(task) if len(word) > 2 or word.isdigit()}
        spread = Counter(w for own in lines.values() for line in own for w in tokens_of(line) & wanted)
        words = {w: _weight(spread[w], total) for w in wanted if 0 < spread[w] <= max(3, _COMMON * total)}
        code = {}
        for text, share in (dict.fromkeys(definitions, _CODE) | code_of_task(task)).items():
            pattern = _whole(text)
            count = sum(text in line and pattern.search(line) is not None for own in lines.values() for line in own)
            if count or text in qualified:  # which the definition itself doesn't write
                code[text] = share * _weight(count, total)
        return cls(code, words, max([*words.values(), *code.values()], default=0.0))


def _weight(count: int, total: int) -> float:
    return math.log(1 + total / (1 + count))


def _whole(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")


def _line_scores(lines: Sequence[str], weights: _Weights, outline: Sequence[Symbol]) -> list[float]:
    patterns = [(text, _whole(text), weight) for text, weight in weights.code.items()]
    scores = [
        sum(weight for text, pattern, weight in patterns if text in line and pattern.search(line))
        + 0.5 * sum(weights.words.get(word, 0.0) for word in tokens_of(line))
        for line in lines
    ]
    for symbol in outline:
        weight = max(weights.code.get(symbol.name, 0.0), weights.code.get(symbol.qualified, 0.0))
        if not weight:
            continue
        inside = range(symbol.start_line - 1, min(symbol.end_line, len(lines)))
        short = len(inside) <= 2 * _NEAR
        for number in inside:
            scores[number] += (0.5 if scores[number] > 0 or short else 0.05) * weight
        if inside:
            scores[inside[0]] += 0.25 * weight
    return scores


def _with_near(scores: Sequence[float], number: int) -> float:
    """The score of a line with some of that of its neighbours."""
    near = [
        scores[other] * (0.5 if abs(other - number) <= 2 else 0.25)
        for other in range(max(0, number - _NEAR), min(len(scores), number + _NEAR + 1))
        if other != number
    ]
    return scores[number] + 0.5 * sum(sorted(near, reverse=True)[:4])


def _near_word(scores: Sequence[float], number: int) -> bool:
    return any(score > 0 for score in scores[max(0, number - _CHANGEABLE) : number + _CHANGEABLE + 1])


_Window = tuple[str, int, int]


def _with_code(
    windows: Sequence[_Window],
    lines: Mapping[str, Sequence[str]],
    weights: _Weights,
    outlines: Mapping[str, Sequence[Symbol]],
) -> list[_Window]:
    """The windows with a definition that the task names, and those that name it; all where there is none."""
    symbols = [
        (path, s) for path, outline in outlines.items() for s in outline if {s.name, s.qualified} & {*weights.code}
    ]
    names = [_whole(name) for name in {symbol.name for _, symbol in symbols}]
    starts = {(path, symbol.start_line - 1) for path, symbol in symbols}
    if not any((path, line) in starts for path, first, last in windows for line in range(first, last)):
        return list(windows)
    return [w for w in windows if any(name.search(line) for line in lines[w[0]][w[1] : w[2]] for name in names)]


def _windows(
    ranked: Sequence[tuple[float, str, int]],
    lines: Mapping[str, Sequence[str]],
    outlines: Mapping[str, Sequence[Symbol]],
) -> list[_Window]:
    chosen: list[_Window] = []
    shown = 0
    for _, path, number in ranked:
        if shown >= MOST_LINES or len(chosen) >= MOST_EXCERPTS:
            break
        if any(path == p and first - 1 <= number < last + 1 for p, first, last in chosen):
            continue
        first, last = _window(number, len(lines[path]), outlines.get(path, ()))
        chosen.append((path, first, last))
        shown += last - first
    return chosen


def _window(number: int, count: int, outline: Sequence[Symbol]) -> tuple[int, int]:
    """The lines around one, or the small definition that holds it."""
    around = [s for s in outline if s.start_line - 1 <= number < s.end_line and s.end_line - s.start_line < _SMALL]
    widest = max(around, key=lambda s: s.end_line - s.start_line, default=None)
    first, last = max(0, number - _AROUND), min(count, number + _AROUND + 1)
    if widest is None:
        return first, last
    start, end = widest.start_line - 1, min(count, widest.end_line)
    if end - start > 8:
        return min(first, start), max(last, end)
    return max(0, start - 2), min(count, end + 3)


def _merged(windows: Sequence[_Window]) -> list[_Window]:
    found: list[_Window] = []
    for path, first, last in sorted(windows):
        if found and found[-1][0] == path and first <= found[-1][2] + 2:
            found[-1] = (path, found[-1][1], max(last, found[-1][2]))
        else:
            found.append((path, first, last))
    return found
