"""Doc comments of languages other than Python that name parameters there aren't, another function, or a number the code
doesn't know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.code.syntax import text_of
from repopilot.review.code import Code
from repopilot.types import Finding

_DOCUMENTED = frozenset("function_declaration method_definition method_declaration generator_function_declaration "
                        "constructor_declaration".split())  # fmt: skip
_TAG = re.compile(r"@param\s+(?:\{[^}]*\}\s*)?\[?(\w+)")


def check(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """The contradiction of one function's doc comment, if it has any."""
    if node.type not in _DOCUMENTED:
        return
    top = (
        node.parent if node.parent is not None and node.parent.type in ("export_statement", "export_default") else node
    )
    comments = []
    before = top.prev_named_sibling
    last = top.start_point.row
    while before is not None and "comment" in before.type and before.end_point.row >= last - 1:
        comments.insert(0, before)
        last, before = before.start_point.row, before.prev_named_sibling
    if not comments:
        return
    name = node.child_by_field_name("name")
    parameters = node.child_by_field_name("parameters")
    given = set(re.findall(r"\w+", text_of(parameters, data))) if parameters is not None else set()
    body = text_of(node, data)
    for comment in comments:
        first = comment.start_point.row + 1
        for offset, line in enumerate(text_of(comment, data).split("\n")):
            if what := _contradiction(
                line, given, text_of(name, data) if name else "", body, code.language, comment is comments[0]
            ):
                yield code.finding(first + offset, "low", "style", "stale-comment", what, "checks")
                return


def _contradiction(line: str, given: set[str], name: str, body: str, language: str, begins: bool) -> str:
    tag = _TAG.search(line)
    if tag and given and tag[1] not in given and "..." not in body.split(")")[0] and "{" not in body.split(")")[0]:
        return f"There is no parameter `{tag[1]}`."
    other = re.match(
        r"//\s+([A-Z]\w*[a-z][A-Z]\w*|[a-z]+[A-Z]\w*)\s+(is|returns?|does|creates?|gets?|sets?|adds?|parses?|reads?)\b",
        line,
    )
    if language == "go" and begins and other and other[1] != name and other[1] not in body:
        return f"The comment speaks of {other[1]}, the function is {name}."
    claim = re.search(
        r"\b(?:or(?=\s+\d+ (?:if|when|by default|unless))|defaults? to|default is|falls back to|up to|at most|"
        r"maximum of|limited to|waits?|retries)\s+(\d{2,})\b(?![.:/-]\d)",
        line,
    )
    named = re.search(r"\b[A-Z][A-Z0-9_]{3,}\b|(?i:default|max|limit|config|option)\w*", body)
    if claim and not named and not re.search(rf"(?<!\d){claim[1]}(?!\d)", body):
        return f"The comment says {claim[1]}, which the code doesn't know."
    return ""
