"""The reports of an answer, beside its text: findings of a review, the impact of a change. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence

from repopilot import i18n
from repopilot.impact.svg import graph_svg
from repopilot.results import Answer, ImpactReport
from repopilot.types import Finding

FINDINGS_SHOWN = 120
ROWS_SHOWN = 12


def has_findings(answer: Answer) -> bool:
    return "findings" in answer.details and "scores" in answer.details


def summary_of(answer: Answer) -> str:
    """The text of a review without its list of findings, which the element shows instead."""
    return answer.text.split("\n### ", 1)[0].rstrip()


def findings_props(answer_id: str, answer: Answer, language: str) -> dict:
    """Props of the element `Findings`: the findings by file, in the report's order."""
    numbers = {(citation.path, citation.start_line): citation.number for citation in answer.citations}
    found: Sequence[Mapping] = answer.details["findings"]  # type: ignore[assignment]
    scores: Mapping[str, int] = answer.details["scores"]  # type: ignore[assignment]
    files: dict[str, list[dict]] = {}
    for finding in found[:FINDINGS_SHOWN]:
        number = numbers.get((finding["path"], finding["line"]))
        files.setdefault(finding["path"], []).append(_finding_props(finding, number, language))
    more = len(found) - FINDINGS_SHOWN
    overall = i18n.text("ui.findings.overall", language)
    domains = [[i18n.term("ui.findings.domains", domain, language), score] for domain, score in scores.items()]
    return {
        "answer": answer_id,
        "scores": [[overall, answer.details["score"]], *domains],
        "files": [{"path": path, "findings": findings} for path, findings in files.items()],
        "more": i18n.text("ui.findings.more", language, count=more) if more > 0 else "",
        "words": i18n.section("ui.findings.words", language),
    }


def _finding_props(finding: Mapping, number: int | None, language: str) -> dict:
    domain = i18n.term("ui.findings.domains", str(finding.get("domain") or ""), language)
    return {
        "severity": finding["severity"],
        "severity_label": i18n.term("ui.findings.severities", finding["severity"], language),
        "place": i18n.text("ui.findings.line", language, line=finding["line"]),
        "origin": " · ".join(part for part in (domain, finding["rule"], finding["source"]) if part),
        "message": i18n.said(finding["message"], language),
        "quote": finding.get("quote", ""),
        "number": number,
        "fix": fix_task(finding, language),
    }


def fix_task(finding: Mapping, language: str) -> str:
    """What the button “Fix this” asks the generator for."""
    task = i18n.text(
        "ui.findings.fix",
        language,
        path=finding["path"],
        line=finding["line"],
        message=i18n.said(finding["message"], language),
        rule=finding["rule"],
    )
    quote = str(finding.get("quote") or "").strip()
    return f"{task} {i18n.text('ui.findings.fix_quote', language, quote=quote)}" if quote else task


def sarif(answer: Answer, commit: str) -> str:
    """The findings for other tools, SARIF 2.1.0."""
    from repopilot.results import ReviewReport
    from repopilot.review.report import report_sarif

    found: Sequence[Mapping] = answer.details["findings"]  # type: ignore[assignment]
    report = ReviewReport(str(answer.details.get("what", "")), commit, tuple(Finding(**finding) for finding in found))
    return json.dumps(report_sarif(report), indent=2)


def impact_props(answer: Answer, language: str) -> dict | None:
    """Props of the element `Impact`: the picture with its counts; None where the answer is no impact report."""
    report = answer.result
    if not isinstance(report, ImpactReport):
        return None
    counts = {
        "affected": len(report.affected),
        "covering_tests": len(report.covering_tests),
        "co_changed": len(report.co_changed),
    }
    paths = dict.fromkeys(place.path for place in report.affected[:ROWS_SHOWN])
    return {
        "risk": report.risk,
        "label": i18n.text(f"ui.impact.risk_{report.risk.lower()}", language),
        "counts": " · ".join(i18n.text(f"ui.impact.{name}", language, count=number) for name, number in counts.items()),
        "picture": picture(graph_svg(report, language)),
        "alt": i18n.text("ui.impact.alt", language, paths=", ".join(paths)),
        "words": i18n.section("ui.impact.words", language),
    }


def picture(svg: str) -> str:
    """An SVG as a data URL: as an image it can neither run scripts nor load anything."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
