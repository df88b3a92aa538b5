"""GitHub, GitHub Enterprise and Gitea by their REST API, through PyGithub's requester: tokens, rate limits, retries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, takewhile
from typing import Any, NamedTuple
from urllib.parse import quote

from github import Auth, GithubRetry
from github.GithubException import GithubException
from github.Requester import Requester

from repopilot import i18n
from repopilot.errors import ForgeError
from repopilot.forge.connection import ATTEMPTS, CHECK, PAGE, PAGES, REVIEW, TIMEOUT_S, Again
from repopilot.forge.contents import Comment, Fork, HostIssue, LineComment, Outcome, OwnPull, Posted, Pull, commentable
from repopilot.forge.host_errors import explained
from repopilot.forge.items import APIS, PUBLIC_API, ForgeItem

LONGEST_WAIT_S = 60
_VIEWER = "query { viewer { login } }"
_THREADS = """query($owner: String!, $name: String!, $number: Int!, $after: String) {
repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) {
nodes { id resolvedBy { login } comments(first: 1) { nodes { databaseId } } }
pageInfo { hasNextPage endCursor } } } } }"""
_REVIEW = "review"
"""Stands for the thread of a review's body, which has none."""
_MEMBERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_CONCLUSIONS = {"passed": "success", "failed": "failure", "given up": "cancelled"}
_STATES = {"running": "pending", "passed": "success", "failed": "failure", "given up": "error"}
_NOT_TOLD = frozenset({400, 403, 404})
_RESOLVE = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id } } }"


class _Thread(NamedTuple):
    """A thread of comments on one line: its id, and who resolved it, '' for nobody."""

    id: str
    resolved_by: str


class _Again(Again, GithubRetry):
    LIMITS = frozenset({403, 429})  # GithubRetry tells which 403 is a limit


