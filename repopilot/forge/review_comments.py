"""A review as comments of a pull request: which to write, to change and to resolve. Pure.

A comment of ours carries a mark that no reader sees: what it is about, independent of the line, which moves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.forge.contents import Posted
from repopilot.results import ReviewReport
from repopilot.review.findings import WEIGHTS, score, scores
from repopilot.types import Finding

MOST_COMMENTS = 40
"""Of ours on a pull request at once, those on what is fixed not counted."""
SUMMARY = "<!-- repopilot:summary -->"
_MARK = re.compile(r"<!-- repopilot:([0-9a-f]{16}) -->")
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
    report: ReviewReport, lines: Mapping[str, Collection[int]], posted: Sequence[Posted], language: str = "en"
) -> PostingPlan:
    """Compare a review with what is posted.

    Args:
        report: the review.
        lines: the lines that can be commented on, by path.
        posted: every comment on a line, of anybody.
        language: of the texts.
    """
    # Of several the first: a reply may quote the mark.
    ours = {mark[1]: each for each in reversed(posted) if (mark := _MARK.search(each.text))}
    inside = [f for f in report.findings if f.line in lines.get(f.path, ())]
    outside = [f for f in report.findings if f.line not in lines.get(f.path, ())]
    wanted: dict[str, tuple[Finding, str]] = {}
    for finding in inside:
        wanted.setdefault(mark_of(finding), (finding, comment_text(finding, language)))
    new = [each for mark, each in wanted.items() if mark not in ours]
    changed = [(ours[mark], text) for mark, (_, text) in wanted.items() if mark in ours and ours[mark].text != text]
    gone = [each for mark, each in ours.items() if mark not in wanted and _FIXED not in each.text]
    fixed = [(each, fixed_text(each.text, report.commit, language)) for each in gone]
    kept = len(wanted) - len(new) - len(changed)
    new.sort(key=lambda each: tuple(WEIGHTS).index(each[0].severity))  # the gravest, where not all have room
    room = max(0, MOST_COMMENTS - kept - len(changed))
    rest = tuple(finding for finding, _ in new[room:])
    return PostingPlan(tuple(new[:room]), tuple(changed), tuple(fixed), kept, (*outside, *rest))


def mark_of(finding: Finding) -> str:
    """What a finding is about, whatever line it is on by now."""
    identity = "\0".join((finding.path, finding.rule, " ".join(finding.quote.split())))
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def comment_text(finding: Finding, language: str) -> str:
    """A finding as a comment."""
    severity = i18n.text(f"review.severities.{finding.severity}", language)
    origin = " · ".join(filter(None, (finding.domain, finding.rule, finding.source)))
    body = inert(i18n.said(finding.message, language))
    return f"**{severity}** {body}\n\n<sub>{inert(origin)}</sub>\n<!-- repopilot:{mark_of(finding)} -->"


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
    parts += [f"- {i18n.said(note, language)}" for note in report.notes[:LISTED]]
    if done.outside:
        rows = [
            f"- `{f.path}:{f.line}` {inert(i18n.said(f.message, language))} ({f.rule})" for f in done.outside[:LISTED]
        ]
        more = len(done.outside) - LISTED
        parts += [i18n.text("forge.outside", language), *rows]
        parts += [i18n.text("forge.more", language, count=more)] if more > 0 else []
    return "\n\n".join(["\n".join(parts), SUMMARY])


def inert(text: str) -> str:
    """A text of a repository or a model in a comment: it mentions nobody, links nothing and holds no mark of ours."""
    return text.replace("<!--", "&lt;!--").replace("@", "@\u200b").replace("![", "!\\[").replace("](", "]\\(")
