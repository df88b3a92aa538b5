"""A pull request's review: fetched from its host, reviewed against where it branched off, posted when asked for."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial

from repopilot import i18n
from repopilot.agents.review.agent import review_snapshot
from repopilot.agents.review.scope import EarlierReview
from repopilot.disk import replace_file
from repopilot.errors import CredentialsNeeded, ForgeError, SourceError
from repopilot.forge.contents import LineComment, Outcome, Posted, Pull
from repopilot.forge.hosts import Forge
from repopilot.forge.items import ForgeItem, checked_remote
from repopilot.forge.review_comments import (
    PostingPlan,
    open_comments,
    outcome,
    plan,
    reviewed_commit,
    summaries_of,
    summary_text,
    without,
)
from repopilot.openings import open_index, open_snapshot
from repopilot.repo import history
from repopilot.results import ReviewReport
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.trace import Step
from repopilot.types import Finding, OnProgress, Snapshot
from repopilot.workspace import Workspace, open_workspace


@dataclass(frozen=True, slots=True)
class PostedReview:
    """What posting did: how many comments are new, changed, resolved, kept; notes on what could not be done."""

    new: int
    changed: int
    fixed: int
    kept: int
    outside: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PostedBefore:
    """What the reviews posted so far left on a pull request.

    Attributes:
        review: what they reviewed and found.
        dismissed: the marks of findings that people who may push dismissed: by resolving the thread, or by a thumbs
            down.
        notes: what could not be read.
    """

    review: EarlierReview = field(default_factory=EarlierReview)
    dismissed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def posted_before(forge: Forge) -> PostedBefore:
    """Read what the reviews of the token's account left. Blocking.

    Args:
        forge: the host of the pull request.

    Raises:
        ForgeError: the host refuses to list comments.
    """
    account = forge.account()
    if not account:  # anybody can write our marks
        return PostedBefore()
    ours = open_comments([each for each in forge.inline_comments() if each.author == account])
    summaries = (each.text for each in summaries_of(forge.comments(), account))
    comments = tuple(f"{each.path}:{each.line}: {each.text.splitlines()[0]}" for each in ours.values())
    review = EarlierReview(reviewed_commit(next(summaries, "")), comments)
    may_push = cache(forge.lets_push)
    try:
        dismissed = frozenset(m for m, each in ours.items() if any(map(may_push, forge.opposed_by(each))))
    except ForgeError as error:  # such as a token that may not ask who may push
        note = i18n.message("forge.not_known_dismissed", error=error.message)
        return PostedBefore(review, notes=(note,))
    return PostedBefore(review, dismissed)


def fetch_pull(
    item: ForgeItem, pull: Pull, runtime: Runtime, progress: OnProgress, cancel: threading.Event
) -> Snapshot:
    """The pull request's commit, cloned; from the repository that it comes from where its host has no ref for it.

    Args:
        item: the pull request.
        pull: what the host says of it.
        runtime: the state of the process.
        progress: receives the progress of the clone.
        cancel: stops it when set.

    Raises:
        SourceError: neither can be fetched.
        CredentialsNeeded: the host asks for a token.
    """
    try:
        snapshot = open_snapshot(checked_remote(pull.clone_url), runtime, item.ref, progress, cancel)
        if snapshot.commit == pull.head_sha and not snapshot.stale:
            return snapshot
    except CredentialsNeeded:
        raise
    except SourceError:
        if not pull.head_clone_url:
            raise
    return open_snapshot(
        checked_remote(pull.head_clone_url or pull.clone_url), runtime, pull.head_ref, progress, cancel
    )


async def review_pull(
    item: ForgeItem,
    pull: Pull,
    runtime: Runtime,
    step: Step,
    progress: OnProgress,
    before: PostedBefore = PostedBefore(),
) -> tuple[ReviewReport, Workspace]:
    """Review what a pull request changes; a model reads only what came after its earlier review.

    Args:
        item: the pull request.
        pull: what the host says of it.
        runtime: the state of the process.
        step: the step of the review.
        progress: receives the progress of clone and index.
        before: what earlier reviews left on it.

    Returns:
        The review without what people dismissed, on this pull request or on others of the repository; and the
        repository.

    Raises:
        SourceError: it can't be fetched, or the commit it goes into isn't reachable.
        ForgeError: it was pushed to meanwhile.
    """
    cancel = threading.Event()
    try:
        snapshot = await asyncio.to_thread(fetch_pull, item, pull, runtime, progress, cancel)
        if pull.head_sha and snapshot.commit != pull.head_sha:
            raise ForgeError(i18n.message("forge.pushed", url=item.url), i18n.message("forge.pushed_hint"))
        index = await asyncio.to_thread(open_index, snapshot, runtime, progress, cancel=cancel)
    except asyncio.CancelledError:
        cancel.set()  # else the threads would go on
        raise
    workspace = await open_workspace(index, snapshot, runtime)
    base = await asyncio.to_thread(branched_off, snapshot, pull, runtime.settings)
    told = f"{pull.title}\n\n{pull.text}"
    earlier = before.review
    if not await asyncio.to_thread(lambda: history.leads_to(snapshot, earlier.commit)):  # such as a forced push
        earlier = replace(earlier, commit="")
    report = await review_snapshot(workspace, step, history.CommitRange(base), told=told, earlier=earlier)
    report = await asyncio.to_thread(without_dismissed, report, item, runtime.settings, before)
    return replace(report, what=f"{item.url} ({pull.base_ref} ← {pull.head_ref})"), workspace


def without_dismissed(report: ReviewReport, item: ForgeItem, settings: Settings, before: PostedBefore) -> ReviewReport:
    """The review without the findings that people dismissed in the repository; remembers them. Blocking.

    Args:
        report: the review.
        item: its pull request.
        settings: the folder of the data.
        before: what earlier reviews left on the pull request.
    """
    name = hashlib.sha256(f"{item.host}/{item.project}".encode()).hexdigest()[:16]
    file = settings.home / "dismissed" / f"{name}.txt"
    known = frozenset(file.read_text("utf-8").split()) if file.exists() else frozenset()
    every = known.union(before.dismissed)
    if every != known:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, "\n".join(sorted(every)).encode())
    left = without(report, every)
    return replace(left, notes=(*left.notes, *before.notes))


def branched_off(snapshot: Snapshot, pull: Pull, settings: Settings) -> str:
    """The commit to compare a pull request with: where its branch left its base, else the base itself. Blocking.

    Args:
        snapshot: the pull request's commit.
        pull: what the host says of it.
        settings: how remotes are reached.

    Raises:
        SourceError: the base can't be reached.
    """
    try:
        return history.merge_base(snapshot, pull.base_sha, None, settings) or pull.base_sha
    except SourceError:
        return history.merge_base(snapshot, pull.base_ref, None, settings) or pull.base_ref


def post(
    item: ForgeItem,
    forge: Forge,
    pull: Pull,
    report: ReviewReport,
    text_of: Callable[[str], str | None],
    language: str = "en",
    fail_on: str = "",
) -> PostedReview:
    """Post a review: comments on the lines of new findings, threads of fixed ones resolved, one summary. Blocking.

    Args:
        item: the pull request.
        forge: its host.
        pull: as it was reviewed.
        report: the review.
        text_of: the text of a file as it was reviewed, None where there is none.
        language: of the comments.
        fail_on: the least severity of a finding that has the commit marked as failed, '' for none.

    Returns:
        What was done. A second run of the same review changes nothing.

    Raises:
        ForgeError: the pull request is closed or was pushed to meanwhile, the host doesn't say which comments are those
            of the token's account, or it refuses.
    """
    now = forge.pull()
    if now.state != "open":
        raise ForgeError(i18n.message("forge.closed", url=item.url, state=now.state))
    if now.head_sha != pull.head_sha:
        raise ForgeError(i18n.message("forge.pushed", url=item.url), i18n.message("forge.pushed_hint"))
    account = forge.account()
    if not account:  # anybody can write our marks
        raise ForgeError(i18n.message("forge.no_account", host=item.host), i18n.message("forge.no_account_hint"))
    own = [each for each in forge.inline_comments() if each.author == account]
    wanted = plan(report, now.lines, own, language, text_of, partial(_fence, forge, now))
    summary = summary_text(report, wanted, language)
    earlier = summaries_of(forge.comments(), account)
    comments = [_on_lines(finding, text, _fence(forge, now, finding)) for finding, text in wanted.new]
    said = bool(comments) and forge.comment_on_lines(now, comments, "" if earlier else summary)
    for comment, text in wanted.changed:
        forge.change_inline(comment, text)
    notes = [note for comment, text in wanted.fixed if (note := _resolve(forge, comment, text))]
    if not (earlier or said):
        forge.comment(summary)
    elif earlier and earlier[0].text != summary:
        forge.change_comment(earlier[0], summary)
    notes += say_outcome(forge, now, outcome(report, wanted, fail_on, language))
    return _done(wanted, notes)


def _fence(forge: Forge, pull: Pull, finding: Finding) -> str:
    """The info string of a code block with which readers can apply the fix of a finding, '' where they can't."""
    found = finding.replacement
    shown = () if finding.path in pull.windows else pull.lines.get(finding.path, ())
    whole = found and all(line in shown for line in range(found.first, found.last + 1))
    return forge.suggestion.format(above=found.last - found.first) if found and whole else ""


