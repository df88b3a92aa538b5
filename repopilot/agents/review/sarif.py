"""A review as SARIF 2.1.0 (OASIS), for other tools. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from urllib.parse import quote

from repopilot.agents.review.findings import identities, score, scores
from repopilot.results import ReviewReport
from repopilot.types import Finding

_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_RANKS = {"critical": 95.0, "high": 75.0, "medium": 45.0, "low": 15.0}


def report_sarif(report: ReviewReport) -> dict:
    """The report as SARIF 2.1.0 (OASIS), one run; fingerprints stay the same when lines move."""
    rules = {f.rule: f for f in (*report.findings, *report.pre_existing, *report.silenced)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "RepoPilot", "rules": [_sarif_rule(rules[r]) for r in sorted(rules)]}},
                "columnKind": "utf16CodeUnits",
                "results": [
                    *_sarif_results(report.findings, sorted(rules), "new"),
                    *_sarif_results(report.pre_existing, sorted(rules), "unchanged"),
                    *_sarif_results(report.silenced, sorted(rules), "new"),
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


def _sarif_results(findings: Sequence[Finding], rules: Sequence[str], state: str) -> list[dict]:
    pairs = zip(findings, identities(findings), strict=True)
    return [_sarif_result(finding, rules, state, identity) for finding, identity in pairs]


def _sarif_result(finding: Finding, rules: Sequence[str], state: str, identity: str) -> dict:
    region: dict = {"startLine": max(finding.line, 1)}
    if finding.quote:
        region["snippet"] = {"text": finding.quote}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "rank": _RANKS[finding.severity],
        "message": {"text": str(finding.message)},
        "baselineState": state,
        **({"suppressions": [{"kind": "inSource"}]} if finding.silenced else {}),
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(finding.path)}, "region": region}}],
        "partialFingerprints": {"repopilot/v1": hashlib.sha256(identity.encode()).hexdigest()[:32]},
        "properties": {
            "severity": finding.severity,
            "domain": finding.domain,
            "source": finding.source,
            **_proof(finding),
        },
    }


def _proof(finding: Finding) -> dict:
    """What a model says of a defect, and the test that shows it."""
    if not finding.failure:
        return {}
    return {"failure": finding.failure, "proof": asdict(finding.proof) if finding.proof else None}
