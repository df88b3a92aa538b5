"""The picture of an impact report: files in columns by distance, coloured by it, as one self-contained SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from repopilot import i18n
from repopilot.code.languages import is_test_path
from repopilot.results import AffectedPlace, CoveringTest, ImpactReport

COLOURS = ("#b3261e", "#c2410c", "#a16207", "#1d6fb8")
"""Of the change itself and of one, two and three hops; white text is readable on each."""

_ROWS = 12
_BOX = (210, 26)
_STEP = (270, 38)
_TOP, _SIDE = 44, 16


@dataclass(frozen=True, slots=True)
class _Box:
    path: str
    column: int
    row: int

    @property
    def left(self) -> int:
        return _SIDE + self.column * _STEP[0]

    @property
    def middle(self) -> float:
        return _TOP + self.row * _STEP[1] + _BOX[1] / 2


def graph_svg(report: ImpactReport, language: str = "en") -> str:
    """Draw a report.

    Args:
        report: what to draw: its changed files, affected places and tests.
        language: of the headings.

    Returns:
        SVG text without script, style sheet, link or anything that is loaded. Tests have a dashed border.
    """
    columns, hidden = _columns(report)
    boxes = {path: _Box(path, c, r) for c, paths in enumerate(columns) for r, path in enumerate(paths)}
    width = 2 * _SIDE + _BOX[0] + (len(columns) - 1) * _STEP[0]
    height = _TOP + max((len(c) + bool(h) for c, h in zip(columns, hidden, strict=True)), default=1) * _STEP[1] + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(i18n.text("impact.picture.label", language))}" '
        f'font-family="sans-serif" font-size="12">'
    ]
    parts += [_head(number, language) for number, paths in enumerate(columns) if paths]
    parts += [_line(boxes[a], boxes[b]) for a, b in _links(report) if a in boxes and b in boxes]
    parts += [_box(box) for box in boxes.values()]
    for number, count in enumerate(hidden):
        if count:
            parts.append(_more(number, len(columns[number]), i18n.text("impact.more", language, count=count)))
    return "".join([*parts, "</svg>"])


def _columns(report: ImpactReport) -> tuple[list[list[str]], list[int]]:
    """The files of each column, and how many more there are."""
    distance: dict[str, int] = {item.path: 0 for item in report.changed}
    reached: list[AffectedPlace | CoveringTest] = [*report.affected, *report.covering_tests]
    for item in reached:
        distance.setdefault(item.path, item.distance)
    last = max(distance.values(), default=0)
    columns = [[path for path, hops in distance.items() if hops == column] for column in range(min(last, 3) + 1)]
    return [paths[:_ROWS] for paths in columns], [max(0, len(paths) - _ROWS) for paths in columns]


def _links(report: ImpactReport) -> list[tuple[str, str]]:
    changed = [file.path for file in report.changed]
    found = [(place.via, place.path) for place in report.affected]
    found += [(changed[0], test.path) for test in report.covering_tests if changed and test.distance == 1]
    return sorted({pair for pair in found if pair[0] != pair[1]})


def _head(column: int, language: str) -> str:
    text = i18n.text("impact.hops", language, count=column) if column else i18n.text("impact.picture.changes", language)
    x = _SIDE + column * _STEP[0]
    return f'<text x="{x}" y="24" fill="{COLOURS[column]}" font-weight="bold">{escape(text)}</text>'


def _line(one: _Box, other: _Box) -> str:
    start, end = one.left + _BOX[0], other.left
    if one.column >= other.column:
        start, end = one.left, other.left + _BOX[0]
    bend = (start + end) / 2
    return (
        f'<path d="M{start} {one.middle} C{bend} {one.middle} {bend} {other.middle} {end} {other.middle}" '
        f'fill="none" stroke="#8a8a8a" stroke-opacity="0.6"/>'
    )


def _box(box: _Box) -> str:
    dashed = ' stroke="#fff" stroke-width="2" stroke-dasharray="4 3"' if is_test_path(box.path) else ""
    return (
        f"<g><title>{escape(_printable(box.path))}</title>"
        f'<rect x="{box.left}" y="{box.middle - _BOX[1] / 2}" width="{_BOX[0]}" height="{_BOX[1]}" rx="5" '
        f'fill="{COLOURS[box.column]}"{dashed}/>'
        f'<text x="{box.left + 8}" y="{box.middle + 4}" fill="#fff">{escape(_short(box.path))}</text></g>'
    )


def _more(column: int, rows: int, text: str) -> str:
    y = _TOP + rows * _STEP[1] + 16
    return f'<text x="{_SIDE + column * _STEP[0]}" y="{y}" fill="#8a8a8a">{escape(text)}</text>'


def _printable(text: str) -> str:
    """Control characters have no place in XML."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _short(path: str, longest: int = 30) -> str:
    """The end of a path that fits into a box."""
    clean = _printable(path)
    parts: Sequence[str] = clean.split("/")
    while len("/".join(parts)) > longest and len(parts) > 1:
        parts = parts[1:]
    text = "/".join(parts)
    text = text if len(text) <= longest else "…" + text[-longest + 1 :]
    return text if text == clean or text.startswith("…") else f"…/{text}"[: longest + 3]
