"""Doc comments of languages other than Python that contradict the code: parameters that don't exist, another function's
name, a number the code doesn't have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.review.code import Code
from repopilot.review.rules.polyglot.parsed_source import ParsedSource, parse_source
from repopilot.review.rules.rule import Match, Rule

_DOCUMENTED = (
    "function_declaration",
    "method_definition",
    "method_declaration",
    "generator_function_declaration",
    "constructor_declaration",
)
_PARAMETER = re.compile(r"^[\s/*]*@param\s+(?:\{[^}]*\}\s*)?\[?(\w+)")
_SUBJECT = re.compile(
    r"//\s+([A-Z]\w*[a-z][A-Z]\w*|[a-z]+[A-Z]\w*)\s+(is|returns?|does|creates?|gets?|sets?|adds?|parses?|reads?)\b"
)
_NUMBER = re.compile(
    r"\b(?:or(?=\s+\d+ (?:if|when|by default|unless))|defaults? to|default is|falls back to|up to|at most|"
    r"maximum of|limited to|waits?|retries)\s+(\d{2,})\b(?![.:/-]\d)"
)
_NAMED_NUMBER = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b|(?i:default|max|limit|config|option)\w*")


def stale_comments(code: Code) -> Iterator[Match]:
    """The first contradiction of each function's doc comment."""
    source = parse_source(code)
    if source is None:
        return
    for function in source.of(*_DOCUMENTED):
        match = next(_contradictions(function, source), None)
        if match is not None:
            yield match


def _contradictions(function: Node, source: ParsedSource) -> Iterator[Match]:
    comments = _comments_before(function)
    for comment in comments:
        for offset, line in enumerate(source.text(comment).split("\n")):
            number = comment.start_point.row + 1 + offset
            if name := _missing_parameter(line, function, source):
                yield Match(number, {"name": name}, "parameter")
            if comment is comments[0] and (name := _other_function(line, function, source)):
                actual = source.text(function.child_by_field_name("name"))
                yield Match(number, {"name": name, "actual": actual}, "function")
            if value := _unknown_number(line, function, source):
                yield Match(number, {"value": value}, "number")


def _comments_before(function: Node) -> list[Node]:
    """The comments that stand directly above a function, in order."""
    top = function
    if function.parent is not None and function.parent.type in ("export_statement", "export_default"):
        top = function.parent
    comments: list[Node] = []
    before, last = top.prev_named_sibling, top.start_point.row
    while before is not None and "comment" in before.type and before.end_point.row >= last - 1:
        comments.insert(0, before)
        last, before = before.start_point.row, before.prev_named_sibling
    return comments


def _missing_parameter(line: str, function: Node, source: ParsedSource) -> str:
    parameters = source.text(function.child_by_field_name("parameters"))
    given = set(re.findall(r"\w+", parameters))
    tag = _PARAMETER.search(line)
    if not tag or not given or tag[1] in given or "..." in parameters or "{" in parameters:
        return ""
    return tag[1]


def _other_function(line: str, function: Node, source: ParsedSource) -> str:
    """The name of another function that a comment in Go begins with."""
    subject = _SUBJECT.match(line) if source.code.language == "go" else None
    name = source.text(function.child_by_field_name("name"))
    return subject[1] if subject and subject[1] != name and subject[1] not in source.text(function) else ""


def _unknown_number(line: str, function: Node, source: ParsedSource) -> str:
    claim = _NUMBER.search(line)
    body = source.text(function)
    if not claim or _NAMED_NUMBER.search(body) or re.search(rf"(?<!\d){claim[1]}(?!\d)", body):
        return ""
    return claim[1]


RULES = (
    Rule(
        id="stale-comment",
        key="rules.polyglot.stale-comment",
        domain="style",
        severity="low",
        languages=("javascript", "typescript", "tsx", "java", "go"),
        find=stale_comments,
        bad="/**\n * @param {number} size how many\n */\nfunction f(count) {\n  return count;\n}\n",
        good="/**\n * @param {object} options\n */\nfunction f({ a, b }) {\n  return a + b;\n}\n",
    ),
)
