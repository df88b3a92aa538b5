"""Review: what is wrong with a change, a file, a folder or generated code, found by rules, linters and a model that
uses tools. The same report serves the chat, the command line and other tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from repopilot import i18n
from repopilot.agents.review.by_model import ModelReview, review_by_model
from repopilot.agents.review.engine import SECRETS, AnalysisResult, analyse, run_on
from repopilot.agents.review.findings import DOMAINS, has_severe, is_likely_defect, merged, score, scores
from repopilot.agents.review.given import Given
from repopilot.agents.review.question import ReviewRequest, read_request
from repopilot.agents.review.replacements import files_with_replacements
from repopilot.agents.review.report import report_json, report_markdown
from repopilot.agents.review.rules.registry import RULES
from repopilot.agents.review.sarif import report_sarif
from repopilot.agents.review.scope import (
    EarlierReview,
    ReviewTarget,
    Scope,
    listed,
    narrowed,
    of_changes,
    of_diff,
    of_paths,
)
from repopilot.agents.review.uses_elsewhere import broken_uses
from repopilot.agents.review.walkthrough import walkthrough
from repopilot.code.file_version import Code, code
from repopilot.code.formats.notebook import is_notebook, place_in_cells
from repopilot.code.languages import file_kind, language_of
from repopilot.errors import RepoPilotError
from repopilot.project.ruff_options import CONFIGS, ChosenRules, chosen_rules
from repopilot.redaction.redact import shown_path
from repopilot.repo import history
from repopilot.repo.history import CommitRange
from repopilot.repo.project_file import NAME, ProjectOptions, fits, project_file
from repopilot.repo.read import find_raw, plain_text
from repopilot.resolve.uses.broken_uses import UNCERTAIN_RULE
from repopilot.results import Answer, ReviewReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.tools.file_change import syntax_error
from repopilot.tools.stored_text import stored_text
from repopilot.trace import Step
from repopilot.types import Citation, FileChange, Finding, Snapshot
from repopilot.workspace import Workspace

__all__ = [
    "ReviewReport",
    "report_json",
    "report_markdown",
    "report_sarif",
    "review",
    "review_changes",
    "review_snapshot",
]

_PULL = re.compile(r"refs/(pull|merge-requests)/\d+/head")
_CITED = 40


async def review(question: str, workspace: Workspace, step: Step) -> Answer:
    """Review what the question names: a range of commits, a pull request, files or folders, uncommitted work, or the
    code generated in the last turn.

    Args:
        question: in English or French; the answer is in its language.
        workspace: the repository.
        step: the steps of the work go below it.

    Returns:
        The report as text, with citations where the code reviewed is the code at hand; `result` is a `ReviewReport`.

    Raises:
        UsageError: a path, or a pull request of this repository, can't be found.
        SourceError: a commit of the range is unknown.
    """
    wanted = await asyncio.to_thread(read_request, question, workspace)
    if wanted.changes:
        report = await review_changes(workspace, step, wanted.changes)
    else:
        report = await review_snapshot(workspace, step, wanted.commits, wanted.paths)
    answer = _answer(report, wanted, workspace, reply_language(question, workspace.settings))
    await step.answer(answer.text)
    return answer


async def review_snapshot(
    workspace: Workspace,
    step: Step,
    commits: CommitRange | None = None,
    paths: Sequence[str] = (),
    told: str = "",
    earlier: EarlierReview | None = None,
) -> ReviewReport:
    """Review the difference between two revisions, or files in full.

    Args:
        workspace: the repository.
        step: the step of the review.
        commits: the range to review. Without it, the snapshot's pull request is reviewed; without one, the files of
            `paths`, or all files, in full.
        paths: files and folders to review; empty for all.
        told: the author's description of the change, apart from its commit messages.
        earlier: a review of an earlier part of the change; a model reads only what came after it.

    Returns:
        The report.

    Raises:
        SourceError: a revision is unknown.
        UsageError: a path doesn't exist.
    """
    async with step.child("scope", "tool", f"{commits or ''} {' '.join(paths)}".strip()) as choosing:
        scope = await asyncio.to_thread(_scope, workspace, commits, paths)
        choosing.note(what=scope.what, files=len(scope.targets), notes=list(scope.notes))
    scope = await _with_broken_uses(scope, workspace, step)
    if earlier and earlier.commit and scope.states is not None:
        seen = await asyncio.to_thread(of_diff, workspace.snapshot, CommitRange(earlier.commit), workspace.settings)
        scope = replace(scope, unread=seen)
    return await _review_scope(scope, workspace, step, told, earlier.posted if earlier else ())


async def _with_broken_uses(scope: Scope, workspace: Workspace, step: Step) -> Scope:
    """The scope, with the uses elsewhere that the change broke as given findings."""
    if scope.states is None:
        return scope
    try:
        async with step.child("uses elsewhere", "tool", scope.what) as comparing:
            found, notes = await asyncio.to_thread(broken_uses, scope, workspace)
            comparing.note(findings=len(found))
    except RepoPilotError as error:
        found = []
        notes = (i18n.message("review.uses_not_compared", why=i18n.reason(error)),)
    for note in notes:
        step.degrade(note)
    return replace(scope, given=(*scope.given, *found), notes=(*scope.notes, *notes))


async def review_changes(workspace: Workspace, step: Step, changes: Sequence[FileChange]) -> ReviewReport:
    """Review generated files by their changed lines.

    Args:
        workspace: the repository; the index has the files' text before the change.
        step: the step of the review.
        changes: the generated files.

    Returns:
        The report.
    """
    texts = {c.path: workspace.index.text(c.path) for c in changes}
    return await _review_scope(of_changes(changes, {p: t for p, t in texts.items() if t is not None}), workspace, step)


async def review_text(workspace: Workspace, step: Step, name: str, text: str) -> ReviewReport:
    """Review code that isn't a file of the repository, regardless of the repository's review options.

    Args:
        workspace: its settings.
        step: the step of the review.
        name: a file name for the code, which tells its language.
        text: the code.

    Returns:
        The report, with the first syntax error among the findings.
    """
    file = code(name, text, language_of(name) or "")
    targets = [ReviewTarget(file)]
    found = await asyncio.gather(*(_domain(domain, targets, step) for domain in DOMAINS))
    findings = merged([*_unreadable(file), *(f for one in found for f in one.new)])
    notes = (*_without_rules(targets), *(note for one in found for note in one.notes))
    return ReviewReport(
        what=i18n.message("review.pasted_code"),
        commit=workspace.snapshot.commit,
        findings=tuple(findings),
        reviewed=(name,),
        notes=notes,
        excerpts=_excerpts(findings, targets),
    )


def _unreadable(file: Code) -> list[Finding]:
    """The first syntax error; none for Python, where a linter reports it."""
    problem = None if file.language == "python" else syntax_error(file.path, file.text)
    return [file.finding(problem.line, "high", "style", "syntax", problem.message, "parser")] if problem else []


def _scope(workspace: Workspace, commits: CommitRange | None, paths: Sequence[str]) -> Scope:
    snapshot = workspace.snapshot
    settings = workspace.settings
    if commits is None and not paths and snapshot.ref and _PULL.fullmatch(snapshot.ref):
        commits = CommitRange(history.default_branch(snapshot, settings), branched_off=True)
    if commits is None:
        return of_paths(snapshot, paths, settings)
    return narrowed(of_diff(snapshot, commits, settings), paths)


async def _review_scope(
    scope: Scope, workspace: Workspace, step: Step, told: str = "", posted: tuple[str, ...] = ()
) -> ReviewReport:
    """Review all domains concurrently and merge their findings, by the repository's options before the change."""
    before = scope.states[0] if scope.states else workspace.snapshot
    wanted = (await asyncio.to_thread(project_file, before)).options
    scope = await asyncio.to_thread(_within, scope, wanted)
    found = await asyncio.gather(*(_domain(domain, scope.targets, step) for domain in DOMAINS))
    every = merged([*scope.given, *(f for one in found for f in one.new)])
    new = [finding for finding in every if _is_wanted(finding, wanted)]
    silenced = merged(f for one in found for f in one.silenced)
    places = {(f.path, f.line, f.rule) for f in new}
    old = [f for f in merged(f for one in found for f in one.old) if (f.path, f.line, f.rule) not in places]
    old = [finding for finding in old if _is_wanted(finding, wanted)]
    walked = walkthrough(scope)
    reviewed = ModelReview(walkthrough=walked)
    unread = scope.unread or scope
    if scope.unread and not scope.unread.diffs:  # a model has read all of it
        reviewed = replace(reviewed, finished=True)
    elif workspace.uses_tools and unread.states is not None and unread.targets:
        given = Given(new, told, walked if unread is scope else walkthrough(unread), posted)
        reviewed = await review_by_model(unread.states, given, workspace, step)
        told_by_model = {note.path: note for note in reviewed.walkthrough}
        reviewed = replace(reviewed, walkthrough=tuple(told_by_model.get(note.path, note) for note in walked))
    defects = [finding for finding in reviewed.findings if _is_wanted(finding, wanted)]
    chosen = await asyncio.to_thread(_chosen_rules, before)
    remarks = [f for f in new if f.rule == UNCERTAIN_RULE or not is_likely_defect(f, chosen)]
    new = [*defects, *(finding for finding in new if finding not in remarks)]
    step.note(health=score(new), scores=scores(new), findings=len(new), pre_existing=len(old))
    notes = (
        *scope.notes,
        *_silenced(silenced),
        *_silenced([f for f in every if not _is_wanted(f, wanted)], "review.turned_off"),
        *_without_rules(scope.targets),
        *(note for one in found for note in one.notes),
        *reviewed.notes,
    )
    return ReviewReport(
        what=scope.what,
        commit=scope.commit or workspace.snapshot.commit,
        findings=_with_cells(new, scope.targets),
        pre_existing=_with_cells(old, scope.targets),
        silenced=_with_cells(silenced, scope.targets),
        reviewed=tuple(t.new.path for t in scope.targets),
        folded=_with_cells(
            [*(finding for finding in reviewed.folded if _is_wanted(finding, wanted)), *remarks], scope.targets
        ),
        walkthrough=reviewed.walkthrough,
        by_model=reviewed.finished,
        notes=notes,
        excerpts={} if workspace.settings.audience == "reader" else _excerpts(new, scope.targets),
    )


