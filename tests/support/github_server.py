"""A server that speaks the part of GitHub's REST API that issues and pull requests need, with its paging and errors.

Repositories are served beside it by `git_server`; what the API says of clone addresses leads there. GraphQL and what
only Gitea has, which GitHub's OpenAPI description lacks, are not held against it.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import jwt
from support.host_server import PAGE_LIMIT, HostHandler, HostServer, serving
from support.openapi import Description


@dataclass
class GitHubServer(HostServer):
    """What it holds, and how it behaves."""

    repository: dict[str, Any] = field(default_factory=dict)
    issues: dict[int, dict] = field(default_factory=dict)
    pulls: dict[int, dict] = field(default_factory=dict)
    files: list[dict] = field(default_factory=list)
    inline: list[dict] = field(default_factory=list)
    comments: list[dict] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    resolved_by: dict[int, str] = field(default_factory=dict)  # who resolved the thread of a comment, by its id
    disliked: list[str] = field(default_factory=list)  # who answered each comment with a thumbs down
    reviews: list[int] = field(default_factory=list)  # how many comments each posted review has
    said: list[dict] = field(default_factory=list)  # what reviews say on the whole
    outcomes: list[dict] = field(default_factory=list)  # check runs and commit statuses

    @property
    def summaries(self) -> list[dict]:
        """What says that it is a review's summary."""
        return [each for each in (*self.comments, *self.said) if "<!-- repopilot:summary -->" in each["body"]]

    opened: list[dict] = field(default_factory=list)
    failures: list[tuple[int, dict]] = field(default_factory=list)  # answered before anything else
    fork: dict[str, Any] = field(default_factory=dict)  # of the account `me`; made by asking for it
    forked: int = 0  # how often it was asked for
    forks: list[dict] = field(default_factory=list)
    started: Callable[[str, str], bool] = lambda branch, commit: False  # makes a branch of the fork
    ready_after: int = 0  # so often its branch is not found
    account: str = "me"  # of the token; with [bot] it may not read /user, '' where nothing tells
    cut: int = 0  # replies that end in the middle
    no_pulls: bool = False  # it takes no pull request
    events: list[dict] = field(default_factory=list)  # of the issues
    permissions: dict[str, str] = field(default_factory=dict)  # by login; others are not found
    gitea: bool = False  # the API is where Gitea has it
    installed: tuple[str, ...] = ("o/r",)  # where the app is installed
    apps: list[str] = field(default_factory=list)  # the ids of apps whose signed tokens came
    app_key: str = ""  # the public one
    members: tuple[str, ...] = ("ada", "me")  # accounts that belong to the repository

    def add_pull(
        self, number: int, base: tuple[str, str], head: tuple[str, str], clone_url: str, author: str = "ada"
    ) -> None:
        """A pull request of (sha, branch) into (sha, branch)."""
        self.pulls[number] = {
            "number": number,
            "title": "A change",
            "body": "What it is for.",
            "state": "open",
            "merged": False,
            "user": {"login": author},
            "html_url": f"{self.url}/o/r/pull/{number}",
            "base": {"sha": base[0], "ref": base[1], "repo": {"clone_url": clone_url}},
            "head": {"sha": head[0], "ref": head[1], "repo": {"clone_url": clone_url}},
        }


def serve() -> AbstractContextManager[GitHubServer]:
    """Serve until the block ends."""
    return serving(_Handler, GitHubServer)


