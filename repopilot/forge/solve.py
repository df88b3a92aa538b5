"""From an issue to a pull request: the issue is read as data, its task worked on, the change pushed when asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice

from repopilot import i18n
from repopilot.agents.coding.typed_commands import is_command
from repopilot.agents.generate.render import reasons_text, said_text
from repopilot.assistant import answer
from repopilot.errors import ForgeError, ForgeUnreachable, RepoPilotError, UsageError
from repopilot.foreign_text import code_span, literal, literal_lines, literal_subject, visible, without_comments
from repopilot.forge.contents import Comment, HostIssue, Posted
from repopilot.forge.fork import ready_fork
from repopilot.forge.hosts import Forge
from repopilot.forge.items import ForgeItem, checked_remote
from repopilot.forge.review_comments import is_marked
from repopilot.openings import SharedOpenings
from repopilot.repo.paths.runs_elsewhere import runs_elsewhere
from repopilot.repo.publish.branch import branch_name
from repopilot.repo.publish.push import push_branch
from repopilot.repo.source import parse_source
from repopilot.results import Answer, Generation, ImpactReport, Sentence, TestReport
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.tools.test_suites import brings, own_tests
from repopilot.trace import Step
from repopilot.types import FileChange, OnProgress
from repopilot.workspace import Workspace, open_workspace, with_test_packages

LONGEST_TEXT = 6000
LONGEST_COMMENT = 1500
COMMENTS_READ = 12
COMMAND = "/repopilot solve"
_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^>]*>", re.IGNORECASE)
_LINK = re.compile(r"https?://[^\s<>()\[\]\"'`]*[^\s<>()\[\]\"'`.,;:!?]")


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of the work on an issue.

    Attributes:
        answer: the agents' answer with the files, without those that are refused.
        workspace: the workspace that it was made in.
        refused: files that a change for an issue may not touch.
    """

    answer: Answer
    workspace: Workspace
    refused: tuple[str, ...] = ()


def task_of(issue: HostIssue) -> str:
    """The task that an issue describes, for the agents: its title, then what people wrote, as a quotation; a title that
    is one of the plain commands (`rename a to b`) stands alone."""
    if is_command(issue.title):
        return issue.title.strip()
    said = [f"Labels: {', '.join(issue.labels)}" if issue.labels else "", *_texts_of(issue)]
    said = [_PICTURE.sub("(a picture, which can't be seen here)", text) for text in said]
    said = [_LINK.sub(lambda link: _linked_lines(link[0], issue.clone_url), text) for text in said]
    quoted = "\n\n".join("\n".join(f"> {line}" for line in text.strip().splitlines()) for text in said if text.strip())
    return f"{issue.title.strip()}\n\n{quoted}".strip()


def _texts_of(issue: HostIssue) -> list[str]:
    """What people wrote in an issue, as much of it as is read."""
    comments = [each.text for each in issue.comments if not asks_for_work(each.text)][-COMMENTS_READ:]
    texts = [without_comments(text)[:LONGEST_COMMENT] for text in comments]
    return [without_comments(issue.text)[:LONGEST_TEXT], *texts]


def asks_for_work(text: str) -> bool:
    """Whether a comment asks for work on its issue: its first line is the command and nothing else."""
    return next(iter(text.strip().splitlines()), "").strip() == COMMAND


def _linked_lines(link: str, clone_url: str) -> str:
    """The path and lines that a link to a file of the repository names, as the agents' tools take them; else the
    link."""
    try:
        source = parse_source(link)
        own = parse_source(clone_url)
    except RepoPilotError:
        return link
    if source.url != own.url or not source.focus:
        return link
    return f"{source.focus}:{source.line}-{source.last_line}" if source.line else source.focus


