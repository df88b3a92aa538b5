"""The reports of an answer, beside its text: findings of a review, the impact of a change. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence

from repopilot.i18n.format import count
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


def findings_props(answer_id: str, answer: Answer) -> dict:
    """Props of the element `Findings`: grouped by file, in the report's order."""
    numbers = {(citation.path, citation.start_line): citation.number for citation in answer.citations}
    found: Sequence[Mapping] = answer.details["findings"]  # type: ignore[assignment]
    scores: Mapping[str, int] = answer.details["scores"]  # type: ignore[assignment]
    files: dict[str, list[dict]] = {}
    for finding in found[:FINDINGS_SHOWN]:
        number = numbers.get((finding["path"], finding["line"]))
        files.setdefault(finding["path"], []).append({**finding, "number": number, "fix": fix_task(finding)})
    return {
        "answer": answer_id,
        "scores": [["overall", answer.details["score"]], *scores.items()],
        "files": [{"path": path, "findings": findings} for path, findings in files.items()],
        "more": max(0, len(found) - FINDINGS_SHOWN),
    }


def fix_task(finding: Mapping) -> str:
    """The task for the generator behind “Fix this”."""
    quote = f" The line reads: `{finding['quote'].strip()}`" if finding.get("quote") else ""
    return f"Fix this in {finding['path']}, line {finding['line']}: {finding['message']} ({finding['rule']}).{quote}"


def sarif(answer: Answer, commit: str) -> str:
    """The findings for other tools, SARIF 2.1.0."""
    from repopilot.results import ReviewReport
    from repopilot.review.report import report_sarif

    found: Sequence[Mapping] = answer.details["findings"]  # type: ignore[assignment]
    report = ReviewReport(str(answer.details.get("what", "")), commit, tuple(Finding(**finding) for finding in found))
    return json.dumps(report_sarif(report), indent=2)


def impact_props(answer: Answer) -> dict | None:
    """Props of the element `Impact`: the picture with its counts; None where the answer is no impact report."""
    report = answer.result
    if not isinstance(report, ImpactReport):
        return None
    names = [place.path for place in report.affected[:ROWS_SHOWN]]
    return {
        "risk": report.risk,
        "counts": [
            f"{count(len(report.affected), 'place')} affected",
            count(len(report.covering_tests), "covering test"),
            f"{count(len(report.co_changed), 'file')} co-changed",
        ],
        "picture": picture(graph_svg(report)),
        "alt": ", ".join(dict.fromkeys(names)),
    }


def picture(svg: str) -> str:
    """An SVG as the address of an image: as an image it can neither run scripts nor load anything."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
