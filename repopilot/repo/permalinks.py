"""The addresses of lines at a commit, as the known hosts of repositories form them. Pure."""

from __future__ import annotations

from typing import NamedTuple


class PermalinkForm(NamedTuple):
    """How a host addresses a file at a commit, one line of it, and a range of lines; `{commit}`, `{path}`, `{line}`,
    `{start}` and `{end}` are filled in."""

    file: str
    line: str
    lines: str


FORMS = {
    "github.com": PermalinkForm("/blob/{commit}/{path}", "#L{line}", "#L{start}-L{end}"),
    "gitlab.com": PermalinkForm("/-/blob/{commit}/{path}", "#L{line}", "#L{start}-{end}"),
    "codeberg.org": PermalinkForm("/src/commit/{commit}/{path}", "#L{line}", "#L{start}-L{end}"),
    "bitbucket.org": PermalinkForm("/src/{commit}/{path}", "#lines-{line}", "#lines-{start}:{end}"),
}
"""By host."""
