"""A page of the wiki while it is written: its text, and the files that it cites. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlsplit

from repopilot import i18n
from repopilot.agents.overview.render import code
from repopilot.repo.permalinks import FORMS

COMMIT = "\0"
"""Stands for the commit in a page's text: a page whose ground is unchanged keeps the commit at which it was written.
Foreign text can't contain it, since control characters in it are made visible first."""
_KINDS = {"github": "github.com", "gitlab": "gitlab.com", "gitea": "codeberg.org", "forgejo": "codeberg.org"}


_LINK = re.compile(r"(\(\[`+[^`\n]*`+\])\(([^()#\s]+)#L(\d+)\)\)")


def link_template(url: str | None, root: str) -> str:
    """The form of a link to a place, with `{path}` and `{line}` in it.

    Args:
        url: the address of the repository; None for a local folder.
        root: the path from the folder of the wiki to the local folder, '' or ending in a slash.
    """
    host = (urlsplit(url).hostname or "") if url else ""
    kind = next((known for word, known in _KINDS.items() if word in host.split(".")), host)
    if not url or kind not in FORMS:
        return f"{_braced(root)}{{path}}#L{{line}}"
    form = FORMS[kind]
    return _braced(url.removesuffix(".git")) + f"{form.file}{form.line}".replace("{commit}", COMMIT)


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


@dataclass(slots=True)
class Page:
    """A page.

    Attributes:
        name: the name of its file.
        links: see `link_template`.
        language: the reader's language.
        parts: its paragraphs.
        files: the files that it cites.
        covered: the parts that aren't shown where a model's words are, which say the same better.
        asks: what a model is asked about the code behind it, '' where its words aren't wanted.
        words_at: the position of these words among the parts.
    """

    name: str
    links: str
    language: str
    parts: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    covered: list[str] = field(default_factory=list)
    asks: str = ""
    words_at: int = 0

    def at(self, path: str, line: int, end: int = 0) -> str:
        """Cite a place, or the lines from `line` to `end`: as a link in brackets."""
        line = max(1, line)
        lines = f"{line}-{end}" if end > line else f"{line}"
        return f"({self.linked(code(f'{path}:{lines}'), path, line)})"

    def linked(self, text: str, path: str, line: int = 1) -> str:
        """Make a text, which is Markdown, a link to a line."""
        self.files.add(path)
        return f"[{text}]({self.links.format(path=quote(path), line=max(1, line))})"

    def whole(self, path: str) -> str:
        """Cite a file."""
        return self.linked(code(path), path)

    def section(self, key: str, rows: Iterable[str]) -> None:
        """Add a section where it has rows; `key` is that of its heading in the catalogue."""
        if found := list(rows):
            self.parts.append("\n".join([f"## {i18n.text(key, self.language)}", "", *found]))

    def folded(self, title: str, rows: Sequence[str], covered: bool = False) -> None:
        """Add rows that are shown when the reader unfolds them, where there are any; see `covered` of the class."""
        if rows:
            self.parts.append("\n".join([f"<details><summary>{title}</summary>", "", *rows, "", "</details>"]))
            self.covered += self.parts[-1:] if covered else []

    def with_words(self, text: str) -> Page:
        """The page with a model's words on how it works, which don't make it stale by themselves."""
        said = f"{words_heading(self.language)}\n\n{text}"
        after = [part for part in self.parts[self.words_at :] if part not in self.covered]
        return replace(self, parts=[*self.parts[: self.words_at], said, *after])

    @property
    def ground(self) -> str:
        """Its text without a model's words: the page is stale when it changes."""
        return "\n".join(self.parts)

    @property
    def text(self) -> str:
        """The whole text, with COMMIT in place of the commit."""
        return "\n\n".join(filter(None, self.parts)) + "\n"


def words_heading(language: str) -> str:
    """The heading of the section in which a model says how a component works."""
    return f"## {i18n.text('wiki.words', language)}"


def relinked(words: str, links: str) -> str:
    """A model's words with their links in another form.

    Args:
        words: text whose links are paths from the root of a local folder.
        links: see `link_template`.
    """
    return _LINK.sub(lambda link: f"{link[1]}({links.format(path=link[2], line=link[3])}))", words)
