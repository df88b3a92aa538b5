"""A server that speaks the part of GitLab's REST API that issues and merge requests need."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from support.host_server import HostHandler, HostServer, serving
from support.openapi import Description


@dataclass
class GitLabServer(HostServer):
    """What its one project `g/p` (id 1) holds."""

    project: dict[str, Any] = field(default_factory=dict)
    issue: dict[str, Any] = field(default_factory=dict)
    merge_request: dict[str, Any] = field(default_factory=dict)
    changes: list[dict] = field(default_factory=list)
    notes: list[dict] = field(default_factory=list)
    discussions: list[dict] = field(default_factory=list)
    opened: list[dict] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    forks: list[dict] = field(default_factory=list)
    fork: dict[str, Any] = field(default_factory=dict)  # `me/p`; made by asking for it
    label_events: list[dict] = field(default_factory=list)  # of the issue
    members: list[dict] = field(default_factory=list)  # with those of its group
    account: str = "me"  # of the token; '' where it may not read that
    requests: list[dict] = field(default_factory=list)  # the open merge requests
    drafts: list[dict] = field(default_factory=list)  # of the account, not published
    statuses: list[dict] = field(default_factory=list)  # of the commit
    mails: int = 0  # that comments on lines are told by
    disliked: list[str] = field(default_factory=list)  # who answered each note with a thumbs down
    imports: list[str] = field(default_factory=list)  # the states of its import, one a request; then finished

    def add_note(self, body: dict) -> dict:
        """A discussion of one note; on a line where the body has a position."""
        number = len(self.discussions) + 1
        note = {"id": 100 + number, "body": body["body"], "author": {"username": self.account or "me"}, "system": False}
        if "position" in body:
            note["position"] = body["position"]
        self.discussions.append({"id": f"d{number}", "notes": [note]})
        return note


def serve() -> AbstractContextManager[GitLabServer]:
    """Serve until the block ends."""
    return serving(_Handler, GitLabServer)


class _Handler(HostHandler):
    state: GitLabServer
    description = Description("gitlab")
    base = "/api/v4"
    page_size = 20

    def refused(self) -> bool:
        if not self.state.token or self.headers.get("PRIVATE-TOKEN") == self.state.token:
            return False
        self.send(401, {"message": "401 Unauthorized"})
        return True

    def project(self, match: re.Match, body: dict, query: dict) -> None:
        self.one(self.state.project)

    def issue(self, match: re.Match, body: dict, query: dict) -> None:
        self.one(self.state.issue)

    def issue_notes(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.notes, query)

    def add_issue_note(self, match: re.Match, body: dict, query: dict) -> None:
        author = {"username": self.state.account}
        self.state.notes.append({"id": 900 + len(self.state.notes), "system": False, "author": author, **body})
        self.send(201, self.state.notes[-1])

    def label_events(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.label_events, query)

    def members(self, match: re.Match, body: dict, query: dict) -> None:
        """As GitLab searches: also in longer names."""
        self.page([each for each in self.state.members if query["query"] in each["username"]], query)

    def user(self, match: re.Match, body: dict, query: dict) -> None:
        name = self.state.account
        self.send(200, {"id": 1, "username": name}) if name else self.send(403, {"message": "insufficient_scope"})

    def list_requests(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(
            [each for each in self.state.requests if each["author"]["username"] == query["author_username"]], query
        )

    def open_request(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.opened.append(body)
        self.send(201, {"iid": 50, "web_url": f"{self.state.url}/g/p/-/merge_requests/50"})

    def list_forks(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.forks, query)

    def add_fork(self, match: re.Match, body: dict, query: dict) -> None:
        self.send(201, self.state.fork) if self.state.fork else self.one(None)

    def fork(self, match: re.Match, body: dict, query: dict) -> None:
        status = self.state.imports.pop(0) if self.state.imports else "finished"
        self.send(200, {**self.state.fork, "import_status": status, "import_error": "too large"})

    def start_branch(self, match: re.Match, body: dict, query: dict) -> None:
        self.send(400, {"message": "Invalid reference name"})

    def request(self, match: re.Match, body: dict, query: dict) -> None:
        self.one(self.state.merge_request)

    def changes(self, match: re.Match, body: dict, query: dict) -> None:
        self.send(200, {**self.state.merge_request, "changes": self.state.changes})

    def discussions(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.discussions, query)

    def add_discussion(self, match: re.Match, body: dict, query: dict) -> None:
        if "position" in body and not self._is_in_diff(body["position"]):
            problem = """Note {:line_code=>["can't be blank", "must be a valid line code"]}"""
            return self.send(400, {"message": f"400 Bad request - {problem}"})
        self.state.add_note(body)
        self.state.mails += 1
        self.send(201, self.state.discussions[-1])

    def list_drafts(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.drafts, query)

    def add_draft(self, match: re.Match, body: dict, query: dict) -> None:
        if "position" in body and not self._is_in_diff(body["position"]):
            return self.send(400, {"message": "400 Bad request - Position is invalid"})
        self.state.drafts.append({"id": 1 + len(self.state.drafts), **body})
        self.send(201, self.state.drafts[-1])

    def delete_draft(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.drafts = [each for each in self.state.drafts if each["id"] != int(match[1])]
        self.send(204, None)

    def publish_drafts(self, match: re.Match, body: dict, query: dict) -> None:
        for each in self.state.drafts:
            place = {"position": each["position"]} if each.get("position") else {}
            self.state.add_note({"body": each["note"], **place})
        self.state.drafts.clear()
        self.state.mails += 1
        self.send(204, None)

    def list_statuses(self, match: re.Match, body: dict, query: dict) -> None:
        self.page([each for each in self.state.statuses if each["name"] == query["name"]], query)

    def add_status(self, match: re.Match, body: dict, query: dict) -> None:
        """GitLab moves a status from one state to another, never to the same."""
        if any(each["status"] == body["state"] for each in self.state.statuses):
            return self.send(400, {"message": "Cannot transition status"})
        self.state.statuses = [{"name": body["name"], "status": body["state"], "description": body["description"]}]
        self.send(201, self.state.statuses[0])

    def awards(self, match: re.Match, body: dict, query: dict) -> None:
        rows = [{"id": 1, "name": "thumbsdown", "user": {"username": name}} for name in self.state.disliked]
        self.page(rows, query)

    def add_note(self, match: re.Match, body: dict, query: dict) -> None:
        self.send(201, self.state.add_note(body))

    def discussion(self, match: re.Match, body: dict, query: dict) -> None:
        found = next((each for each in self.state.discussions if each["id"] == match[1]), None)
        if found and body.get("resolved"):
            self.state.resolved.append(found["id"])
        self.one(found)

    def note(self, match: re.Match, body: dict, query: dict) -> None:
        notes = [note for each in self.state.discussions for note in each["notes"]]
        found = next((note for note in notes if str(note["id"]) == match[1]), None)
        if found:
            found["body"] = body.get("body", found["body"])
        self.one(found)

    def _is_in_diff(self, place: dict) -> bool:
        """Whether a position is a line of the diff: an added one by its new number, an unchanged one by both."""
        for change in self.state.changes:
            if (change["old_path"], change["new_path"]) == (place["old_path"], place["new_path"]):
                return (place.get("old_line"), place["new_line"]) in set(_numbered(change["diff"]))
        return False

    _REQUEST = r"/projects/(?:g%2Fp|1)/merge_requests/7"
    routes = (
        (r"/projects/(?:g%2Fp|1)", {"GET": project}),
        (r"/projects/(?:g%2Fp|1)/issues/3", {"GET": issue}),
        (r"/projects/(?:g%2Fp|1)/issues/3/notes", {"GET": issue_notes, "POST": add_issue_note}),
        (r"/projects/(?:g%2Fp|1)/issues/3/resource_label_events", {"GET": label_events}),
        (r"/projects/(?:g%2Fp|1)/members/all", {"GET": members}),
        (r"/user", {"GET": user}),
        (r"/projects/(?:g%2Fp|1|me%2Fp)/merge_requests", {"GET": list_requests, "POST": open_request}),
        (r"/projects/(?:g%2Fp|1)/forks", {"GET": list_forks}),
        (r"/projects/(?:g%2Fp|1)/fork", {"POST": add_fork}),
        (r"/projects/me%2Fp", {"GET": fork}),
        (r"/projects/me%2Fp/repository/branches", {"POST": start_branch}),
        (r"/projects/(?:g%2Fp|1)/repository/commits/\w+/statuses", {"GET": list_statuses}),
        (r"/projects/(?:g%2Fp|1)/statuses/\w+", {"POST": add_status}),
        (_REQUEST, {"GET": request}),
        (rf"{_REQUEST}/changes", {"GET": changes}),
        (rf"{_REQUEST}/notes", {"POST": add_note}),
        (rf"{_REQUEST}/draft_notes", {"GET": list_drafts, "POST": add_draft}),
        (rf"{_REQUEST}/draft_notes/bulk_publish", {"POST": publish_drafts}),
        (rf"{_REQUEST}/draft_notes/(\d+)", {"DELETE": delete_draft}),
        (rf"{_REQUEST}/notes/\d+/award_emoji", {"GET": awards}),
        (rf"{_REQUEST}/discussions", {"GET": discussions, "POST": add_discussion}),
        (rf"{_REQUEST}/discussions/(\w+)", {"GET": discussion, "PUT": discussion}),
        (rf"{_REQUEST}/(?:discussions/\w+/)?notes/(\d+)", {"GET": note, "PUT": note}),
    )


def _numbered(diff: str) -> Iterator[tuple[int | None, int]]:
    """The old and new numbers of the lines that a diff of one hunk leaves in the new file."""
    header, *lines = diff.splitlines()
    old, new = (int(number) for number in re.findall(r"[-+](\d+)", header)[:2])
    for line in lines:
        if line[0] != "-":
            yield (old if line[0] == " " else None), new
        old, new = old + (line[0] != "+"), new + (line[0] != "-")
