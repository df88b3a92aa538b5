"""The report of a review: as JSON for programs, as Markdown to be read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby

from repopilot import i18n
from repopilot.results import ReviewReport
from repopilot.review.findings import DOMAINS, WEIGHTS, score, scores
from repopilot.types import Finding

_KEYS = ("path", "line", "severity", "domain", "rule", "message", "source", "quote")
_NOTES_SHOWN = 20
_SEVERITIES = tuple(WEIGHTS)


def report_json(report: ReviewReport) -> dict:
    """The report as one JSON document: score, scores by domain, findings, and how complete it is; in English."""
    return {
        "score": score(report.findings),
        "scores": scores(report.findings),
        "findings": [finding_json(f) for f in report.findings],
        "pre_existing": len(report.pre_existing),
        "silenced": [finding_json(f) for f in report.silenced],
        "what": str(report.what),
        "commit": report.commit,
        "reviewed": list(report.reviewed),
        "notes": [str(note) for note in report.notes],
    }


def finding_json(finding: Finding) -> dict:
    """One finding, with the keys in the order of the command line's contract."""
    values = asdict(finding)
    return {key: values[key] for key in _KEYS}


def report_markdown(
    report: ReviewReport, cited: Mapping[tuple[str, int], int] | None = None, language: str = "en"
) -> str:
    """The report to be read: the scores, then the findings by file, the most severe first, each with its code.

    Args:
        report: what was found.
        cited: the citation number of a (path, line), which is written as `[1]` behind its finding.
        language: what to write it in; the words of ruff, bandit and radon stay English.

    Returns:
        Markdown, a heading of the third level for each file.
    """
    lines = [_health(report, language), counts_text(report, language)]
    for path, group in groupby(report.findings, key=lambda f: f.path):
        lines += ["", f"### `{_inline(path)}`", ""]
        for finding in sorted(group, key=_by_severity):
            lines += _finding_lines(finding, report, cited or {}, language)
    if notes := notes_text(report, language):
        lines += ["", notes]
    return "\n".join(lines)


def is_partial(report: ReviewReport) -> bool:
    """Whether an analyser did not run, so that nothing found says less."""
    return any(isinstance(note, i18n.Message) and note.key == "review.analyser_failed" for note in report.notes)


def _health(report: ReviewReport, language: str) -> str:
    by_domain = scores(report.findings)
    domains = (f"{i18n.text(f'review.domains.{domain}', language)} {by_domain[domain]}" for domain in DOMAINS)
    return i18n.text(
        "review.health_of_part" if is_partial(report) else "review.health",
        language,
        score=score(report.findings),
        what=i18n.said(report.what, language),
        domains=", ".join(domains),
    )


def counts_text(report: ReviewReport, language: str) -> str:
    """How many findings of which severity in how many files, and how many were there before the change."""
    counts = {s: sum(f.severity == s for f in report.findings) for s in _SEVERITIES}
    found = ", ".join(i18n.text(f"review.counts.{s}", language, count=n) for s, n in counts.items() if n)
    found = found or i18n.text("review.nothing_found", language)
    parts = [i18n.text("review.in_files", language, found=found, count=len(report.reviewed))]
    if report.pre_existing:
        parts.append(i18n.text("review.pre_existing", language, count=len(report.pre_existing)))
    return " ".join(parts)


def notes_text(report: ReviewReport, language: str) -> str:
    """What the review left out, as a Markdown list; '' for nothing."""
    return "\n".join(f"- *{i18n.said(note, language)}*" for note in report.notes[:_NOTES_SHOWN])


def _by_severity(finding: Finding) -> tuple[int, int]:
    return _SEVERITIES.index(finding.severity), finding.line


def _finding_lines(
    finding: Finding, report: ReviewReport, cited: Mapping[tuple[str, int], int], language: str
) -> list[str]:
    head = "- " + i18n.text(
        "review.finding",
        language,
        severity=i18n.text(f"review.severities.{finding.severity}", language),
        line=finding.line,
        message=i18n.said(finding.message, language),
        rule=finding.rule,
        domain=i18n.text(f"review.domains.{finding.domain}", language),
        source=finding.source,
    )
    if number := cited.get((finding.path, finding.line)):
        head += f" [{number}]"
    excerpt = report.excerpts.get(f"{finding.path}:{finding.line}", "")
    if not excerpt:
        return [head]
    fence = "````" if "```" in excerpt else "```"
    return [head, f"  {fence}", *(f"  {line}" for line in excerpt.split("\n")), f"  {fence}"]


def _inline(path: str) -> str:
    return path.replace("`", "'").replace("\n", "\\n")
