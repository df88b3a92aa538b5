"""The report of a review: as JSON for programs, as Markdown for people. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import get_args

from repopilot import i18n
from repopilot.agents.review.findings import WEIGHTS, score, scores, weight_order
from repopilot.foreign_text import fenced, suffix_of
from repopilot.i18n.format import list_row
from repopilot.results import ReviewReport
from repopilot.types import Finding, ProofKind

_KEYS = ("path", "line", "severity", "domain", "rule", "message", "source", "quote", "failure", "proof")
_NOTES_SHOWN = 20
_SEVERITIES = tuple(WEIGHTS)
_KINDS = get_args(ProofKind)
_STATES = ("before", "after")


def report_json(report: ReviewReport) -> dict:
    """The report as one JSON document: score, scores by domain, findings, and how complete it is; in English."""
    return {
        "score": score(report.findings),
        "scores": scores(report.findings),
        "findings": [finding_json(f) for f in report.findings],
        "pre_existing": len(report.pre_existing),
        "walkthrough": [{"path": w.path, "text": str(w.text), "by_model": w.by_model} for w in report.walkthrough],
        "folded": [finding_json(f) for f in report.folded],
        "silenced": [finding_json(f) for f in report.silenced],
        "what": str(report.what),
        "commit": report.commit,
        "reviewed": list(report.reviewed),
        "notes": [str(note) for note in report.notes],
    }


def finding_json(finding: Finding) -> dict:
    """One finding, with the keys in the order of the command line's contract; its message has what a model suggests."""
    values = asdict(finding)
    if finding.failure and finding.replacement:
        facts = {"failure": finding.failure, "suggestion": finding.replacement.new}
        values["message"] = str(i18n.message("review.suggested", **facts))
    return {key: values[key] for key in _KEYS}


def report_markdown(
    report: ReviewReport, cited: Mapping[tuple[str, int], int] | None = None, language: str = "en"
) -> str:
    """The report as Markdown: the scores, then the findings by file, the most severe first, each with its code.

    Args:
        report: what was found.
        cited: the citation number of a (path, line), which is written as `[1]` behind its finding.
        language: what to write it in; the words of ruff and bandit stay English.

    Returns:
        Markdown, a heading of the third level for each file.
    """
    walked = walkthrough_text(report, language)
    lines = [walked, ""] if walked else []
    if looked_at(report):
        lines += [_health(report, language), counts_text(report, language)]
    else:
        lines.append(nothing_reviewed(report, language))
    if proofs := proofs_text(report, language):
        lines.append(proofs)
    for path, group in groupby(_by_file(report.findings), key=lambda f: f.path):
        lines += ["", f"### `{_inline(path)}`", ""]
        for finding in sorted(group, key=lambda each: (weight_order(each), each.line)):
            lines += finding_lines(finding, report, cited or {}, language)
    if title := folded_title(report, language):
        rows = (f"- `{_inline(f.path)}:{f.line}` {i18n.translated(f.message, language)}" for f in report.folded)
        lines += ["", f"### {title}", "", *rows]
    if notes := notes_text(report, language):
        lines += ["", notes]
    return "\n".join(lines)


def _by_file(findings: Sequence[Finding]) -> list[Finding]:
    """The findings grouped by file, the files in the order of their first findings."""
    paths = list(dict.fromkeys(finding.path for finding in findings))
    return sorted(findings, key=lambda finding: paths.index(finding.path))


def looked_at(report: ReviewReport) -> bool:
    """Whether anything was reviewed, so that a score says something."""
    return bool(report.reviewed or report.findings)


def nothing_reviewed(report: ReviewReport, language: str) -> str:
    """The sentence that no file was reviewed; the notes say why."""
    return i18n.text("review.nothing_reviewed", language, what=i18n.translated(report.what, language))


def is_partial(report: ReviewReport) -> bool:
    """Whether an analyser failed, so that finding nothing means less."""
    return any(isinstance(note, i18n.Message) and note.key == "review.analyser_failed" for note in report.notes)


def _health(report: ReviewReport, language: str) -> str:
    by_domain = scores(report.findings)
    domains = (f"{i18n.term('review.domains', domain, language)} {points}" for domain, points in by_domain.items())
    return i18n.text(
        "review.health_of_part" if is_partial(report) else "review.health",
        language,
        score=score(report.findings),
        what=i18n.translated(report.what, language),
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


def proofs_text(report: ReviewReport, language: str) -> str:
    """How many findings a test proves or shows; '' where no model reported any."""
    kinds = Counter(f.proof.kind if f.proof else "opinion" for f in report.findings if f.failure)
    found = [i18n.text(f"review.proofs.{kind}", language, count=kinds[kind]) for kind in _KINDS if kinds[kind]]
    return i18n.text("review.by_model", language, found=", ".join(found)) if found else ""


def walkthrough_text(report: ReviewReport, language: str) -> str:
    """What the change does, file by file; '' where no change was reviewed."""
    rows = [
        list_row(f"`{_inline(each.path)}`", i18n.translated(each.text, language), language)
        for each in report.walkthrough
    ]
    return "\n".join([i18n.text("review.walk.title", language), "", *rows]) if rows else ""


def folded_title(report: ReviewReport, language: str) -> str:
    """How many opinions don't count, and why; '' for none."""
    return i18n.text("review.folded", language, count=len(report.folded)) if report.folded else ""


def proof_lines(finding: Finding, language: str) -> list[str]:
    """A finding's test with its outcomes, as Markdown rows; none where it has no test."""
    proof = finding.proof
    if proof is None:
        return []
    words = {name: i18n.term("review.outcomes", getattr(proof, name).replace(" ", "_"), language) for name in _STATES}
    title = i18n.text(f"review.is_{proof.kind}", language, path=_inline(proof.path), **words)
    title += f" {i18n.text('review.outside', language)}" if proof.outside else ""
    return [title, "", *fenced(proof.test.rstrip(), suffix_of(proof.path)).split("\n")]


def diff_lines(finding: Finding) -> list[str]:
    """The fix of a finding as a diff, as Markdown rows; none where no fix is known."""
    found = finding.replacement
    if found is None:
        return []
    added = found.new.split("\n") if found.new else ()
    rows = [*(f"-{line}" for line in found.old.split("\n")), *(f"+{line}" for line in added)]
    return fenced("\n".join(rows), "diff").split("\n")


def notes_text(report: ReviewReport, language: str) -> str:
    """What the review left out, as a Markdown list; '' for nothing."""
    return "\n".join(f"- *{i18n.translated(note, language)}*" for note in report.notes[:_NOTES_SHOWN])


def finding_lines(
    finding: Finding, report: ReviewReport, cited: Mapping[tuple[str, int], int], language: str
) -> list[str]:
    """A finding of a report as Markdown rows: what it says, its code, its proof."""
    head = "- " + i18n.text(
        "review.finding",
        language,
        severity=i18n.text(f"review.severities.{finding.severity}", language),
        line=finding.line,
        message=i18n.translated(finding.message, language),
        rule=finding.rule,
        domain=i18n.text(f"review.domains.{finding.domain}", language),
        source=finding.source,
    )
    if number := cited.get((finding.path, finding.line)):
        head += f" [{number}]"
    lines = [head]
    if excerpt := report.excerpts.get(f"{finding.path}:{finding.line}", ""):
        lines += [f"  {line}" for line in fenced(excerpt).split("\n")]
    return [*lines, *(f"  {line}" for line in (*diff_lines(finding), *proof_lines(finding, language)))]


def _inline(path: str) -> str:
    return path.replace("`", "'").replace("\n", "\\n")