def _chosen_rules(state: Snapshot) -> ChosenRules:
    """The rules of ruff that the repository has chosen. Blocking."""
    stored = {name: find_raw(state, name) for name in CONFIGS}
    return chosen_rules({name: plain_text(name, data) or "" for name, data in stored.items() if data is not None})


def _within(scope: Scope, wanted: ProjectOptions) -> Scope:
    """The scope without the files that the repository doesn't want reviewed, which a note names; their secrets are
    reported all the same."""
    kept = tuple(t for t in scope.targets if _is_inside(t.new.path, wanted))
    left = [t for t in scope.targets if not _is_inside(t.new.path, wanted)]
    secrets, _ = run_on(SECRETS, left)
    why = i18n.message("repo.skip.project_file")
    paths = listed([shown_path(t.new.path) for t in left])
    notes = [i18n.message("review.not_reviewed", path=paths, why=why)] if left else []
    return replace(scope, targets=kept, given=(*scope.given, *secrets), notes=(*scope.notes, *notes))


def _is_inside(path: str, wanted: ProjectOptions) -> bool:
    """Whether the repository wants a file reviewed."""
    paths = wanted.review.paths
    return (not paths or fits(path, paths)) and (path == NAME or not fits(path, wanted.exclude))


def _is_wanted(finding: Finding, wanted: ProjectOptions) -> bool:
    """Whether the repository wants a finding reported. A secret always is."""
    options = wanted.review
    severe = has_severe((finding,), options.least_severity)
    return finding.source == "secrets" or (
        severe and finding.rule not in options.off and _is_inside(finding.path, wanted)
    )


