"""A review as comments of a pull request: which to write, to change and to resolve. Pure.

Each comment of ours carries a hidden mark that identifies its finding independently of the line, which moves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from repopilot import i18n
from repopilot.agents.review.findings import RULES, WEIGHTS, has_severe, identities, score, scores
from repopilot.agents.review.report import diff_lines, folded_title, proof_lines, proofs_text
from repopilot.code.formats.notebook import is_notebook
from repopilot.foreign_text import code_span, fence_of, literal, visible
from repopilot.forge.contents import Outcome, Posted
from repopilot.redaction.redact import redacted
from repopilot.results import ReviewReport
from repopilot.types import Finding

MOST_COMMENTS = 40
"""The most comments of ours on a pull request at once, not counting those on fixed findings."""
SUMMARY = "<!-- repopilot:summary -->"
_REVIEWED = "<!-- repopilot:reviewed {commit} -->"
"""In the summary: the commit up to which a model has reviewed."""
_MARK = re.compile(r"^<!-- repopilot:([0-9a-f]{16})(?: (\w+))? -->", re.MULTILINE)  # not where a reply quotes it
"""The mark of a comment's finding, and its severity."""
_FIXED = "<!-- repopilot:fixed -->"
LISTED = 30


@dataclass(frozen=True, slots=True)
class PostingPlan:
    """What posting a review does.

    Attributes:
        new: (finding, text) to comment with.
        changed: (comment, text) of ours whose text has changed.
        fixed: (comment, text) of ours whose finding is gone.
        kept: how many stay as they are.
        stands: the kept ones whose finding a model reported earlier and not again, on unchanged lines.
        outside: findings without a comment: on lines that can't have one, or too many.
    """

    new: tuple[tuple[Finding, str], ...]
    changed: tuple[tuple[Posted, str], ...]
    fixed: tuple[tuple[Posted, str], ...]
    kept: int
    outside: tuple[Finding, ...]
    stands: tuple[Posted, ...] = ()

    @property
    def standing(self) -> int:
        """How many findings a model reported earlier and not again, on unchanged lines."""
        return len(self.stands)


def plan(
    report: ReviewReport,
    lines: Mapping[str, Collection[int]],
    own: Sequence[Posted],
    language: str = "en",
    text_of: Callable[[str], str | None] = lambda path: None,
    fence: Callable[[Finding], str] = lambda finding: "",
) -> PostingPlan:
    """Compare a review with the comments that are posted.

    A model doesn't find the same things twice, and after a push it reads only what is new. So a finding that it doesn't
    report again counts as fixed only where its line is gone or changed.

    Args:
        report: the review.
        lines: the lines that can be commented on, by path.
        own: the comments on lines by the token's account only, since anybody can compute a mark from the code.
        language: of the texts.
        text_of: the text of a file as it was reviewed, None where there is none.
        fence: the info string of a code block that readers can apply with a click, '' where they can't.
    """
    ours = open_comments(own)
    every = sorted((*report.findings, *report.dismissed), key=lambda finding: finding.line)
    marked = list(zip(marks_of(every), every, strict=True))
    ours = {mark: each for mark, each in ours.items() if mark not in {m for m, f in marked if f in report.dismissed}}
    # The lines of a notebook's cells are not those of its file.
    outside = [f for f in report.findings if f.line not in lines.get(f.path, ()) or is_notebook(f.path)]
    unposted = (*outside, *report.dismissed)
    wanted = {
        m: (f, comment_text(f, m, language, fence(f) if _is_on_lines(ours.get(m), f) else ""))
        for m, f in marked
        if f not in unposted
    }
    new = [each for mark, each in wanted.items() if mark not in ours]
    changed = [(ours[mark], text) for mark, (_, text) in wanted.items() if mark in ours and ours[mark].text != text]
    unrepeated = {mark: each for mark, each in ours.items() if mark not in wanted}
    standing = {m for m, each in unrepeated.items() if _stands(m, each.path, text_of(each.path) or "")}
    stands = tuple(each for mark, each in unrepeated.items() if mark in standing)
    gone = [each for mark, each in unrepeated.items() if mark not in standing]
    fixed = [(each, fixed_text(each.text, report.commit, language)) for each in gone]
    kept = len(wanted) - len(new) - len(changed) + len(standing)
    new.sort(key=lambda each: tuple(WEIGHTS).index(each[0].severity))  # the gravest first, as room is limited
    room = max(0, MOST_COMMENTS - kept - len(changed))
    rest = tuple(finding for finding, _ in new[room:])
    return PostingPlan(tuple(new[:room]), tuple(changed), tuple(fixed), kept, (*outside, *rest), stands)