def issue_of_pull(item: ForgeItem, forge: Forge, *, everybody: bool = False) -> HostIssue:
    """What reviewers ask for on a pull request, as an issue of the branch that it comes from. Blocking.

    Args:
        item: the pull request.
        forge: its host.
        everybody: include comments of people who don't belong to the repository.

    Raises:
        ForgeError: it is closed, nobody asks for anything, its source repository is gone, or the host refuses.
    """
    pull = forge.pull()
    if pull.state != "open":
        raise ForgeError(i18n.message("forge.closed", url=item.url, state=pull.state))
    found = [each for each in (*forge.inline_comments(), *forge.comments()) if not is_marked(each.text)]
    is_member = _membership(forge)
    said = [each for each in found if everybody or is_member(each)]
    if not said:
        key = "forge.no_member_comments" if found else "forge.no_comments"
        raise ForgeError(i18n.message(key, url=item.url, count=len(found)))
    comments = [
        Comment(each.author, f"{each.path}:{each.line} {each.text}" if each.path else each.text) for each in said
    ]
    if not pull.head_clone_url:  # a branch of the same name in the target repository, such as main, is another one
        raise ForgeError(i18n.message("forge.source_gone", url=item.url))
    return HostIssue(pull.title, "", "open", pull.head_clone_url, pull.head_ref, (), tuple(comments))


def of_members(issue: HostIssue, forge: Forge, *, everybody: bool = False) -> HostIssue:
    """The issue without the comments of people who neither opened it nor belong to its repository. Blocking.

    Args:
        issue: what the host says of it.
        forge: its host.
        everybody: keep them.

    Raises:
        ForgeUnreachable: the host can't be asked who may push.
    """
    if everybody:
        return issue
    is_member = _membership(forge)
    known = [each for each in issue.comments if each.author == issue.opened.author or is_member(each)]
    return replace(issue, comments=tuple(known), left_out=len(issue.comments) - len(known))


def by_member(comment: Comment, forge: Forge) -> bool:
    """Whether the author of a comment or an issue belongs to its repository. Blocking; raises ForgeUnreachable."""
    return _membership(forge)(comment)


def _membership(forge: Forge) -> Callable[[Comment | Posted], bool]:
    """A function that tells whether an author belongs to the repository or, where the host doesn't say, may push."""
    may_push = cache(forge.lets_push)

    def is_member(comment: Comment | Posted) -> bool:
        try:
            return bool(comment.author and may_push(comment.author)) if comment.member is None else comment.member
        except ForgeUnreachable:
            raise
        except ForgeError:  # such as a token that may not ask
            return False

    return is_member


def going_on(item: ForgeItem, forge: Forge, issue: HostIssue) -> HostIssue:
    """The issue, set to continue where an earlier run left off: on the branch of the pull request that the token's
    account has open for it. Blocking.

    Args:
        item: the issue.
        forge: its host.
        issue: what the host says of it.

    Returns:
        The issue as it was given where there is no such pull request, or the host doesn't say whose the token is.

    Raises:
        ForgeError: the host refuses.
    """
    account = forge.account()
    named = branch_name(str(item.number)) + "-"
    own = forge.own_pulls(account) if account else []
    found = next((each for each in own if each.branch.startswith(named)), None)
    if found is None:
        return issue
    return replace(issue, clone_url=found.clone_url, default_branch=found.branch, own_pull=found)


def already_open(issue: HostIssue, solution: Solution) -> dict | None:
    """What an earlier run opened for the issue, as `open_pull` returns it."""
    pull = issue.own_pull
    commit = solution.workspace.snapshot.commit
    return {"url": pull.url, "number": pull.number, "branch": pull.branch, "commit": commit} if pull else None


def _push_to_pull(item: ForgeItem, issue: HostIssue, solution: Solution, settings: Settings) -> dict:
    """Push the change on top of a pull request's own branch; takes, returns and raises as `open_pull`."""
    pull = issue.own_pull
    message = f"{literal_subject(issue.title)}\n" if pull else f"Address the review of #{item.number}\n"
    branch, commit = push_branch(
        solution.workspace.snapshot, issue.default_branch, solution.answer.files, message, settings, onto_branch=True
    )
    url, number = (pull.url, pull.number) if pull else (item.url, item.number)
    return {"url": url, "number": number, "branch": branch, "commit": commit}