def _silenced(findings: Sequence[Finding], key: str = "review.silenced") -> list[str]:
    """A note with the place and rule of everything that isn't reported."""
    places = [f"{shown_path(f.path)}:{f.line} ({f.rule})" for f in findings]
    return [i18n.message(key, count=len(places), places=listed(places))] if places else []


def _with_cells(findings: Sequence[Finding], targets: Sequence[ReviewTarget]) -> tuple[Finding, ...]:
    """The findings; those in notebooks name their cell and the line in it, since notebooks show no other numbers."""
    notebooks = {t.new.path: t.new.safe for t in targets if is_notebook(t.new.path)}
    return tuple(_with_cell(f, notebooks[f.path]) if f.path in notebooks else f for f in findings)


def _with_cell(finding: Finding, text: str) -> Finding:
    cell, line = place_in_cells(text, finding.line)
    return replace(finding, message=i18n.message("review.in_cell", cell=cell, line=line, message=finding.message))


def _without_rules(targets: Sequence[ReviewTarget]) -> list[str]:
    """A note for each reviewed language that no rule covers, where finding nothing means nothing."""
    covered = {language for rule in RULES for language in rule.languages}
    files = (t.new for t in targets if file_kind(t.new.path) == "code")
    by_language: dict[str, list[str]] = {}
    for file in files:
        if file.language not in covered:
            by_language.setdefault(file.language, []).append(shown_path(file.path))
    unknown = i18n.message("review.unknown_language")
    return [
        i18n.message("review.no_rules", language=language or unknown, count=len(paths), paths=listed(paths))
        for language, paths in sorted(by_language.items(), key=lambda item: -len(item[1]))
    ]


