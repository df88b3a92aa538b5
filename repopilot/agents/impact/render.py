"""An impact report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from repopilot import i18n
from repopilot.code.languages import is_example_path
from repopilot.results import (
    AffectedPlace,
    CoChange,
    CoveringTest,
    ImpactReport,
    RankedFile,
    Recommendation,
    RiskReason,
)

_ROWS = 10
_POINTS = 3
_DIRECT_ROWS = 20
"""The most direct dependents listed. Those in examples are listed only where there are few others."""
_OTHER_ROWS = 5
_SYMBOLS = 8
_TESTS = 4
_EVIDENCE = 3
_REASONS = 2
_NAMED = 3


class Section(NamedTuple):
    """A list: its heading, its rows in Markdown, and the total of its items; the last row may count those left out."""

    heading: str
    rows: tuple[str, ...]
    total: int


def impact_summary(report: ImpactReport, numbers: Mapping[str, int], language: str) -> str:
    """The verdict in a sentence and the things that matter most, in Markdown; arguments as `impact_markdown`."""
    writer = _Writer(report, numbers, language)
    if report.for_reader:
        return writer.plain()
    points = "\n".join(f"- {point}" for point in writer.points())
    return "\n\n".join(filter(None, [writer.note(), writer.lead(), points]))


def impact_sections(report: ImpactReport, numbers: Mapping[str, int], language: str) -> tuple[list[Section], str]:
    """The lists of a report, and how complete it is; arguments as `impact_markdown`."""
    writer = _Writer(report, numbers, language)
    return writer.sections(), writer.completeness()


def impact_markdown(report: ImpactReport, numbers: Mapping[str, int] | None = None, language: str = "en") -> str:
    """Write a report as Markdown.

    Args:
        report: what to write.
        numbers: citation numbers by the ids of affected places.
        language: of the text.

    Returns:
        The text, one section for each kind of item that there is. For code that isn't changed yet, its users come
        first, then tests, then the risk; for a change, the risk comes first.
    """
    return _Writer(report, numbers or {}, language).markdown()


class _Writer:
    """One report in one language."""

    def __init__(self, report: ImpactReport, numbers: Mapping[str, int], language: str) -> None:
        self._report = report
        self._numbers = numbers
        self._language = language
        self._places = _places_by_id(report)

    def plain(self) -> str:
        """For somebody who reads no code: how much depends on it, the risk, and what to do, without names of code."""
        places = self._count("place", self._report.completeness.affected)
        files = self._count("file", len({item.path for item in self._report.affected}))
        tests = self._count("test_file", self._report.completeness.covering_tests)
        lead = self._text("plain" if self._report.affected else "plain_none", places=places, files=files, tests=tests)
        texts = [risk.text for risk in self._report.risks] + [todo.text for todo in self._report.recommendations]
        said = dict.fromkeys(map(self._said, texts))
        rows = "\n".join(f"- {text}" for text in said if "`" not in text and "/" not in text)
        wish = self._text("plain_wish") if self._report.note else ""
        complete = self._text("complete" if self._report.completeness.complete else "plain_incomplete")
        return "\n\n".join(filter(None, [wish, f"{lead} {self._risk()}", rows, f"*{complete}*"]))

    def _risk(self) -> str:
        return f"**{self._text('risk', level=self._text(f'levels.{self._report.risk}'))}**"

    def markdown(self) -> str:
        if self._report.for_reader:
            return self.plain()
        sections = (_as_markdown(section) for section in self.sections())
        return "\n\n".join(filter(None, [self.note(), self.lead(), *sections, self.completeness()]))

    def note(self) -> str:
        """How a wish in words was understood."""
        return self._said(self._report.note)

    def lead(self) -> str:
        """The verdict in a sentence."""
        return f"{self._lead()} {self._risk()}" if self._only_asked else self._risk()

    def points(self) -> list[str]:
        """What matters most: the gravest risks, and what to do first."""
        risks = sorted(self._report.risks, key=lambda risk: -risk.points)[:_POINTS]
        todo = self._report.recommendations[: max(1, _POINTS - len(risks))]
        return [*map(self._point, risks[: _POINTS - len(todo)]), *map(self._point, todo)]

    def sections(self) -> list[Section]:
        """The lists of the report that aren't empty, in the order in which they are shown."""
        report = self._report
        judged = [
            self._section("risks", [self._point(point) for point in report.risks]),
            self._section("recommendations", [self._point(point) for point in report.recommendations]),
        ]
        dependents = [self._affected(1), self._affected(2), self._tests()]
        most_ranked = _OTHER_ROWS if self._only_asked else _ROWS
        others = [
            self._section("co_changed", [self._co_changed(file) for file in report.co_changed], shown=_OTHER_ROWS),
            self._section("ranked", [self._ranked(file) for file in report.ranked], shown=most_ranked),
        ]
        found = (
            [*dependents, *judged, *others] if self._only_asked else [self._changed(), *judged, *dependents, *others]
        )
        return [section for section in found if section.rows]

    @property
    def _only_asked(self) -> bool:
        """Whether files or symbols were named, and nothing changes yet."""
        changed = self._report.changed
        return bool(changed) and all(file.interface is None and file.status == "modified" for file in changed)

    def _lead(self) -> str:
        """What is asked about, where it is, and how many places use it directly."""
        names = [
            self._text("place", symbol=name, path=f"`{file.path}`") if name else f"`{file.path}`"
            for file in self._report.changed
            for name in (file.symbols or ("",))
        ]
        more = f" {self._text('more', count=len(names) - _NAMED)}" if len(names) > _NAMED else ""
        places = sum(item.distance == 1 for item in self._report.affected)
        cut_off = self._report.completeness.affected > len(self._report.affected) and places == len(
            self._report.affected
        )
        files = len({item.path for item in self._report.affected if item.distance == 1})
        tests = len(reaching_tests(self._report))
        key = "used_nowhere" if not places else "used_in_more" if cut_off else "used_in"
        what = ", ".join(names[:_NAMED]) + more
        counted = {"places": self._count("place", places), "files": self._count("file", files)}
        used = self._text(key, what=what, unused=self._said(self._report.completeness.unused), **counted)
        return f"{used} {self._text('tested_in', files=self._count('test_file', tests))}" if tests else used

    def _count(self, noun: str, count: int) -> str:
        return self._text(f"counts.{noun}", count=count)

    def _changed(self) -> Section:
        rows = []
        for file in self._report.changed[:_ROWS]:
            names = ", ".join(f"`{name}`" for name in file.symbols[:_SYMBOLS]) or self._text("whole_file")
            moved = f" ← `{file.old_path}`" if file.old_path else ""
            rows.append(self._row(f"`{file.path}`{moved} ({self._text(f'status.{file.status}')})", names))
        return self._section("changed", rows, more=len(self._report.changed) - len(rows))

    def _affected(self, hops: int) -> Section:
        """The direct dependents, or (for 2) the indirect ones."""
        items = [item for item in self._report.affected if min(item.distance, 2) == hops]
        own = sum(not is_example_path(item.path) for item in items)
        shown = min(max(own, _OTHER_ROWS), _DIRECT_ROWS if hops == 1 else _ROWS)
        rows = [self._affected_row(item) for item in items]
        listed = len(self._report.affected)
        more = self._report.completeness.affected - listed if items and items[-1] is self._report.affected[-1] else 0
        none = self._said(self._report.completeness.unused) if hops == 1 else ""
        return self._section("affected" if hops == 1 else "indirect", rows, shown=shown, more=more, none=none)

    def _affected_row(self, item: AffectedPlace) -> str:
        path = f"`{item.path}`"
        place = self._text("place", symbol=item.symbol, path=path) if item.symbol else path
        number = f" [{self._numbers[item.id]}]" if item.id in self._numbers else ""
        hops = f", {self._text('hops', count=item.distance)}" if item.distance > 1 else ""
        return self._row(f"{place}:{item.line}{number}{hops}", self._said(item.reason))

    def _tests(self) -> Section:
        """The tests that reach the change; where none does, those that use another part of the file."""
        reaching = reaching_tests(self._report)
        of_file = not reaching
        reaching = reaching or self._report.covering_tests
        listed = [self._test(test) for test in reaching]
        cut_off = len(reaching) == len(self._report.covering_tests)
        more = self._report.completeness.covering_tests - len(reaching) if cut_off else 0
        heading = "tests_of_file" if of_file and self._report.covering_tests else "tests"
        return self._section(heading, listed, more=more, none=self._text("no_tests"))

    def _test(self, test: CoveringTest) -> str:
        names = ", ".join(f"`{name}`" for name in test.tests[:_TESTS])
        return self._row(f"`{test.path}`" + (f" ({names})" if names else ""), self._said(test.reason))

    def _ranked(self, file: RankedFile) -> str:
        return self._row(f"`{file.path}`", "; ".join(map(self._said, file.reasons[:_REASONS])))

    def _point(self, point: RiskReason | Recommendation) -> str:
        text = self._said(point.text)
        named = [self._places[item] for item in point.evidence if item in self._places]
        places = [place for place in dict.fromkeys(named) if place not in text][:_EVIDENCE]
        more = (
            f" {self._text('more', count=len(set(named)) - len(places))}" if len(set(named)) > len(places) > 0 else ""
        )
        return text + (f" ({', '.join(f'`{place}`' for place in places)}{more})" if places else "")

    def _co_changed(self, file: CoChange) -> str:
        return self._row(f"`{file.path}`", self._text("commits", together=file.together, of=file.of))

    def completeness(self) -> str:
        """What the report lacks."""
        gaps = "; ".join(self._said(gap).removesuffix(".") for gap in self._report.completeness.gaps)
        return f"*{self._text('incomplete', gaps=gaps) if gaps else self._text('complete')}*"

    def _section(self, name: str, rows: Sequence[str], shown: int = _ROWS, more: int = 0, none: str = "") -> Section:
        """A heading with a list; `more` rows beyond those given are counted in its last line. `none` stands in the
        place of a list without items, '' to leave it out."""
        if not rows and none:
            return Section(self._text(f"headings.{name}"), (none,), 0)
        hidden = max(0, len(rows) - shown) + max(0, more)
        last = [self._text("more", count=hidden)] if hidden and rows else []
        return Section(self._text(f"headings.{name}"), (*rows[:shown], *last), len(rows) + max(0, more))

    def _row(self, item: str, detail: str) -> str:
        return self._text("row", item=item, detail=detail)

    def _text(self, key: str, **values: object) -> str:
        return i18n.text(f"impact.{key}", self._language, **values)

    def _said(self, text: str) -> str:
        return i18n.translated(text, self._language)


def reaching_tests(report: ImpactReport) -> Sequence[CoveringTest]:
    """The test files that reach the change. Where whole files change, they need not name a definition."""
    naming = [test for test in report.covering_tests if test.tests]
    whole = all(change.whole for change in report.changed)
    return report.covering_tests if whole and not naming else naming


def _as_markdown(section: Section) -> str:
    return "\n".join([f"### {section.heading}", *(f"- {row}" for row in section.rows)])


def _places_by_id(report: ImpactReport) -> dict[str, str]:
    """What the ids of a report stand for, as shown to a reader."""
    found = {item.id: f"{item.path}:{item.line}" for item in report.affected}
    found |= {test.id: test.path for test in report.covering_tests}
    found |= {file.id: file.path for file in report.co_changed}
    for file in report.changed:
        found[file.id] = ", ".join(file.symbols[:_NAMED]) or file.path
        found |= {change.id: change.symbol for change in file.interface or ()}
        found |= {table.id: table.name for table in file.tables}
    return found
