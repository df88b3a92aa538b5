"""The report of a review, and its three forms: JSON, SARIF 2.1.0 and Markdown. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from repopilot.results import ReviewReport
from repopilot.review.findings import DOMAINS, WEIGHTS, score, scores
from repopilot.types import Finding

_KEYS = ("path", "line", "severity", "domain", "rule", "message", "source", "quote")
_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_RANKS = {"critical": 95.0, "high": 75.0, "medium": 45.0, "low": 15.0}


def report_json(report: ReviewReport) -> dict:
    """The report as one JSON document: score, scores by domain, findings, and how complete it is."""
    return {
        "score": score(report.findings),
        "scores": scores(report.findings),
        "findings": [finding_json(f) for f in report.findings],
        "pre_existing": len(report.pre_existing),
        "what": report.what,
        "commit": report.commit,
        "reviewed": list(report.reviewed),
        "notes": list(report.notes),
    }


def finding_json(finding: Finding) -> dict:
    values = asdict(finding)
    return {key: values[key] for key in _KEYS}


def report_sarif(report: ReviewReport) -> dict:
    """The report as SARIF 2.1.0 (OASIS), one run; fingerprints stay the same when lines move."""
    rules = {f.rule: f for f in (*report.findings, *report.pre_existing)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "RepoPilot", "rules": [_sarif_rule(rules[r]) for r in sorted(rules)]}},
                "columnKind": "utf16CodeUnits",
                "results": [
                    *(_sarif_result(f, sorted(rules), "new") for f in report.findings),
                    *(_sarif_result(f, sorted(rules), "unchanged") for f in report.pre_existing),
                ],
                "properties": {"score": score(report.findings), "scores": scores(report.findings)},
            }
        ],
    }


def _sarif_rule(finding: Finding) -> dict:
    return {
        "id": finding.rule,
        "shortDescription": {"text": f"{finding.rule} ({finding.source})"},
        "properties": {"tags": [finding.domain], "security-severity": str(_RANKS[finding.severity] / 10)}
        if finding.domain == "security"
        else {"tags": [finding.domain]},
    }


def _sarif_result(finding: Finding, rules: Sequence[str], state: str) -> dict:
    identity = "\0".join((finding.path, finding.rule, finding.quote))
    region: dict = {"startLine": max(finding.line, 1)}
    if finding.quote:
        region["snippet"] = {"text": finding.quote}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "rank": _RANKS[finding.severity],
        "message": {"text": finding.message},
        "baselineState": state,
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(finding.path)}, "region": region}}],
        "partialFingerprints": {"repopilot/v1": hashlib.sha256(identity.encode()).hexdigest()[:32]},
        "properties": {"severity": finding.severity, "domain": finding.domain, "source": finding.source},
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def report_markdown(report: ReviewReport, cited: Mapping[tuple[str, int], int] | None = None) -> str:
    """The report to be read: the scores, then the findings by file, gravest first, each with its code.

    `cited` gives the citation number of a (path, line), which is written as `[1]` behind the finding.
    """
    by_domain = scores(report.findings)
    lines = [f"**Health {score(report.findings)}/100** of {report.what}: "
             + ", ".join(f"{domain} {by_domain[domain]}" for domain in DOMAINS) + "."]  # fmt: skip
    counts = {s: sum(f.severity == s for f in report.findings) for s in WEIGHTS}
    shown = ", ".join(f"{n} {s}" for s, n in counts.items() if n)
    old = len(report.pre_existing)
    before = f" {old} more {'was' if old == 1 else 'were'} there before the change." if old else ""
    files = len(report.reviewed)
    lines.append(f"{shown or 'Nothing found'} in {files} file{'s' * (files != 1)}.{before}")
    for path, group in groupby(report.findings, key=lambda f: f.path):
        lines += ["", f"### `{_inline(path)}`", ""]
        lines += [line for f in sorted(group, key=_gravest) for line in _finding_lines(f, report, cited or {})]
    if report.notes:
        lines += ["", *(f"- *{note}*" for note in report.notes[:20])]
    return "\n".join(lines)


def _gravest(finding: Finding) -> tuple[int, int]:
    return list(WEIGHTS).index(finding.severity), finding.line


def _finding_lines(finding: Finding, report: ReviewReport, cited: Mapping[tuple[str, int], int]) -> list[str]:
    origin = f"`{finding.rule}` ({finding.domain}, {finding.source})"
    head = f"- **{finding.severity}** line {finding.line} · {finding.message} {origin}"
    if number := cited.get((finding.path, finding.line)):
        head += f" [{number}]"
    excerpt = report.excerpts.get(f"{finding.path}:{finding.line}", "")
    if not excerpt:
        return [head]
    fence = "````" if "```" in excerpt else "```"
    return [head, f"  {fence}", *(f"  {line}" for line in excerpt.split("\n")), f"  {fence}"]


def _inline(path: str) -> str:
    return path.replace("`", "'").replace("\n", "\\n")
