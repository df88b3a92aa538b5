"""The reports of an answer, beside its text: findings of a review, the impact of a change. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.impact.diagram import impact_diagram
from repopilot.agents.impact.render import reaching_tests
from repopilot.agents.review.findings import score, scores, weight_order
from repopilot.agents.review.report import (
    counts_text,
    folded_title,
    is_partial,
    looked_at,
    notes_text,
    nothing_reviewed,
    proof_lines,
    proofs_text,
    walkthrough_text,
)
from repopilot.results import Answer, ImpactReport, ReviewReport
from repopilot.types import Citation, Finding
from repopilot.ui.answer.diagram_panel import chart_props

FINDINGS_SHOWN = 120
ROWS_SHOWN = 12
TOP = 3
"""Most severe findings, shown at once; the others are folded."""


def review_summary(report: ReviewReport, language: str) -> str:
    """A review in a few lines of Markdown, without its list of findings, which the element shows."""
    health = i18n.text(
        "ui.findings.health_of_part" if is_partial(report) else "ui.findings.health",
        language,
        score=score(report.findings),
        what=i18n.localized(report.what, language),
    )
    summary = f"{health} {counts_text(report, language)}" if looked_at(report) else nothing_reviewed(report, language)
    told = (walkthrough_text(report, language), summary, proofs_text(report, language))
    blocks = (i18n.translated(report.note, language), *told, notes_text(report, language))
    return "\n\n".join(block for block in blocks if block)


def findings_props(answer_id: str, report: ReviewReport, citations: Sequence[Citation], language: str) -> dict:
    """Props of the element `Findings`: the findings by file, in the report's order.

    Args:
        answer_id: the id of the answer's message.
        report: the review.
        citations: of the answer; the places of the findings among them can be opened.
        language: of the reader.
    """
    numbers = {(citation.path, citation.start_line): citation.number for citation in citations}
    files: dict[str, list[dict]] = {}
    for finding in report.findings[:FINDINGS_SHOWN]:
        number = numbers.get((finding.path, finding.line))
        files.setdefault(finding.path, []).append(_finding_props(finding, number, language))
    more = len(report.findings) - FINDINGS_SHOWN
    gravest = sorted(report.findings, key=weight_order)[:TOP]
    top = [
        {"path": each.path, **_finding_props(each, numbers.get((each.path, each.line)), language)} for each in gravest
    ]
    every = i18n.text("ui.findings.all", language, count=len(report.findings))
    by_domain = scores(report.findings).items()
    return {
        "answer": answer_id,
        "scores": [
            [i18n.text("ui.findings.overall", language), score(report.findings)],
            *([i18n.term("review.domains", domain, language), points] for domain, points in by_domain),
        ]
        if looked_at(report)
        else [],
        "top": top,
        "all": every if len(report.findings) > TOP else "",
        "files": [{"path": path, "findings": findings} for path, findings in files.items()],
        "more": i18n.text("ui.findings.more", language, count=more) if more > 0 else "",
        "folded": folded_title(report, language),
        "opinions": [{"path": each.path, **_finding_props(each, None, language)} for each in report.folded],
        "words": i18n.section("ui.findings.words", language),
    }


def _finding_props(finding: Finding, number: int | None, language: str) -> dict:
    domain = i18n.term("review.domains", finding.domain, language)
    return {
        "severity": finding.severity,
        "severity_label": i18n.text(f"ui.findings.severities.{finding.severity}", language),
        "place": i18n.text("ui.findings.line", language, line=finding.line),
        "origin": " · ".join(part for part in (domain, finding.rule, finding.source) if part),
        "message": i18n.translated(finding.message, language),
        "quote": finding.quote,
        "proof": _proof_props(finding, language),
        "number": number,
        "fix": fix_task(finding, language),
    }


def _proof_props(finding: Finding, language: str) -> dict | None:
    """The test that shows a finding, None without one."""
    if finding.proof is None:
        return None
    return {"title": proof_lines(finding, language)[0].replace("`", ""), "test": finding.proof.test}


def fix_task(finding: Finding, language: str) -> str:
    """The task that the button "Fix this" gives to the generator."""
    task = i18n.text(
        "ui.findings.fix",
        language,
        path=finding.path,
        line=finding.line,
        message=i18n.localized(finding.message, language),
        rule=finding.rule,
    )
    quote = finding.quote.strip()
    return f"{task} {i18n.text('ui.findings.fix_quote', language, quote=quote)}" if quote else task


def sarif(report: ReviewReport) -> str:
    """The findings for other tools, SARIF 2.1.0."""
    from repopilot.agents.review.sarif import report_sarif

    return json.dumps(report_sarif(report), indent=2)


def impact_props(answer: Answer, language: str) -> dict | None:
    """Props of the element `Impact`: the picture with its counts; None where the answer is no impact report."""
    report = answer.result
    if not isinstance(report, ImpactReport):
        return None
    counts = {
        "affected": len(report.affected),
        "covering_tests": len(reaching_tests(report)),
        "co_changed": len(report.co_changed),
    }
    paths = dict.fromkeys(place.path for place in report.affected[:ROWS_SHOWN])
    drawn = impact_diagram(report)
    hops = sorted({box.column for box in drawn.boxes} - {0})
    heads = {0: i18n.text("ui.impact.changes", language)}
    heads |= {column: i18n.text("impact.hops", language, count=column) for column in hops}
    return {
        "risk": report.risk,
        "label": i18n.text(f"ui.impact.risk_{report.risk.lower()}", language),
        "counts": " · ".join(i18n.text(f"ui.impact.{name}", language, count=number) for name, number in counts.items()),
        "picture": chart_props(drawn, heads, language, subjects=len(report.changed)),
        "alt": i18n.text("ui.impact.alt", language, paths=", ".join(paths)),
        "words": i18n.section("ui.impact.words", language),
    }
