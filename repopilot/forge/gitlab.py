"""GitLab by its API, through python-gitlab."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import gitlab
from gitlab.exceptions import GitlabError, GitlabGetError

from repopilot.forge.connection import CHECK, PAGE, PAGES, TIMEOUT_S, OwnHost
from repopilot.forge.contents import Comment, Fork, HostIssue, LineComment, Outcome, OwnPull, Posted, Pull, commentable
from repopilot.forge.host_errors import explained, failed
from repopilot.forge.items import ForgeItem

_DEVELOPER = 30


class _Server(gitlab.Gitlab):
    def http_request(self, *args: Any, **options: Any) -> Any:
        """Make a request; retries are left to the session."""
        return super().http_request(*args, **{**options, "obey_rate_limit": False})


_STATES = {"running": "running", "passed": "success", "failed": "failed", "given up": "canceled"}


@explained(lambda error: (error.response_code or 0, error.error_message) if isinstance(error, GitlabError) else (0, ""))
class GitLabItem:
    """One issue or merge request. Every method raises as those of `Forge`.

    Args:
        item: the issue or merge request.
        api: the address of the server.
        token: called before the first request; returns the token, '' for none.
    """

    def __init__(self, item: ForgeItem, api: str, token: Callable[[], str]) -> None:
        self._item = item
        self._api = api
        self._token = token

    @cached_property
    def _server(self) -> _Server:
        return _Server(
            self._api,
            private_token=self._token() or None,
            timeout=TIMEOUT_S,  # type: ignore[arg-type]  # requests takes both
            user_agent="RepoPilot",
            session=OwnHost(self._api),
        )

    @property
    def _project(self) -> Any:
        return self._server.projects.get(self._item.project, lazy=True)

    suggestion = "suggestion:-{above}+0"
    """The info string of a code block that readers can apply with a click to the line of its comment and so many above
    it."""

    def account(self) -> str:
        """The name of the token's account; '' where the host doesn't tell."""
        try:
            return str(self._server.http_get("/user")["username"])  # type: ignore[index]  # never a whole response
        except GitlabError as error:
            if error.response_code not in (403, 404):
                raise
            return ""

    def issue(self) -> HostIssue:
        """The issue with its comments."""
        found = self._project.issues.get(self._item.number)
        project = self._server.projects.get(self._item.project)
        notes = _rows(found.notes, sort="asc", order_by="created_at")
        comments = [_comment(note) for note in notes if not note.attributes.get("system")]
        return HostIssue(
            title=found.title or "",
            text=found.description or "",
            state="open" if found.state == "opened" else found.state,
            clone_url=project.http_url_to_repo,
            default_branch=project.default_branch or "",
            labels=tuple(map(str, found.labels)),
            comments=tuple(comments),
            may_push=_may_push(project.attributes.get("permissions")),
            may_fork=project.attributes.get("forking_access_level") != "disabled",
            opened=_comment(found),
        )

    def labelled_by(self, label: str) -> str:
        """The account that last set a label of the issue; '' where the host doesn't tell."""
        rows = _rows(self._project.issues.get(self._item.number, lazy=True).resourcelabelevents)
        named = [row for row in rows if ((row.label or {}).get("name") or "").casefold() == label.casefold()]
        return next((str((row.user or {}).get("username") or "") for row in reversed(named) if row.action == "add"), "")

    def lets_push(self, account: str) -> bool:
        """Whether an account may push to the project: it is at least a developer of it, or of its group."""
        rows = _rows(self._project.members_all, query=account)
        found = next((row for row in rows if row.username == account), None)
        return found is not None and found.state == "active" and found.access_level >= _DEVELOPER

    def pull(self) -> Pull:
        """The merge request with its files."""
        found = self._merge_request()
        project = self._server.projects.get(found.target_project_id)
        refs = found.diff_refs or {}
        diffs = found.changes()["changes"]
        return Pull(
            title=found.title or "",
            text=found.description or "",
            state="open" if found.state == "opened" else found.state,
            base_sha=str(refs.get("base_sha") or ""),
            base_ref=found.target_branch,
            head_sha=str(refs.get("head_sha") or found.sha or ""),
            head_ref=found.source_branch,
            clone_url=project.http_url_to_repo,
            head_clone_url=self._source_url(found, project),
            lines={each["new_path"]: commentable(each.get("diff") or "") for each in diffs},
            versions={name: str(refs.get(name) or "") for name in ("base_sha", "start_sha", "head_sha")},
            old_paths={each["new_path"]: str(each["old_path"]) for each in diffs},
            windows={each["new_path"] for each in diffs if "\r\n" in (each.get("diff") or "")},
        )

    def inline_comments(self) -> list[Posted]:
        """Every comment on a line."""
        return [each for each in self._notes() if each.thread]

    def comment_on_lines(self, pull: Pull, comments: Sequence[LineComment], summary: str = "") -> bool:
        """Comment on lines in one review, for which the host sends one mail; returns whether the summary is in it.

        Where the account has drafts of its own, which publishing the review would publish too, each comment is posted
        separately.
        """
        request = self._merge_request()
        drafts = request.draft_notes
        if drafts.list(page=1, per_page=1, get_all=False):
            for each in comments:
                request.discussions.create({"body": each.text, "position": _position(pull, each)})
            return False
        made: list[Any] = []
        try:
            for each in comments:
                made.append(drafts.create({"note": each.text, "position": _position(pull, each)}))
            if summary:
                made.append(drafts.create({"note": summary}))
            drafts.bulk_publish()
        except GitlabError:
            for draft in made:
                draft.delete()
            raise
        return bool(summary)

    def set_outcome(self, pull: Pull, outcome: Outcome) -> None:
        """Show a review's outcome on the commit."""
        statuses = self._project.commits.get(pull.head_sha, lazy=True).statuses
        state = _STATES[outcome.state]
        # GitLab refuses to set the same state twice.
        if all(each.status != state for each in statuses.list(name=CHECK, get_all=False)):
            statuses.create({"state": state, "name": CHECK, "description": outcome.text})

    def opposed_by(self, comment: Posted) -> set[str]:
        """The accounts that resolved the thread of a comment on a line, or answered it with a thumbs down."""
        found = {comment.resolved_by} - {""}
        if comment.disliked:
            awards = self._merge_request().notes.get(int(comment.id), lazy=True).awardemojis
            found |= {str(each.user["username"]) for each in _rows(awards) if each.name == "thumbsdown"}
        return found

    def change_inline(self, comment: Posted, text: str) -> None:
        """Change the text of a comment on a line."""
        thread = self._merge_request().discussions.get(comment.thread)
        note = thread.notes.get(int(comment.id))
        note.body = text
        note.save()

    def resolve(self, comment: Posted) -> None:
        """Mark the thread of a comment as resolved."""
        thread = self._merge_request().discussions.get(comment.thread)
        thread.resolved = True
        thread.save()

    def comments(self) -> list[Posted]:
        """Every general comment."""
        return [each for each in self._notes() if not each.thread]

    def comment(self, text: str) -> None:
        """Post a general comment."""
        about = self._project.issues.get(self._item.number) if self._item.kind == "issue" else self._merge_request()
        about.notes.create({"body": text})

    def change_comment(self, comment: Posted, text: str) -> None:
        """Change the text of a general comment."""
        note = self._merge_request().notes.get(int(comment.id))
        note.body = text
        note.save()

    def fork(self) -> Fork:
        """The fork in the namespace of the token's account."""
        forks = self._project.forks
        own = (each for each in _rows(forks, owned=True) if each.namespace["kind"] == "user")
        found = next(own, None) or forks.create({})
        return Fork(found.path_with_namespace, found.http_url_to_repo, found.default_branch or "")

    def fork_ready(self, fork: Fork) -> bool:
        """Whether the import of a fork has ended. Raises ForgeError where it failed."""
        found = self._server.projects.get(fork.name).attributes
        if found.get("import_status") == "failed":
            raise failed(self._item, 409, str(found.get("import_error") or ""), "fork")
        return found.get("import_status", "none") in ("finished", "none")

    def start_branch(self, fork: Fork, commit: str, branch: str) -> None:
        """Create a branch of a fork."""
        self._server.projects.get(fork.name, lazy=True).branches.create({"branch": branch, "ref": commit})

    def open_pull(self, title: str, text: str, head: str, base: str, fork: Fork | None = None) -> tuple[str, int]:
        """Open a merge request, through its source project as GitLab wants; returns its address and number."""
        wanted = {"title": title, "description": text, "source_branch": head, "target_branch": base}
        source = self._server.projects.get(fork.name, lazy=True) if fork else self._project
        if fork:
            wanted["target_project_id"] = self._server.projects.get(self._item.project).id
        made = source.mergerequests.create(wanted)
        return str(made.web_url), int(made.iid)

    def own_pulls(self, account: str) -> list[OwnPull]:
        """The open merge requests of an account, the newest first."""
        rows = list(_rows(self._project.mergerequests, state="opened", author_username=account))
        sources = {row.source_project_id for row in rows} - {None}
        urls = {id: str(self._server.projects.get(id).http_url_to_repo) for id in sources}
        own = (row for row in rows if row.source_project_id in urls)
        return [OwnPull(row.web_url, row.iid, row.source_branch, urls[row.source_project_id]) for row in own]

    def _merge_request(self) -> Any:
        return self._project.mergerequests.get(self._item.number)

    def _source_url(self, request: Any, target: Any) -> str:
        """The address of the project that a merge request comes from; '' where it is gone, or hidden from the token."""
        if request.source_project_id is None:  # the project was deleted
            return ""
        if request.source_project_id == request.target_project_id:
            return str(target.http_url_to_repo)
        try:
            return str(self._server.projects.get(request.source_project_id).http_url_to_repo)
        except GitlabGetError as error:
            if error.response_code != 404:
                raise
            return ""

    def _notes(self) -> list[Posted]:
        """The first note of each discussion; with a thread where it is on a line."""
        return [_posted(thread) for thread in _rows(self._merge_request().discussions)]