async def _domain(domain: str, targets: Sequence[ReviewTarget], step: Step) -> AnalysisResult:
    """The analysers of one domain, in a step of its own."""
    async with step.child(domain, "agent", i18n.message("format.file", count=len(targets))) as working:
        found = await analyse(domain, targets, working)
        working.note(findings=len(merged(found.new)))
        return found


def _excerpts(findings: Sequence[Finding], targets: Sequence[ReviewTarget]) -> dict[str, str]:
    """The line of each finding with one before and after, numbered."""
    lines = {t.new.path: t.new.safe.split("\n") for t in targets}
    excerpts = {}
    for finding in findings:
        text = lines.get(finding.path, [])
        around = range(max(1, finding.line - 1), min(len(text), finding.line + 1) + 1)
        excerpts[f"{finding.path}:{finding.line}"] = "\n".join(f"{n:>4} {text[n - 1][:160]}" for n in around)
    return excerpts


def _answer(report: ReviewReport, wanted: ReviewRequest, workspace: Workspace, language: str) -> Answer:
    cited: dict[tuple[str, int], int] = {}
    # Whether the code at hand is the code that was reviewed.
    at_hand = (wanted.commits is None or wanted.commits.head is None) and not wanted.changes
    if at_hand:
        places = list(dict.fromkeys((f.path, f.line) for f in report.findings))
        cited = {place: number for number, place in enumerate(places[:_CITED], 1)}
    commit = workspace.index.commit
    citations = tuple(Citation(number, path, line, line, commit) for (path, line), number in cited.items())
    report = replace(report, note=wanted.note)
    text = "\n\n".join(filter(None, (i18n.translated(report.note, language), report_markdown(report, cited, language))))
    files = files_with_replacements(report.findings, partial(stored_text, workspace=workspace)) if at_hand else ()
    return Answer(text, citations, files, result=report)