def open_comments(own: Sequence[Posted]) -> dict[str, Posted]:
    """Our comments whose finding isn't fixed, by its mark; of several, the first.

    A fixed thread stays fixed: a defect that comes back gets a new one.

    Args:
        own: comments on lines, of the token's account.
    """
    return {m[1]: each for each in reversed(own) if (m := _MARK.search(each.text)) and not _is_fixed(each.text)}


def _is_on_lines(posted: Posted | None, finding: Finding) -> bool:
    """Whether a finding's replacement is for the lines of its comment; an earlier comment stays on its lines."""
    found = finding.replacement
    return not posted or (found is not None and posted.line == found.last and posted.first in (0, found.first))


def _is_fixed(text: str) -> bool:
    return _FIXED in text.splitlines()  # not where it is quoted


def _stands(mark: str, path: str, text: str) -> bool:
    """Whether a mark belongs to a model's finding on a line that the text has."""
    lines = {" ".join(line.split()) for line in redacted(text).split("\n")}
    quoted = (Finding(path, 0, "low", rule, "", "", quote=line) for rule in RULES.values() for line in lines)
    return any(mark == marks_of([each])[0] for each in quoted)


def without(report: ReviewReport, dismissed: Collection[str]) -> ReviewReport:
    """The review without the findings that people dismissed, which a note counts.

    Args:
        report: the review.
        dismissed: the marks of these findings.
    """
    every = sorted(report.findings, key=lambda finding: finding.line)
    gone = [finding for mark, finding in zip(marks_of(every), every, strict=True) if mark in dismissed]
    if not gone:
        return report
    kept = tuple(finding for finding in report.findings if finding not in gone)
    notes = (*report.notes, i18n.message("forge.dismissed", count=len(gone)))
    return replace(report, findings=kept, dismissed=tuple(gone), notes=notes)


def reviewed_commit(summary: str) -> str:
    """The commit up to which a model has reviewed, by the text of an earlier summary; '' where none has."""
    mark = re.compile(_REVIEWED.format(commit="([0-9a-f]{40,64})"))
    found = filter(None, map(mark.fullmatch, summary.splitlines()))  # not where the summary quotes one
    return next((each[1] for each in found), "")


def summaries_of(comments: Sequence[Posted], account: str) -> list[Posted]:
    """The summaries that an account's reviews left, in the order of the comments: the mark is a line of its own, since
    an answer may quote it.

    Args:
        comments: the general comments of a pull request, of anybody.
        account: the token's.
    """
    return [each for each in comments if each.author == account and SUMMARY in each.text.splitlines()]


def is_marked(text: str) -> bool:
    """Whether a comment was written by a review of this program, whoever posted it; it asks for nothing then."""
    return any(line.startswith("<!-- repopilot:") for line in text.splitlines())


def marks_of(findings: Sequence[Finding]) -> list[str]:
    """A hash that identifies each finding independently of its line number; findings on equal lines are numbered."""
    return [
        hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for identity in identities(findings)
    ]


def comment_text(finding: Finding, mark: str, language: str, fence: str = "") -> str:
    """A finding as a comment, with a suggested change where a tool has one and the host can apply it."""
    severity = i18n.text(f"review.severities.{finding.severity}", language)
    origin = " · ".join(filter(None, (finding.domain, finding.rule, finding.source)))
    body = literal(i18n.translated(finding.message, language))
    parts = [
        f"**{severity}** {body}",
        *_proof(finding, language),
        *_suggestion(finding, fence),
        f"<sub>{literal(origin)}</sub>",
    ]
    return "\n\n".join(parts) + f"\n<!-- repopilot:{mark} {finding.severity} -->"