async def solve(
    item: ForgeItem,
    issue: HostIssue,
    runtime: Runtime,
    step: Step,
    progress: OnProgress,
    *,
    environment: bool = False,
) -> Solution:
    """Work on an issue in a clone of its repository; nothing is pushed.

    Args:
        item: the issue.
        issue: what the host says of it.
        runtime: the state of the process.
        step: the step of the work.
        progress: receives the progress of clone and index.
        environment: whether to fetch first what the repository's tests need.

    Raises:
        ForgeError: the issue is closed.
        RepoPilotError: as cloning, indexing and generating.
    """
    if issue.state not in ("open", ""):
        raise ForgeError(i18n.message("forge.closed", url=item.url, state=issue.state))
    address = checked_remote(issue.clone_url)
    snapshot, index = await SharedOpenings(runtime).opened(address, issue.default_branch, progress)
    workspace = replace(await open_workspace(index, snapshot, runtime), reproduce=item.kind == "issue")
    if environment:
        workspace = await with_test_packages(workspace, progress)
    return solution_of(issue, await answer(task_of(issue), workspace, step, "GENERATE"), workspace)


def solution_of(issue: HostIssue, done: Answer, workspace: Workspace) -> Solution:
    """The result of the work on an issue, with notes on the parts of the issue that were not seen."""
    if count := sum(len(_PICTURE.findall(text)) for text in _texts_of(issue)):
        done = replace(done, degraded=(*done.degraded, i18n.message("forge.pictures", count=count)))
    if issue.left_out:
        done = replace(done, degraded=(*done.degraded, i18n.message("forge.left_out", count=issue.left_out)))
    return without_refused(done, workspace)


def without_refused(done: Answer, workspace: Workspace) -> Solution:
    """The answer without files that an issue may not change, and without the summary that mentions them."""
    refused = tuple(file.path for file in done.files if runs_elsewhere(file.path))
    if not refused:
        return Solution(done, workspace)
    files = tuple(file for file in done.files if file.path not in refused)
    note = i18n.message("forge.refused", paths=", ".join(refused))
    result = replace(done.result, summary="", said=()) if isinstance(done.result, Generation) else done.result
    kept = replace(done, files=files, result=result, degraded=(*done.degraded, note))
    return Solution(kept, workspace, refused)


def open_pull(
    item: ForgeItem, forge: Forge, issue: HostIssue, solution: Solution, settings: Settings, language: str = "en"
) -> dict:
    """Push the change as a branch, of the user's fork where they may not push, and open a pull request; where an
    earlier run opened one, or the item is one, push to that. Blocking.

    Args:
        item: the issue, or the pull request whose review is addressed.
        forge: its host.
        issue: what the host says of it.
        solution: the change.
        settings: the tokens, and how remotes are reached.
        language: of the texts.

    Returns:
        {url, number, branch, commit, fork: its name or None}; without `fork` where an open pull request got the change.

    Raises:
        UsageError: there is no change.
        SourceError: the push is refused.
        ForgeError: the host refuses the pull request or the fork.
    """
    files = solution.answer.files
    if not files:
        raise UsageError(i18n.message("forge.nothing_to_push"))
    if issue.own_pull or item.kind == "pull":
        return _push_to_pull(item, issue, solution, settings)
    title = literal_subject(issue.title) or f"#{item.number}"
    message = f"{title}\n\n{_reference(item, solution.answer)}\n"
    wanted = branch_name(f"{item.number} {title}")
    snapshot = solution.workspace.snapshot
    fork = None if issue.may_push else ready_fork(item, forge, issue.clone_url, settings.clone_timeout_s)
    target = (fork.clone_url, partial(forge.start_branch, fork, snapshot.commit)) if fork else None
    branch, commit = push_branch(snapshot, wanted, files, message, settings, fork=target)
    text = pull_text(item, solution.answer, files, language)
    try:
        url, number = forge.open_pull(title, text, branch, issue.default_branch, fork)
    except ForgeError as error:
        raise ForgeError(error.message, i18n.message("forge.only_pushed", branch=branch)) from error
    return {"url": url, "number": number, "branch": branch, "commit": commit, "fork": fork.name if fork else None}


def opened_text(opened: dict, language: str) -> str:
    """The result of `open_pull`, in words."""
    if "fork" not in opened:
        return i18n.text("forge.pushed_to", language, **opened)
    return i18n.text("forge.fork.opened" if opened["fork"] else "forge.opened", language, **opened)