def _rows(manager: Any, **options: Any) -> Iterator[Any]:
    """Every row of a list, page by page."""
    for page in range(1, PAGES + 1):
        rows = manager.list(page=page, per_page=PAGE, get_all=False, **options)
        yield from rows
        if len(rows) < PAGE:
            return


def _position(pull: Pull, comment: LineComment) -> dict[str, Any]:
    place: dict[str, Any] = {
        **pull.versions,
        "position_type": "text",
        "old_path": pull.old_paths.get(comment.path, comment.path),
        "new_path": comment.path,
        "new_line": comment.line,
    }
    if old_line := pull.lines[comment.path][comment.line]:  # a line that wasn't changed needs both numbers
        place["old_line"] = old_line
    return place


def _may_push(permissions: dict | None) -> bool:
    """Whether the account has a developer's access, by itself or through a group; True where the host doesn't say."""
    return permissions is None or any(each and each["access_level"] >= _DEVELOPER for each in permissions.values())


def _comment(note: Any) -> Comment:
    return Comment(
        str((note.attributes.get("author") or {}).get("username") or ""),
        note.attributes.get("body") or "",
        str(note.get_id()),
    )


def _posted(thread: Any) -> Posted:
    note = (thread.attributes.get("notes") or [{}])[0]
    place = note.get("position") or {}
    author = str((note.get("author") or {}).get("username") or "")
    path = str(place.get("new_path") or "")
    line = int(place.get("new_line") or 0)
    return Posted(
        id=str(note.get("id")),
        text=str(note.get("body") or ""),
        thread=str(thread.id) if place else "",
        author=author,
        path=path,
        line=line,
        resolved_by=str((note.get("resolved_by") or {}).get("username") or ""),
        disliked=bool(place),  # GitLab doesn't say
    )