def _suggestion(finding: Finding, fence: str) -> list[str]:
    """The fix of a finding, in a code block that readers can apply with a click where the host has one."""
    if not fence or finding.replacement is None:
        return ["\n".join(diff_lines(finding))] if finding.replacement else []
    ticks = fence_of(finding.replacement.new)
    return ["\n".join(filter(None, (f"{ticks}{fence}", finding.replacement.new, ticks)))]


def _proof(finding: Finding, language: str) -> list[str]:
    """The test that shows a defect, folded."""
    title, *test = proof_lines(finding, language) or [""]
    return (
        ["\n".join((f"<details><summary>{escape(visible(title))}</summary>", *test, "", "</details>"))] if title else []
    )


def fixed_text(text: str, commit: str, language: str) -> str:
    """The new text of a comment of ours whose finding is gone."""
    return f"{i18n.text('forge.fixed', language, commit=commit[:10])}\n\n{text}\n{_FIXED}"


def summary_text(report: ReviewReport, done: PostingPlan, language: str = "en") -> str:
    """The general comment: the health score, the counts, and what can't be said on a line."""
    by_domain = " · ".join(
        f"{i18n.term('review.domains', d, language)} {s}" for d, s in scores(report.findings).items()
    )
    facts = {"score": score(report.findings), "commit": report.commit[:10], "count": len(report.findings)}
    parts = [i18n.text("forge.summary", language, **facts), by_domain]
    walked = [
        f"- {code_span(visible(w.path))}: {literal(i18n.translated(w.text, language))}" for w in report.walkthrough
    ]
    parts += ["", i18n.text("review.walk.title", language), "", *walked[:LISTED], ""] if walked else []
    parts += [proofs] if (proofs := proofs_text(report, language)) else []
    parts += [f"- {literal(i18n.translated(note, language))}" for note in report.notes[:LISTED]]
    if done.outside:
        rows = [_row(finding, language) for finding in done.outside[:LISTED]]
        more = len(done.outside) - LISTED
        parts += [i18n.text("forge.outside", language), *rows]
        parts += [i18n.text("forge.more", language, count=more)] if more > 0 else []
    if report.folded:
        rows = [_row(finding, language) for finding in report.folded[:LISTED]]
        title = folded_title(report, language)
        parts += ["", f"<details><summary>{escape(title)}</summary>", "", *rows, "", "</details>"]
    parts += [i18n.text("forge.standing", language, count=done.standing)] if done.standing else []
    marks = [_REVIEWED.format(commit=report.commit), SUMMARY] if report.by_model else [SUMMARY]
    return "\n\n".join(["\n".join(parts), "\n".join(marks)])


def outcome(report: ReviewReport, done: PostingPlan, fail_on: str, language: str) -> Outcome:
    """The outcome of a review.

    Args:
        report: the review.
        done: how it is posted; what a model found earlier counts as long as it stands.
        fail_on: the least severity of a finding that doesn't pass, '' for none.
        language: of the texts.
    """
    marks = (_MARK.search(each.text) for each in done.stands)
    said = {mark[2] for mark in marks if mark is not None}
    stands = any(fail_on and each in said and WEIGHTS[each] >= WEIGHTS[fail_on] for each in WEIGHTS)
    facts = {"score": score(report.findings), "count": len(report.findings) + done.standing}
    text = i18n.text("forge.outcome", language, **facts)
    return Outcome("failed" if stands or has_severe(report.findings, fail_on or None) else "passed", text)


def _row(finding: Finding, language: str) -> str:
    place = code_span(visible(f"{finding.path}:{finding.line}"))
    return f"- {place} {literal(i18n.translated(finding.message, language))} ({literal(finding.rule)})"
