"""The address of an issue or a pull request, on any host. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from repopilot import i18n
from repopilot.errors import ForgeError, SourceError
from repopilot.repo.remote.credentials import host_of

Kind = Literal["issue", "pull"]
_KINDS: dict[str, tuple[str, Kind]] = {
    "issues": ("", "issue"),
    "pull": ("github", "pull"),
    "pulls": ("gitea", "pull"),
    "merge_requests": ("gitlab", "pull"),
}
_PATH = re.compile(
    r"/(?P<project>[^?#]+?)(?P<gitlab>/-)?/(?P<kind>issues|pull|pulls|merge_requests)/(?P<number>\d{1,9})(?:/.*)?"
)
PUBLIC_API = "https://api.github.com"
APIS = {"github": "/api/v3", "gitea": "/api/v1", "gitlab": ""}
"""The path of the API on a self-hosted server."""


@dataclass(frozen=True, slots=True)
class ForgeItem:
    """An issue or a pull request.

    Attributes:
        forge: `github` (also Enterprise), `gitea` (also Forgejo) or `gitlab`.
        host: scheme and host of the address.
        project: owner and name, `group/sub/name` on GitLab.
        kind: what it is.
        number: of the issue or pull request.
    """

    forge: str
    host: str
    project: str
    kind: Kind
    number: int

    @property
    def url(self) -> str:
        """The address in a browser."""
        middle = {"github": "pull", "gitea": "pulls", "gitlab": "-/merge_requests"}[self.forge]
        issue = "-/issues" if self.forge == "gitlab" else "issues"
        return f"{self.host}/{self.project}/{issue if self.kind == 'issue' else middle}/{self.number}"

    @property
    def ref(self) -> str:
        """Where the host keeps the commit of a pull request."""
        return f"refs/{'merge-requests' if self.forge == 'gitlab' else 'pull'}/{self.number}/head"

    def api(self, setting: str) -> str:
        """The address of the API: the one set, else the one that the host has."""
        if setting:
            return setting.rstrip("/")
        return PUBLIC_API if self.host == "https://github.com" else self.host + APIS[self.forge]


def parse_item(text: str) -> ForgeItem | None:
    """Read the address of an issue or a pull request.

    Args:
        text: as pasted, `https://host/owner/name/pull/7` or without the scheme.

    Returns:
        The item, None for any other text.
    """
    text = text.strip()
    text = text if "://" in text else f"https://{text}"
    try:
        parts = urlsplit(text)
        host = host_of(text)
    except ValueError:  # such as an invalid port
        return None
    match = _PATH.fullmatch(parts.path.rstrip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or not match or "/" not in match["project"]:
        return None
    forge, kind = _KINDS[match["kind"]]
    if match["gitlab"]:
        forge = "gitlab"
    return ForgeItem(forge or "github", f"{parts.scheme}://{host}", match["project"], kind, int(match["number"]))


def checked_remote(url: str) -> str:
    """A clone address as a host gives it, never a folder of this machine. Raises ForgeError for all but http(s)."""
    if not url.startswith(("https://", "http://")):
        raise ForgeError(i18n.message("forge.no_remote", url=url[:200]))
    return url


def required_item(text: str, kind: Kind) -> ForgeItem:
    """As `parse_item`, for one kind. Raises SourceError for any other text."""
    found = parse_item(text)
    if found is None or found.kind != kind:
        raise SourceError(i18n.message(f"forge.no_{kind}", text=text[:200]), i18n.message(f"forge.no_{kind}_hint"))
    return found
