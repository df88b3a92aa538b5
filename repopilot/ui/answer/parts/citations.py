"""Citations in the browser: their marks in the text as links, their places as props of elements and as Markdown with
the addresses of their lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import quote, urlsplit

from repopilot.i18n.format import short_commit
from repopilot.repo.permalinks import FORMS
from repopilot.results import Answer
from repopilot.types import Citation, repository_mark
from repopilot.ui.trace.step_text import inert, outside_code

_MARK = re.compile(r"\[(\d{1,3})\??\](?!\\?\()")


def linked(text: str, citations: Sequence[Citation], anchor: str) -> str:
    """Turn the marks `[1]`, `[2?]` of an answer into links, and disarm its images.

    Args:
        text: the answer in Markdown.
        citations: what the marks stand for. An unsupported citation gets a warning sign.
        anchor: the links lead to `#cite-<anchor>-<number>`.

    Returns:
        The Markdown. Marks in code, and numbers that cite nothing, are left as they are.
    """
    by_number = {citation.number: citation for citation in citations}

    def link(match: re.Match[str]) -> str:
        citation = by_number.get(int(match[1]))
        if citation is None:
            return match[0]
        sign = "" if citation.supported else "⚠ "
        return f"[{sign}{citation.number}](#cite-{anchor}-{citation.number})"

    return outside_code(inert(text), lambda prose: _MARK.sub(link, prose))


def source_rows(citations: Sequence[Citation]) -> list[dict]:
    """The list under an answer: {number, place, symbol, supported}."""
    return [
        {
            "number": citation.number,
            "place": f"{citation.path}:{citation.start_line}-{citation.end_line}",
            "symbol": citation.symbol,
            "supported": citation.supported,
        }
        for citation in citations
    ]


def answer_markdown(answer: Answer, url: str) -> str:
    """The text of an answer, and below it the places it cites.

    Args:
        answer: the answer.
        url: of the repository, '' for a local folder: its places have no address.
    """
    rows = []
    for each in answer.citations:
        lines = f"{repository_mark(each.origin)}{each.path}:{each.start_line}-{each.end_line}"
        place = f"`{lines}` @ {short_commit(each.commit)}"
        link = "" if each.origin else host_link(url, each, each.start_line, each.end_line)
        rows.append(f"- [{each.number}] " + (f"[{place}]({link})" if link else place))
    return "\n\n".join(filter(None, [answer.text.strip(), "\n".join(rows)])) + "\n"


def host_link(url: str, citation: Citation, start: int, end: int) -> str:
    """The address of lines at their commit on the repository's host; '' where the host's form isn't known. Pure."""
    host = urlsplit(url).hostname or ""
    form = FORMS.get(host.removeprefix("www."))
    if form is None or not citation.commit.isalnum():
        return ""
    path = quote(citation.path)
    address = f"{form.file}{form.lines}".format(commit=citation.commit, path=path, start=start, end=end)
    return url.removesuffix(".git") + address


def editor_link(template: str, root: PurePath, path: str, line: int) -> str:
    """The address that opens a line of a local folder in the user's editor; '' without a template.

    Args:
        template: of the address, with `{path}` and `{line}` in it.
        root: the folder.
        path: of the file in it.
        line: 1-based.
    """
    whole = (root / path).as_posix()  # of Windows, `C:/…` or `//server/share/…`
    values = {"{path}": quote(whole if whole.startswith("/") else f"/{whole}", safe="/:"), "{line}": str(line)}
    return re.sub(r"\{(?:path|line)\}", lambda found: values[found[0]], template)