def question_text(done: Answer, language: str) -> str:
    """The comment on an issue that led to no change: why, and the places that it may mean."""
    result = done.result if isinstance(done.result, Generation) else Generation()
    choices = "\n".join(f"- {_code(choice)}" for choice in result.choices)
    why = literal_lines(i18n.translated(result.failure, language) or done.text)
    return "\n\n".join(filter(None, (i18n.text("forge.asks", language), why, choices)))


def pull_text(item: ForgeItem, done: Answer, files: Sequence[FileChange], language: str) -> str:
    """The text of the pull request: what no test proves, what was done, the reasons against it, what it touches."""
    result = done.result if isinstance(done.result, Generation) else Generation()
    said = [_literal_sentence(each, language) for each in result.said]
    counted = [f"- {_code(file.path)} ({i18n.text(f'ui.diff.{file.change}', language)})" for file in files]
    summary = literal_lines(result.summary.strip())
    notes = [i18n.translated(note, language) for note in _of_change(done.degraded)]
    parts = [
        _proof(result.tests, files, language),
        summary or "\n".join([i18n.text("forge.changed", language), "", *counted]),
        _against(result, language),
        i18n.text("loop.says", language, summary=said_text(said, language)) if said else "",
        _touches(result.impact, files, language) if result.impact else "",
        "\n".join(f"- {literal(note)}" for note in notes if note not in result.summary),
        _reference(item, done),
        f"<sub>{i18n.text('forge.made_by', language)}</sub>",
    ]
    return "\n\n".join(filter(None, parts))


def _reference(item: ForgeItem, done: Answer) -> str:
    """The text that links a change to its issue. Merging a change that was given up must not close the issue."""
    verdict = done.result.verdict if isinstance(done.result, Generation) else None
    return f"{'For' if verdict and verdict.decision == 'REQUEST_REVISION' else 'Closes'} #{item.number}"


def _against(made: Generation, language: str) -> str:
    """The reasons for the score of a change that isn't accepted as it is."""
    if made.verdict is None or made.verdict.decision == "ACCEPT_ORIGINAL":
        return ""
    return literal(reasons_text(replace(made, reasons=_of_change(made.reasons)), language))


def _of_change(notes: Sequence[str]) -> tuple[str, ...]:
    """The messages about the change itself, without those that say that a reviewing agent did not reply."""
    return tuple(note for note in notes if not getattr(note, "key", "").startswith("generate.scored_without."))


def _touches(impact: ImpactReport, files: Sequence[FileChange], language: str) -> str:
    """How risky the change is, and which other files it affects; '' where neither is known."""
    changed = {file.path for file in files}
    reached = dict.fromkeys(place.path for place in impact.affected if place.path not in changed)
    if not reached:
        return "" if impact.risk == "UNKNOWN" else i18n.text("forge.risk", language, risk=impact.risk)
    paths = ", ".join(map(_code, islice(reached, 8)))
    return i18n.text("forge.touches", language, risk=impact.risk, paths=paths)


def _proof(tests: TestReport | None, files: Sequence[FileChange], language: str) -> str:
    """What is unproved, where no test shows that the change solves the issue, and what was tried; '' where one does."""
    if tests is None:
        return i18n.text("forge.not_tested", language)
    if tests.repaired or tests.genuine:
        return ""
    passed = tests.run.tests("passed") if tests.run else ()
    own = own_tests(tuple(files))
    tried = [name for name in passed if name not in tests.added and brings(own, name)]
    names = ", ".join(map(_code, islice(tried, 8)))
    told = [i18n.text("forge.tried", language, count=len(tried), names=names)] if tried else []
    return " ".join([i18n.text("forge.not_reproduced", language), *told])


def _literal_sentence(sentence: Sentence, language: str) -> Sentence:
    """A model's sentence with Markdown escaped in its text; the mark that it isn't checked is ours."""
    return replace(sentence, text=literal_lines(sentence.text), why=literal(i18n.translated(sentence.why, language)))


def _code(text: str) -> str:
    return code_span(visible(text))
