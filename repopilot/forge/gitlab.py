"""GitLab by its API, through python-gitlab."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gitlab
import requests
from gitlab.exceptions import GitlabError, GitlabGetError

from repopilot.forge.contents import Comment, Fork, HostIssue, Posted, Pull, commentable
from repopilot.forge.host_errors import TIMEOUT_S, failed, unreachable
from repopilot.forge.items import ForgeItem


class GitLabItem:
    """One issue or merge request. Every method raises ForgeError.

    Args:
        item: which.
        api: the address of the server.
        token: for it, '' for none.
    """

    def __init__(self, item: ForgeItem, api: str, token: str) -> None:
        self._item = item
        self._server = gitlab.Gitlab(
            api, private_token=token or None, timeout=TIMEOUT_S, retry_transient_errors=True, user_agent="RepoPilot"
        )
        self._project = self._server.projects.get(item.project, lazy=True)

    def issue(self) -> HostIssue:
        """The issue with its comments."""
        with _explained(self._item):
            found = self._project.issues.get(self._item.number)
            project = self._server.projects.get(self._item.project)
            notes = found.notes.list(iterator=True, sort="asc", order_by="created_at")
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
            )

    def pull(self) -> Pull:
        """The merge request with its files."""
        with _explained(self._item):
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
            )

    def inline_comments(self) -> list[Posted]:
        """Every comment on a line."""
        return [each for each in self._notes() if each.thread]

    def comment_on_line(self, pull: Pull, path: str, line: int, text: str) -> None:
        """Comment on a line of the new version of a file."""
        place: dict[str, Any] = {**pull.versions, "position_type": "text", "new_path": path, "new_line": line}
        place["old_path"] = pull.old_paths.get(path, path)
        if old_line := pull.lines[path][line]:  # a line that wasn't changed needs both numbers
            place["old_line"] = old_line
        with _explained(self._item):
            self._merge_request().discussions.create({"body": text, "position": place})

    def change_inline(self, comment: Posted, text: str) -> None:
        """Give a comment on a line another text."""
        with _explained(self._item):
            thread = self._merge_request().discussions.get(comment.thread)
            note = thread.notes.get(int(comment.id))
            note.body = text
            note.save()

    def resolve(self, comment: Posted) -> None:
        """Mark the thread of a comment as resolved."""
        with _explained(self._item):
            thread = self._merge_request().discussions.get(comment.thread)
            thread.resolved = True
            thread.save()

    def comments(self) -> list[Posted]:
        """Every comment on the whole."""
        return [each for each in self._notes() if not each.thread]

    def comment(self, text: str) -> None:
        """Comment on the whole."""
        with _explained(self._item):
            about = self._project.issues.get(self._item.number) if self._item.kind == "issue" else self._merge_request()
            about.notes.create({"body": text})

    def change_comment(self, comment: Posted, text: str) -> None:
        """Give a comment on the whole another text."""
        with _explained(self._item):
            note = self._merge_request().notes.get(int(comment.id))
            note.body = text
            note.save()

    def fork(self) -> Fork:
        """The fork in the namespace of the token's account."""
        with _explained(self._item, "fork"):
            forks = self._project.forks
            own = (each for each in forks.list(owned=True, iterator=True) if each.namespace["kind"] == "user")
            found = next(own, None) or forks.create({})
            return Fork(found.path_with_namespace, found.http_url_to_repo, found.default_branch or "")

    def fork_ready(self, fork: Fork) -> bool:
        """Whether the import of a fork has ended. Raises ForgeError where it failed."""
        with _explained(self._item):
            found = self._server.projects.get(fork.name).attributes
        if found.get("import_status") == "failed":
            raise failed(self._item, 409, str(found.get("import_error") or ""), "fork")
        return found.get("import_status", "none") in ("finished", "none")

    def start_branch(self, fork: Fork, commit: str, branch: str) -> None:
        """Create a branch of a fork."""
        with _explained(self._item, "branch"):
            self._server.projects.get(fork.name, lazy=True).branches.create({"branch": branch, "ref": commit})

    def open_pull(self, title: str, text: str, head: str, base: str, fork: Fork | None = None) -> tuple[str, int]:
        """Open a merge request, at the project that it comes from as GitLab wants; returns its address and number."""
        wanted = {"title": title, "description": text, "source_branch": head, "target_branch": base}
        with _explained(self._item):
            source = self._server.projects.get(fork.name, lazy=True) if fork else self._project
            if fork:
                wanted["target_project_id"] = self._server.projects.get(self._item.project).id
            made = source.mergerequests.create(wanted)
            return str(made.web_url), int(made.iid)

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
        with _explained(self._item):
            return [_posted(thread) for thread in self._merge_request().discussions.list(iterator=True)]


@contextmanager
def _explained(item: ForgeItem, doing: str = "") -> Iterator[None]:
    """Errors of the client as ours."""
    try:
        yield
    except GitlabError as error:
        raise failed(item, int(error.response_code or 0), str(error.error_message or ""), doing) from error
    except (requests.RequestException, KeyError, TypeError, ValueError, AttributeError) as error:
        raise unreachable(item, error) from error


def _may_push(permissions: dict | None) -> bool:
    """Whether the account's own access or that of a group is a developer's (30); True where the host names none."""
    return permissions is None or any(each and each["access_level"] >= 30 for each in permissions.values())


def _comment(note: Any) -> Comment:
    return Comment(str((note.attributes.get("author") or {}).get("username") or ""), note.body or "")


def _posted(thread: Any) -> Posted:
    note = (thread.attributes.get("notes") or [{}])[0]
    place = note.get("position") or {}
    author = str((note.get("author") or {}).get("username") or "")
    path, line = str(place.get("new_path") or ""), int(place.get("new_line") or 0)
    return Posted(str(note.get("id")), str(note.get("body") or ""), str(thread.id) if place else "", author, path, line)
