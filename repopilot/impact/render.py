"""An impact report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repopilot import i18n
from repopilot.results import CoveringTest, ImpactReport, Recommendation, RiskReason

_ROWS = 10
_CO_CHANGED_ROWS = 5
_SYMBOLS, _TESTS, _EVIDENCE, _REASONS = 8, 4, 4, 2


def impact_markdown(report: ImpactReport, numbers: Mapping[str, int] | None = None, language: str = "en") -> str:
    """Write a report as Markdown.

    Args:
        report: what to write.
        numbers: citation numbers by the ids of affected places.
        language: of the text.

    Returns:
        The text, one section for each kind of item that there is.
    """
    return _Writer(report, numbers or {}, language).markdown()


class _Writer:
    """One report in one language."""

    def __init__(self, report: ImpactReport, numbers: Mapping[str, int], language: str) -> None:
        self._report, self._numbers, self._language = report, numbers, language

    def markdown(self) -> str:
        report = self._report
        ranked = [
            self._row(f"`{file.path}`", "; ".join(map(self._said, file.reasons[:_REASONS]))) for file in report.ranked
        ]
        parts = [
            f"**{self._text('risk', level=self._text(f'levels.{report.risk}'))}**",
            self._changed(),
            self._section("risks", [self._point(point) for point in report.risks]),
            self._section("recommendations", [self._point(point) for point in report.recommendations]),
            self._affected(),
            self._section("tests", [self._test(test) for test in report.covering_tests] or [self._text("no_tests")]),
            self._section("co_changed", self._co_changed_rows(), shown=_CO_CHANGED_ROWS),
            self._section("ranked", ranked),
            self._completeness(),
        ]
        return "\n\n".join(part for part in parts if part)

    def _changed(self) -> str:
        rows = []
        for file in self._report.changed[:_ROWS]:
            names = ", ".join(f"`{name}`" for name in file.symbols[:_SYMBOLS]) or self._text("whole_file")
            moved = f" ← `{file.old_path}`" if file.old_path else ""
            rows.append(self._row(f"`{file.path}`{moved} ({self._text(f'status.{file.status}')})", names))
        return self._section("changed", rows, more=len(self._report.changed) - len(rows))

    def _affected(self) -> str:
        rows = []
        for item in self._report.affected[:_ROWS]:
            path = f"`{item.path}`"
            place = self._text("place", symbol=item.symbol, path=path) if item.symbol else path
            number = f" [{self._numbers[item.id]}]" if item.id in self._numbers else ""
            hops = self._text("hops", count=item.distance)
            rows.append(self._row(f"{place}:{item.line}{number}, {hops}", self._said(item.reason)))
        more = self._report.completeness.affected - len(rows)
        return self._section("affected", rows or [self._text("no_dependents")], more=more)

    def _test(self, test: CoveringTest) -> str:
        names = ", ".join(f"`{name}`" for name in test.tests[:_TESTS])
        return self._row(f"`{test.path}`" + (f" ({names})" if names else ""), self._said(test.reason))

    def _point(self, point: RiskReason | Recommendation) -> str:
        source = f" *{self._text('by_model')}*" if point.source == "model" else ""
        return f"{self._said(point.text)} ({', '.join(point.evidence[:_EVIDENCE])}){source}"

    def _co_changed_rows(self) -> list[str]:
        return [
            self._row(f"`{file.path}`", self._text("commits", together=file.together, of=file.of))
            for file in self._report.co_changed
        ]

    def _completeness(self) -> str:
        gaps = "; ".join(map(self._said, self._report.completeness.gaps))
        return f"*{self._text('incomplete', gaps=gaps) if gaps else self._text('complete')}*"

    def _section(self, name: str, rows: Sequence[str], shown: int = _ROWS, more: int = 0) -> str:
        """A heading with a list; `more` rows beyond those given are counted in its last line."""
        if not rows:
            return ""
        hidden = max(0, len(rows) - shown) + max(0, more)
        listed = [f"- {row}" for row in rows[:shown]]
        if hidden:
            listed.append(f"- {self._text('more', count=hidden)}")
        return "\n".join([f"### {self._text(f'headings.{name}')}", *listed])

    def _row(self, item: str, detail: str) -> str:
        return self._text("row", item=item, detail=detail)

    def _text(self, key: str, **values: object) -> str:
        return i18n.text(f"impact.{key}", self._language, **values)

    def _said(self, text: str) -> str:
        return i18n.said(text, self._language)