def _on_lines(finding: Finding, text: str, fence: str) -> LineComment:
    """A comment on the line of a finding, or on the lines that its suggestion replaces."""
    lines = finding.replacement if fence else None
    return LineComment(finding.path, lines.last if lines else finding.line, text, lines.first if lines else 0)


def posted_text(posted: PostedReview, language: str) -> str:
    """What posting did, in words."""
    counts = {name: getattr(posted, name) for name in ("new", "changed", "fixed", "kept", "outside")}
    return i18n.text("forge.posted", language, **counts)


def _resolve(forge: Forge, comment: Posted, text: str) -> str:
    """Say that a finding is gone, and resolve its thread; returns a message where the thread can't be resolved."""
    forge.change_inline(comment, text)
    try:
        forge.resolve(comment)
    except ForgeError as error:
        return i18n.message("forge.not_resolved", error=error.message)
    return ""


def say_outcome(forge: Forge, pull: Pull, outcome: Outcome) -> list[str]:
    """Show the state of a review on its commit; returns a message where that can't be done. Blocking."""
    try:
        forge.set_outcome(pull, outcome)
    except ForgeError as error:
        return [i18n.message("forge.no_outcome", error=error.message)]
    return []


def _done(wanted: PostingPlan, notes: list[str]) -> PostedReview:
    counts = (len(wanted.new), len(wanted.changed), len(wanted.fixed), wanted.kept, len(wanted.outside))
    return PostedReview(*counts, tuple(dict.fromkeys(notes)))