class _Handler(HostHandler):
    state: GitHubServer
    description = Description("github")
    undescribed = (
        r"/graphql|/repos/o/r/\w+/comments/\d+/reactions|/repos/o/r/pulls/\d+/reviews(?:/\d+/comments)?|/api/v[13]/.+"
    )

    @property
    def base(self) -> str:
        return "/api/v1" if self.state.gitea else ""

    def refused(self) -> bool:
        if self.state.failures:
            self.send(*self.state.failures.pop(0))
        elif "/installation" in self.path:
            return False
        elif self.state.token and self.headers.get("Authorization", "").split(" ")[-1] != self.state.token:
            self.send(401, {"message": "Bad credentials", "documentation_url": "", "status": "401"})
        else:
            return False
        return True

    def send(self, status: int, reply: Any, headers: dict[str, str] | None = None, cut: bool = False) -> None:
        rows = [self._with_association(each) for each in (reply if isinstance(reply, list) else [reply])]
        reply = rows if isinstance(reply, list) else rows[0]
        cut, self.state.cut = self.state.cut > 0, max(0, self.state.cut - 1)
        super().send(status, reply, headers, cut)

    def _with_association(self, row: Any) -> Any:
        """What a person wrote, with how its author belongs to the repository, which Gitea doesn't say."""
        author = row.get("user") if isinstance(row, dict) and "body" in row and not self.state.gitea else None
        if not isinstance(author, dict):
            return row
        return {"author_association": "MEMBER" if author.get("login") in self.state.members else "NONE", **row}

    def _app(self) -> str:
        """The id of the app that signed the request; '' where it isn't signed with its key."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            claims = jwt.decode(token, self.state.app_key, ["RS256"], options={"require": ["exp", "iat"]})
        except jwt.PyJWTError:
            return ""
        self.state.apps.append(claims["iss"])
        return claims["iss"]

    def installation(self, match: re.Match, body: dict, query: dict) -> None:
        if not self._app():
            return self.send(401, {"message": "A JSON web token could not be decoded"})
        self.one({"id": 77} if match[1] in self.state.installed else None)

    def access_token(self, match: re.Match, body: dict, query: dict) -> None:
        if not self._app():
            return self.send(401, {"message": "A JSON web token could not be decoded"})
        self.send(201, {"token": self.state.token, "expires_at": "2030-01-01T00:00:00Z"})

    def repository(self, match: re.Match, body: dict, query: dict) -> None:
        self.one(self.state.repository)

    def issue(self, match: re.Match, body: dict, query: dict) -> None:
        self.one(self.state.issues.get(int(match[1])))

    def issue_comments(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.comments, query)

    def issue_events(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.events, query)

    def permission(self, match: re.Match, body: dict, query: dict) -> None:
        role = self.state.permissions.get(match[1])
        self.one(role and {"permission": role, "role_name": role, "user": None})

    def add_comment(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.comments.append(self._by_me(1000 + len(self.state.comments), body))
        self.send(201, self.state.comments[-1])

    def change_comment(self, match: re.Match, body: dict, query: dict) -> None:
        """Of the account's own; Gitea has those on lines among those on the whole."""
        rows = self.state.inline if "/pulls/" in self.path else [*self.state.comments, *self.state.inline]
        found = next((each for each in rows if each["id"] == int(match[1])), None)
        if found and found["user"]["login"] != (self.state.account or "me"):
            return self.send(403, {"message": "You may not edit this comment."})
        if found:
            found["body"] = body["body"]
        self.one(found and {"id": found["id"], "user": found["user"], "body": found["body"]})

    def pull(self, match: re.Match, body: dict, query: dict) -> None:
        self.one(self.state.pulls.get(int(match[1])))

    def pull_files(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.files, query)

    def inline(self, match: re.Match, body: dict, query: dict) -> None:
        self.page(self.state.inline, query)

    def _is_in_diff(self, comment: dict) -> bool:
        shown = next((file.get("patch", "") for file in self.state.files if file["filename"] == comment["path"]), "")
        starts = [(int(h[1]), int(h[2] or 1)) for h in re.finditer(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", shown)]
        last = comment.get("line", 0)
        first = comment.get("start_line", last)  # GitHub refuses one that is the last line
        in_order = first < last or "start_line" not in comment
        return in_order and any(start <= first <= last < start + size for start, size in starts)

    def add_review(self, match: re.Match, body: dict, query: dict) -> None:
        """A review with comments: GitHub refuses all of it for one line that isn't in the diff."""
        of_gitea = all("new_position" in each for each in body["comments"])
        if not of_gitea and not all(map(self._is_in_diff, body["comments"])):
            return self.send(422, {"message": "Unprocessable Entity", "errors": ["Line could not be resolved"]})
        self.state.reviews.append(len(body["comments"]))
        for each in body["comments"]:
            shown = each if of_gitea else {**each, "commit_id": body["commit_id"], "reactions": {"-1": 0}}
            self.state.inline.append(self._by_me(1 + len(self.state.inline), shown))
        self.state.said.append(self._by_me(700 + len(self.state.said), {"body": body["body"]}))
        self.send(200, {"id": 1, "state": body["event"]})

    def change_review(self, match: re.Match, body: dict, query: dict) -> None:
        found = next((each for each in self.state.said if each["id"] == int(match[1])), None)
        if found:
            found["body"] = body["body"]
        self.one(found)

    def add_outcome(self, match: re.Match, body: dict, query: dict) -> None:
        """A check run, which takes the token of an app or a workflow, or a commit status."""
        if "check-runs" in self.path and not self.state.token.startswith("ghs_"):
            return self.send(403, {"message": "You must authenticate via a GitHub App."})
        self.state.outcomes.append(body | {"sha": match[1] or body["head_sha"]})
        self.send(201, {"id": len(self.state.outcomes)})

    def change_outcome(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.outcomes[int(match[1]) - 1] |= body
        self.send(200, {"id": int(match[1])})

    def reactions(self, match: re.Match, body: dict, query: dict) -> None:
        rows = [{"id": 1, "content": "-1", "user": {"login": login}} for login in self.state.disliked]
        self.page(rows, query)

    def open_pull(self, match: re.Match, body: dict, query: dict) -> None:
        if self.state.no_pulls:
            return self.send(422, {"message": "Validation Failed", "errors": [{"message": "Not possible here"}]})
        self.state.opened.append(body)
        number = 100 + len(self.state.opened)
        owner, _, branch = body["head"].rpartition(":")
        clone_url = (self.state.fork if owner else self.state.repository)["clone_url"]
        self.state.add_pull(number, ("", body["base"]), ("", branch), clone_url, self.state.account)
        self.send(201, {"number": number, "html_url": f"{self.state.url}/o/r/pull/{number}"})

    def list_forks(self, match: re.Match, body: dict, query: dict) -> None:
        """Without links, as Gitea has it."""
        size, page = int(query["limit"]), int(query["page"])
        self.send(200, self.state.forks[size * (page - 1) : size * page])

    def add_fork(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.forked += 1
        self.send(202, self.state.fork) if self.state.fork else self.send(403, {"message": "Forking is disabled."})

    def user(self, match: re.Match, body: dict, query: dict) -> None:
        if not self.state.account or self.state.account.endswith("[bot]"):
            return self.send(403, {"message": "Resource not accessible by integration"})
        self.send(200, {"login": self.state.account, "user_view_type": "private"})

    def list_pulls(self, match: re.Match, body: dict, query: dict) -> None:
        rows = [each for each in self.state.pulls.values() if each["state"] == query["state"]]
        self.page([{key: value for key, value in each.items() if key != "merged"} for each in rows], query)

    def fork_branch(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.ready_after -= 1
        if self.state.ready_after >= 0:
            return self.send(404, {"message": "Branch not found"})
        self.send(200, {"name": match[1]})

    def start_branch(self, match: re.Match, body: dict, query: dict) -> None:
        """GitHub's body, or Gitea's."""
        branch = body.get("ref", "").removeprefix("refs/heads/") or body["new_branch_name"]
        if not self.state.started(branch, body.get("sha") or body["old_ref_name"]):
            return self.send(422, {"message": "Object does not exist"})
        self.send(201, {"ref": f"refs/heads/{branch}"})

    def query(self, match: re.Match, body: dict, query: dict) -> None:
        if "resolveReviewThread" in body["query"]:
            self.state.resolved.append(body["variables"]["id"])
            return self.send(200, {"data": {"resolveReviewThread": {"thread": {"id": body["variables"]["id"]}}}})
        if "viewer" in body["query"]:
            if not self.state.account:
                return self.send(403, {"message": "Forbidden"})
            return self.send(200, {"data": {"viewer": {"login": self.state.account}}})
        nodes = [
            {
                "id": f"T{each['id']}",
                "resolvedBy": {"login": who} if (who := self.state.resolved_by.get(each["id"])) else None,
                "comments": {"nodes": [{"databaseId": each["id"]}]},
            }
            for each in self.state.inline
        ]
        start = int(body["variables"]["after"] or 0)
        page = {"hasNextPage": start + PAGE_LIMIT < len(nodes), "endCursor": str(start + PAGE_LIMIT)}
        threads = {"nodes": nodes[start : start + PAGE_LIMIT], "pageInfo": page}
        self.send(200, {"data": {"repository": {"pullRequest": {"reviewThreads": threads}}}})

    def reviews(self, match: re.Match, body: dict, query: dict) -> None:
        """Gitea's, without links; each of one comment. GitHub's with what they say on the whole."""
        if "limit" not in query:
            return self.page(self.state.said, query)
        size, page = int(query["limit"]), int(query["page"])
        self.send(200, [{"id": each["id"]} for each in self.state.inline][size * (page - 1) : size * page])

    def review_comments(self, match: re.Match, body: dict, query: dict) -> None:
        rows = [each for each in self.state.inline if each["id"] == int(match[1])]
        self.send(200, [{**each, "position": each["new_position"]} for each in rows])

    def _by_me(self, id: int, body: dict) -> dict:
        return {"id": id, "user": {"login": self.state.account or "me"}, **body}

    routes = (
        (r"/repos/(o/\w+)/installation", {"GET": installation}),
        (r"/app/installations/77/access_tokens", {"POST": access_token}),
        (r"/repos/o/r", {"GET": repository}),
        (r"/repos/o/r/issues/(\d+)", {"GET": issue}),
        (r"/repos/o/r/issues/(\d+)/comments", {"GET": issue_comments, "POST": add_comment}),
        (r"/repos/o/r/issues/(\d+)/events", {"GET": issue_events}),
        (r"/repos/o/r/collaborators/([^/]+)/permission", {"GET": permission}),
        (r"/repos/o/r/issues/comments/(\d+)", {"PATCH": change_comment}),
        (r"/repos/o/r/pulls", {"GET": list_pulls, "POST": open_pull}),
        (r"/repos/o/r/pulls/(\d+)", {"GET": pull}),
        (r"/repos/o/r/pulls/(\d+)/files", {"GET": pull_files}),
        (r"/repos/o/r/pulls/(\d+)/comments", {"GET": inline}),
        (r"/repos/o/r/pulls/(\d+)/reviews", {"GET": reviews, "POST": add_review}),
        (r"/repos/o/r/pulls/\d+/reviews/(\d+)/comments", {"GET": review_comments}),
        (r"/repos/o/r/pulls/\d+/reviews/(\d+)", {"PUT": change_review}),
        (r"/repos/o/r/(?:check-runs|statuses/(\w+))", {"POST": add_outcome}),
        (r"/repos/o/r/check-runs/(\d+)", {"PATCH": change_outcome}),
        (r"/repos/o/r/pulls/comments/(\d+)", {"PATCH": change_comment}),
        (r"/repos/o/r/(?:pulls|issues)/comments/(\d+)/reactions", {"GET": reactions}),
        (r"(?:/api/v1)?/repos/o/r/forks", {"GET": list_forks, "POST": add_fork}),
        (r"/repos/me/[^/]+/branches/([^/]+)", {"GET": fork_branch}),
        (r"/repos/me/[^/]+/git/refs|/api/v1/repos/me/[^/]+/branches", {"POST": start_branch}),
        (r"(?:/api/v1)?/user", {"GET": user}),
        (r"/graphql", {"POST": query}),
    )
