"""A review as comments of a pull request: which to write, to change and to resolve. Pure.

A comment of ours carries a mark that no reader sees: what it is about, independent of the line, which moves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.code.notebook import is_notebook
from repopilot.foreign_text import code_span, literal, visible
from repopilot.forge.contents import Posted
from repopilot.results import ReviewReport
from repopilot.review.findings import WEIGHTS, identities, score, scores
from repopilot.types import Finding

MOST_COMMENTS = 40
"""Of ours on a pull request at once, those on what is fixed not counted."""
SUMMARY = "<!-- repopilot:summary -->"
_MARK = re.compile(r"^<!-- repopilot:([0-9a-f]{16}) -->", re.MULTILINE)  # not where a reply quotes it
_FIXED = "<!-- repopilot:fixed -->"
LISTED = 30


@dataclass(frozen=True, slots=True)
class PostingPlan:
    """What posting a review does.

    Attributes:
        new: (finding, text) to comment with.
        changed: (comment, text) of ours whose text is another by now.
        fixed: (comment, text) of ours whose finding is gone.
        kept: how many stay as they are.
        outside: findings without a comment: on lines that can't have one, or too many.
    """

    new: tuple[tuple[Finding, str], ...]
    changed: tuple[tuple[Posted, str], ...]
    fixed: tuple[tuple[Posted, str], ...]
    kept: int
    outside: tuple[Finding, ...]


def plan(
    report: ReviewReport, lines: Mapping[str, Collection[int]], own: Sequence[Posted], language: str = "en"
) -> PostingPlan:
    """Compare a review with what is posted.

    Args:
        report: the review.
        lines: the lines that can be commented on, by path.
        own: every comment on a line of the token's account: anybody can write a mark, which is computed from the code.
        language: of the texts.
    """
    # Of several the first. What is fixed stays so: a defect that comes back gets a thread of its own.
    ours = {m[1]: each for each in reversed(own) if (m := _MARK.search(each.text)) and _FIXED not in each.text}
    marked = list(zip(marks_of(report.findings), report.findings, strict=True))
    # The lines of a notebook's cells are not those of its file.
    outside = [f for f in report.findings if f.line not in lines.get(f.path, ()) or is_notebook(f.path)]
    wanted = {m: (f, comment_text(f, m, language)) for m, f in marked if f not in outside}
    new = [each for mark, each in wanted.items() if mark not in ours]
    changed = [(ours[mark], text) for mark, (_, text) in wanted.items() if mark in ours and ours[mark].text != text]
    gone = [each for mark, each in ours.items() if mark not in wanted]
    fixed = [(each, fixed_text(each.text, report.commit, language)) for each in gone]
    kept = len(wanted) - len(new) - len(changed)
    new.sort(key=lambda each: tuple(WEIGHTS).index(each[0].severity))  # the gravest, where not all have room
    room = max(0, MOST_COMMENTS - kept - len(changed))
    rest = tuple(finding for finding, _ in new[room:])
    return PostingPlan(tuple(new[:room]), tuple(changed), tuple(fixed), kept, (*outside, *rest))


def is_marked(text: str) -> bool:
    """Whether a comment is a review's of this program, whoever posted it: nobody's wish."""
    return any(line.startswith("<!-- repopilot:") for line in text.splitlines())


def marks_of(findings: Sequence[Finding]) -> list[str]:
    """What each finding is about, whatever line it is on by now; of equal lines the first, second, … is told apart."""
    return [
        hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for identity in identities(findings)
    ]


def comment_text(finding: Finding, mark: str, language: str) -> str:
    """A finding as a comment."""
    severity = i18n.text(f"review.severities.{finding.severity}", language)
    origin = " · ".join(filter(None, (finding.domain, finding.rule, finding.source)))
    body = literal(i18n.said(finding.message, language))
    return f"**{severity}** {body}\n\n<sub>{literal(origin)}</sub>\n<!-- repopilot:{mark} -->"


def fixed_text(text: str, commit: str, language: str) -> str:
    """A comment of ours whose finding is gone."""
    return f"{i18n.text('forge.fixed', language, commit=commit[:10])}\n\n{text}\n{_FIXED}"


def summary_text(report: ReviewReport, done: PostingPlan, language: str = "en") -> str:
    """The one comment on the whole: the health score, the counts, and what can't be said on a line."""
    by_domain = " · ".join(
        f"{i18n.term('review.domains', d, language)} {s}" for d, s in scores(report.findings).items()
    )
    facts = {"score": score(report.findings), "commit": report.commit[:10], "count": len(report.findings)}
    parts = [i18n.text("forge.summary", language, **facts), by_domain]
    parts += [f"- {literal(i18n.said(note, language))}" for note in report.notes[:LISTED]]
    if done.outside:
        rows = [_row(finding, language) for finding in done.outside[:LISTED]]
        more = len(done.outside) - LISTED
        parts += [i18n.text("forge.outside", language), *rows]
        parts += [i18n.text("forge.more", language, count=more)] if more > 0 else []
    return "\n\n".join(["\n".join(parts), SUMMARY])


def _row(finding: Finding, language: str) -> str:
    place = code_span(visible(f"{finding.path}:{finding.line}"))
    return f"- {place} {literal(i18n.said(finding.message, language))} ({literal(finding.rule)})"
