"""What a question asks to have reviewed: a range, a pull request, paths, uncommitted work, the last turn's code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot import i18n
from repopilot.errors import RepoPilotError, UsageError
from repopilot.repo.history import CommitRange, commit_range, range_in
from repopilot.repo.source import parse_source
from repopilot.retrieval.query.asked import asked
from repopilot.types import FileChange
from repopilot.workspace import Workspace

_PULL_URL = re.compile(r"https://\S+/(?:pull|pulls|merge_requests)/\d+\S*")
_PULL = re.compile(r"\b(?:PR|pull request|MR|merge request)\s*#?(\d+)\b", re.I)
_TOKEN = re.compile(r"[^\s`'\"(),;!?]+")
_TOP = 3


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """Either `changes`, or a range of `commits`, or `paths`; `note` says how the question was understood."""

    commits: CommitRange | None = None
    paths: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()
    note: str = ""


def read_request(question: str, workspace: Workspace) -> ReviewRequest:
    """Read from a question what to review.

    Args:
        question: in English or French.
        workspace: the repository and the conversation.

    Returns:
        The request. A question that names nothing is used as a search: its best files are reviewed, as the note says.

    Raises:
        UsageError: the question names a pull request of another repository.
    """
    named = _named_paths(question, workspace)
    if pull := _pull_request(question, workspace):
        return ReviewRequest(
            CommitRange("HEAD", pull, branched_off=True), note=i18n.message("review.reviewed_pull", pull=pull)
        )
    if written := range_in(question):
        return ReviewRequest(commit_range(written), named)
    if named:
        return ReviewRequest(paths=named)
    return _unnamed(question, workspace)


def _unnamed(question: str, workspace: Workspace) -> ReviewRequest:
    scope = asked(question)
    if scope == "generated" and workspace.turns and workspace.turns[-1].files:
        return ReviewRequest(changes=workspace.turns[-1].files)
    dirty = workspace.snapshot.root is not None and workspace.snapshot.commit.endswith("+dirty")
    if scope == "uncommitted" and dirty:
        return ReviewRequest(CommitRange("HEAD"), note=i18n.message("review.reviewed_uncommitted"))
    if scope == "last commit":
        return ReviewRequest(CommitRange("HEAD~1", "HEAD"), note=i18n.message("review.reviewed_last"))
    if scope in ("everything", "overview"):
        return ReviewRequest()
    from repopilot.retrieval.search import search

    hits = search(workspace.index, question, 10, embedder=workspace.embedder).hits
    files = list(dict.fromkeys(h.chunk.path for h in hits if h.chunk.kind in ("function", "class", "module")))[:_TOP]
    if not files:
        return ReviewRequest()
    names = ", ".join(f"`{f}`" for f in files)
    return ReviewRequest(paths=tuple(files), note=i18n.message("review.reviewed_best", files=names))


def _pull_request(question: str, workspace: Workspace) -> str | None:
    """The full ref of a pull request of this repository, None when the question names none."""
    if url := _PULL_URL.search(question):
        try:
            source = parse_source(url[0].rstrip(".,;)"))
        except RepoPilotError:
            return None
        if source.name.rpartition("/")[2].lower() != workspace.snapshot.name.rpartition("/")[2].lower():
            raise UsageError(
                i18n.message("review.errors.other_repository", name=source.name, here=workspace.snapshot.name),
                i18n.message("review.errors.other_repository_hint"),
            )
        return source.ref
    number = _PULL.search(question)
    return f"refs/pull/{number[1]}/head" if number else None


def _named_paths(question: str, workspace: Workspace) -> tuple[str, ...]:
    """Files and folders of the index that the question names, by full path or by an ending that only one file has."""
    index = workspace.index
    folders = {"/".join(f.split("/")[:n]) for f in index.files for n in range(1, f.count("/") + 1)}
    found: list[str] = []
    for token in _TOKEN.findall(question):
        name = re.sub(r"(:\d+.*|#L\d+.*)$", "", token).strip(".:/[]<>*").removeprefix("./")
        is_file = "." in name or name in index.files
        found.append(name if name in folders else index.file_named(name) if is_file else "")
    return tuple(dict.fromkeys(filter(None, found)))
