"""The reports of an answer, beside its text: findings of a review, the impact of a change. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence

from repopilot.i18n.format import count
from repopilot.results import Answer
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
    """Props of the element `Impact`: the picture with its counts; None where the answer has no picture."""
    report, svg = answer.details.get("impact"), answer.details.get("impact_svg")
    if not isinstance(report, Mapping) or not isinstance(svg, str):
        return None
    lists = (("affected", "place"), ("covering_tests", "covering test"), ("co_changed", "file"))
    counts = [count(len(report.get(key, ())), noun) for key, noun in lists]
    names = [str(item.get("path", "")) for item in report.get("affected", ())[:ROWS_SHOWN]]
    return {
        "risk": report.get("risk", "UNKNOWN"),
        "counts": [f"{counts[0]} affected", counts[1], f"{counts[2]} used to change along"],
        "picture": picture(svg),
        "alt": ", ".join(dict.fromkeys(names)),
    }


def picture(svg: str) -> str:
    """An SVG as the address of an image: as an image it can neither run scripts nor load anything."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