@explained(lambda error: (error.status, error.message) if isinstance(error, GithubException) else (0, ""))
class GitHubItem:
    """One issue or pull request. Every method raises as those of `Forge`.

    Args:
        item: the issue or pull request.
        api: the address of the API.
        token: called before the first request; returns the token, '' for none.
    """

    def __init__(self, item: ForgeItem, api: str, token: Callable[[], str]) -> None:
        self._item = item
        self._api = api
        self._token = token
        self._check_run = 0
        self._repo = "/repos/" + "/".join(quote(part, safe="") for part in item.project.split("/"))

    @cached_property
    def _requester(self) -> Requester:
        token = self._token()
        retry = _Again(max_rate_limit_wait=LONGEST_WAIT_S, secondary_rate_wait=LONGEST_WAIT_S / 4, **ATTEMPTS)
        public = self._api == PUBLIC_API  # it asks for pauses between writes
        requester = Requester(
            auth=Auth.Token(token) if token else None,
            base_url=self._api,
            timeout=TIMEOUT_S,  # type: ignore[arg-type]  # requests takes both
            user_agent="RepoPilot",
            per_page=PAGE,
            verify=True,
            retry=retry,
            pool_size=None,
            seconds_between_writes=1.0 if public else None,
        )
        if ":" in requester.hostname:  # an IPv6 address, which PyGithub leaves without its brackets
            vars(requester)["_Requester__hostname"] = f"[{requester.hostname}]"
        return requester

    @property
    def suggestion(self) -> str:
        """The info string of a code block that readers can apply with a click to the lines of its comment; '' on Gitea,
        which has none."""
        return "" if self._item.forge == "gitea" else "suggestion"

    @cached_property
    def _is_installation(self) -> bool:
        """Whether the token belongs to an app's installation, as that of a workflow's run does."""
        return self._token().startswith("ghs_")

    def account(self) -> str:
        """The login of the token's account; '' where the host doesn't tell. The token of an installation may not read
        `/user`, but GraphQL names the bot that it posts as."""
        asking = [lambda: self._requester.graphql_query(_VIEWER, {})[1]["data"]["viewer"]["login"]]
        if not self._is_installation:
            asking.insert(0, lambda: self._call("GET", "/user")["login"])
        for ask in asking:
            try:
                return str(ask())
            except GithubException as error:
                if error.status not in _NOT_TOLD:
                    raise
        return ""

    def issue(self) -> HostIssue:
        """The issue with its comments."""
        found = self._issue()
        if found.get("pull_request") is not None:
            raise ForgeError(i18n.message("forge.is_pull", number=self._item.number))
        repository = self._call("GET", self._repo)
        comments = self._pages(f"{self._repo}/issues/{self._item.number}/comments")
        return HostIssue(
            title=str(found["title"]),
            text=str(found.get("body") or ""),
            state=str(found["state"]),
            clone_url=str(repository["clone_url"]),
            default_branch=str(repository.get("default_branch") or ""),
            labels=tuple(_name(label) for label in found.get("labels") or ()),
            comments=tuple(map(_comment, comments)),
            may_push=(repository.get("permissions") or {}).get("push") is not False,
            may_fork=not self._is_installation and repository.get("allow_forking") is not False,
            opened=_comment(found),
        )

    def labelled_by(self, label: str) -> str:
        """The account that last set a label of the issue; '' where the host doesn't tell."""
        rows = self._pages(f"{self._repo}/issues/{self._item.number}/events")
        named = (row for row in reversed(rows) if row["event"] == "labeled")
        actors = (row["actor"] for row in named if row["label"]["name"].casefold() == label.casefold())
        return str((next(actors, None) or {}).get("login") or "")

    def lets_push(self, account: str) -> bool:
        """Whether an account may push to the repository."""
        address = f"{self._repo}/collaborators/{quote(account, safe='')}/permission"
        try:
            return self._call("GET", address)["permission"] in ("write", "admin", "owner")
        except GithubException as error:
            if error.status == 404:  # such as an app, or an account that is gone
                return False
            raise

    def _issue(self) -> dict:
        """The issue as the API returns it. An issue on GitHub Enterprise and one on Gitea have addresses of the same
        form: where GitHub's API isn't found, Gitea's is asked."""
        address = f"{self._repo}/issues/{self._item.number}"
        try:
            return self._call("GET", address)
        except GithubException as error:
            if error.status != 404 or self._api != self._item.host + APIS["github"]:
                raise
            self._api = self._item.host + APIS["gitea"]
            del self._requester
            return self._call("GET", address)

    def pull(self) -> Pull:
        """The pull request with its files."""
        found = self._call("GET", f"{self._repo}/pulls/{self._item.number}")
        base = found["base"]
        head = found["head"]
        files = self._pages(f"{self._repo}/pulls/{self._item.number}/files")
        return Pull(
            title=str(found.get("title") or ""),
            text=str(found.get("body") or ""),
            state="merged" if found.get("merged") else str(found.get("state") or "open"),
            base_sha=str(base.get("sha") or ""),
            base_ref=str(base.get("ref") or ""),
            head_sha=str(head.get("sha") or ""),
            head_ref=str(head.get("ref") or ""),
            clone_url=str((base.get("repo") or {}).get("clone_url") or ""),
            head_clone_url=str((head.get("repo") or {}).get("clone_url") or ""),
            lines={str(file["filename"]): commentable(str(file.get("patch") or "")) for file in files},
            versions={},
            windows={str(file["filename"]) for file in files if "\r\n" in str(file.get("patch"))},
        )

    def inline_comments(self) -> list[Posted]:
        """Every comment on a line."""
        address = f"{self._repo}/pulls/{self._item.number}"
        if self._item.forge != "gitea":
            return [_posted(each) for each in self._pages(f"{address}/comments")]
        reviews = [each["id"] for each in self._unlinked_pages(f"{address}/reviews")]
        rows = chain.from_iterable(self._call("GET", f"{address}/reviews/{id}/comments") for id in reviews)
        return [_posted(each) for each in rows]

    def comment_on_lines(self, pull: Pull, comments: Sequence[LineComment], summary: str = "") -> bool:
        """Comment on lines in one review, for which the host sends one mail; returns whether the summary is in it.
        Gitea can't edit the text of a review, so the summary isn't in it there."""
        gitea = self._item.forge == "gitea"
        rows = [
            {"body": each.text, "path": each.path} | ({"new_position": each.line} if gitea else _lines(each))
            for each in comments
        ]
        said = f"`{pull.head_sha[:10]}`\n{REVIEW}"  # GitHub wants some text
        said = said if gitea else summary or said
        body = {"body": said, "event": "COMMENT", "commit_id": pull.head_sha, "comments": rows}
        self._call("POST", f"{self._repo}/pulls/{self._item.number}/reviews", body)
        return said == summary

    def set_outcome(self, pull: Pull, outcome: Outcome) -> None:
        """Show a review's outcome on the commit: as a check run, which only tokens of apps and workflows may create,
        else as a commit status."""
        if self._is_installation:
            output = {"title": outcome.text, "summary": outcome.text}
            ended = {"status": "completed", "conclusion": _CONCLUSIONS.get(outcome.state)}
            body = {"output": output, **(ended if outcome.state != "running" else {"status": "in_progress"})}
            if self._check_run:
                self._call("PATCH", f"{self._repo}/check-runs/{self._check_run}", body)
            else:
                new = {"name": CHECK, "head_sha": pull.head_sha, **body}
                self._check_run = int(self._call("POST", f"{self._repo}/check-runs", new)["id"])
        else:
            body = {"state": _STATES[outcome.state], "context": CHECK, "description": outcome.text}
            self._call("POST", f"{self._repo}/statuses/{pull.head_sha}", body)

    def opposed_by(self, comment: Posted) -> set[str]:
        """The accounts that resolved the thread of a comment on a line, or answered it with a thumbs down."""
        kind = "issues" if self._item.forge == "gitea" else "pulls"
        address = f"{self._repo}/{kind}/comments/{comment.id}/reactions"
        rows = self._pages(address) if comment.disliked else ()
        found = {_login(row) for row in rows if row["content"] == "-1"}
        if self._item.forge != "gitea" and comment.id in self._threads:
            found.add(self._threads[comment.id].resolved_by)
        return (found | {comment.resolved_by}) - {""}

    def change_inline(self, comment: Posted, text: str) -> None:
        """Change the text of a comment on a line."""
        kind = "issues" if self._item.forge == "gitea" else "pulls"
        self._call("PATCH", f"{self._repo}/{kind}/comments/{comment.id}", {"body": text})

    def resolve(self, comment: Posted) -> None:
        """Mark the thread of a comment as resolved, which only GraphQL can."""
        if thread := self._threads.get(comment.id):
            self._requester.graphql_query(_RESOLVE, {"id": thread.id})

    @cached_property
    def _threads(self) -> dict[str, _Thread]:
        """Each thread by the id of its first comment."""
        owner, _, name = self._item.project.partition("/")
        values = {"owner": owner, "name": name, "number": self._item.number, "after": None}
        threads: dict[str, _Thread] = {}
        for _ in range(PAGES):
            found = self._requester.graphql_query(_THREADS, values)[1]["data"]["repository"]["pullRequest"]
            for row in found["reviewThreads"]["nodes"]:
                thread = _Thread(row["id"], str((row.get("resolvedBy") or {}).get("login") or ""))
                threads |= {str(each["databaseId"]): thread for each in row["comments"]["nodes"]}
            page = found["reviewThreads"]["pageInfo"]
            if not page["hasNextPage"]:
                break
            values["after"] = page["endCursor"]
        return threads

    def comments(self) -> list[Posted]:
        """Every general comment, and the bodies of a pull request's reviews."""
        found = [_posted(each) for each in self._pages(f"{self._repo}/issues/{self._item.number}/comments")]
        if self._item.kind == "issue" or self._item.forge == "gitea":
            return found
        reviews = self._pages(f"{self._repo}/pulls/{self._item.number}/reviews")
        return [*found, *(replace(_posted(each), thread=_REVIEW) for each in reviews if each.get("body"))]

    def comment(self, text: str) -> None:
        """Post a general comment."""
        self._call("POST", f"{self._repo}/issues/{self._item.number}/comments", {"body": text})

    def change_comment(self, comment: Posted, text: str) -> None:
        """Change the text of a general comment, or of a review's body."""
        if comment.thread == _REVIEW:
            self._call("PUT", f"{self._repo}/pulls/{self._item.number}/reviews/{comment.id}", {"body": text})
        else:
            self._call("PATCH", f"{self._repo}/issues/comments/{comment.id}", {"body": text})

    def fork(self) -> Fork:
        """The fork of the token's account, created if there is none. Unlike GitHub, Gitea refuses a second one."""
        try:
            found = self._call("POST", f"{self._repo}/forks", {})
        except GithubException as error:
            if error.status != 409 or not (found := self._own_fork()):
                raise
        return Fork(found["full_name"], found["clone_url"], found["default_branch"])

    def _own_fork(self) -> dict | None:
        """The account's own fork, found among all forks."""
        login = self._call("GET", "/user")["login"]
        rows = self._unlinked_pages(f"{self._repo}/forks")
        return next((row for row in rows if row["owner"]["login"] == login), None)

    def fork_ready(self, fork: Fork) -> bool:
        """Whether a fork has its default branch."""
        address = f"/repos/{quote(fork.name)}/branches/{quote(fork.branch)}"
        try:
            return bool(self._call("GET", address))
        except GithubException as error:
            if error.status == 404:
                return False
            raise

    def start_branch(self, fork: Fork, commit: str, branch: str) -> None:
        """Create a branch of a fork; GitHub's forks share the commits of their source."""
        address = "git/refs"
        body = {"ref": f"refs/heads/{branch}", "sha": commit}
        if self._api.endswith(APIS["gitea"]):
            address = "branches"
            body = {"new_branch_name": branch, "old_ref_name": commit}
        self._call("POST", f"/repos/{quote(fork.name)}/{address}", body)

    def open_pull(self, title: str, text: str, head: str, base: str, fork: Fork | None = None) -> tuple[str, int]:
        """Open a pull request; returns its address and number."""
        head = f"{fork.name.partition('/')[0]}:{head}" if fork else head
        made = self._call("POST", f"{self._repo}/pulls", {"title": title, "body": text, "head": head, "base": base})
        return str(made["html_url"]), int(made["number"])

    def own_pulls(self, account: str) -> list[OwnPull]:
        """The open pull requests of an account, the newest first."""
        rows = self._pages(f"{self._repo}/pulls", state="open")
        own = [row for row in rows if _login(row) == account and row["head"].get("repo")]
        return [OwnPull(row["html_url"], row["number"], *_branch(row["head"])) for row in own]

    def _unlinked_pages(self, path: str) -> Iterator[dict]:
        """Every row of a Gitea list that has no links to its pages."""
        pages = (self._call("GET", f"{path}?limit={PAGE}&page={page}") for page in range(1, PAGES + 1))
        return chain.from_iterable(takewhile(bool, pages))

    def _call(self, verb: str, path: str, body: dict | None = None) -> Any:
        return self._requester.requestJsonAndCheck(verb, path, input=body)[1]

    def _pages(self, path: str, **options: str) -> list[dict]:
        """Every row of a list, page by page."""
        found: list[dict] = []
        for page in range(1, PAGES + 1):
            headers, rows = self._requester.requestJsonAndCheck(
                "GET", path, {"per_page": PAGE, "page": page, **options}
            )
            found += rows or []
            if 'rel="next"' not in str(headers.get("link", "")):
                break
        return found


def _comment(row: dict) -> Comment:
    return Comment(_login(row), str(row.get("body") or ""), str(row.get("id")), _is_member(row))


def _is_member(row: dict) -> bool | None:
    """Whether the author of a row belongs to the repository; None on Gitea, which doesn't say."""
    return row["author_association"] in _MEMBERS if "author_association" in row else None


def _lines(comment: LineComment) -> dict[str, Any]:
    """The lines of a comment, as GitHub takes them."""
    several = {"start_line": comment.first, "start_side": "RIGHT"} if 0 < comment.first < comment.line else {}
    return {"line": comment.line, "side": "RIGHT", **several}


def _posted(row: dict) -> Posted:
    line = row.get("line") or row.get("original_line") or row.get("position") or 0
    return Posted(
        id=str(row.get("id")),
        text=str(row.get("body") or ""),
        author=_login(row),
        path=str(row.get("path") or ""),
        line=int(line),
        first=int(row.get("start_line") or row.get("original_start_line") or line),
        resolved_by=str((row.get("resolver") or {}).get("login") or ""),  # Gitea's
        disliked=bool((row.get("reactions") or {"-1": True})["-1"]),  # Gitea doesn't say
        member=_is_member(row),
    )


def _branch(head: dict) -> tuple[str, str]:
    return str(head["ref"]), str(head["repo"]["clone_url"])


def _name(label: object) -> str:
    return str(label.get("name") if isinstance(label, dict) else label)


def _login(row: dict) -> str:
    return str((row.get("user") or {}).get("login") or "")
