"""Checks of languages other than Python, on their tree-sitter trees: only what is certain from the text itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.code.languages import grammar
from repopilot.code.syntax import parse, text_of
from repopilot.review.code import Code
from repopilot.review.rules.polyglot import doc_comments, shapes, suspicious_conditions, text_rules
from repopilot.review.rules.polyglot.call_rules import rules
from repopilot.review.rules.polyglot.request_names import from_request
from repopilot.types import Finding

_SECONDS = 5.0
_MINIFIED = 500
"""Characters a line, on the average of a file, above which nobody wrote it."""
_CALLS = frozenset(
    "call_expression method_invocation function_call_expression member_call_expression scoped_call_expression call "
    "invocation_expression object_creation_expression new_expression macro_invocation include_expression".split()
)
_ARGUMENTS = frozenset("arguments argument_list value_arguments token_tree call_suffix".split())
_ROUTE = re.compile(r"\w+\.(get|post|put|patch|delete|all)\(\s*['\"`]/")
_COMMENT = re.compile(r"^\s*(//|#|\*|/\*)")
# Grammars that read ordinary, valid code of their language without error nodes.
# Rules for which a value is followed through a name.
_TRACED = frozenset({"path-traversal", "ssrf", "open-redirect", "shell-injection", "code-injection"})
_SURE = frozenset({"javascript", "typescript", "tsx", "java", "go", "rust", "php"})


@dataclass(frozen=True, slots=True)
class Place:
    """A node with what stands around it: how many loops, and the name and node of the function it is in."""

    node: Node
    loops: int
    function: Node | None


def reads(language: str) -> bool:
    """Whether there are checks for a language."""
    return language != "python" and grammar(language) is not None


def check(code: Code) -> list[Finding]:
    """Every finding in one file, all domains; nothing for languages without a grammar and for minified code."""
    if not reads(code.language) or _minified(code.safe):
        return []
    data = code.safe.encode()
    tree = parse(data, code.language, _SECONDS)
    if tree is None:
        return []
    found = [*_lines(code)]
    places = list(_places(tree.root_node, code.language, data))
    bare = _without_comments(places, data)
    whole = bare.decode("utf-8", "replace")
    for place in places:
        found += _calls(place, code, data)
        found += shapes.check(place.node, place.loops, code, data)
        found += suspicious_conditions.check(place.node, code, data)
        found += doc_comments.check(place.node, code, data)
        found += _texts(place, code, bare, whole)
    found += text_rules.found_in(code, "file", whole, 1, whole, "", whole)
    if tree.root_node.has_error and code.language in _SURE:
        found += _syntax(tree.root_node, code)
    return found


def _minified(text: str) -> bool:
    return len(text) > _MINIFIED * (text.count("\n") + 1)


def _places(root: Node, language: str, data: bytes) -> Iterator[Place]:
    pending = [Place(root, 0, None)]
    while pending:
        place = pending.pop()
        yield place
        node = place.node
        loops = place.loops + shapes.is_loop(node, language, data)
        function = place.function
        if shapes.is_function(node):
            function = node
            loops = loops if shapes.is_callback(node, data) else 0
        if shapes.is_repeating_call(node, data):
            loops += 1
        pending += [Place(child, loops, function) for child in reversed(node.named_children)]


def _without_comments(places: Sequence[Place], data: bytes) -> bytes:
    """The text with spaces for comments, line for line."""
    bare = bytearray(data)
    for node in (p.node for p in places if "comment" in p.node.type):
        bare[node.start_byte : node.end_byte] = re.sub(rb"[^\n]", b" ", data[node.start_byte : node.end_byte])
    return bytes(bare)


def _texts(place: Place, code: Code, bare: bytes, whole: str) -> Iterator[Finding]:
    """What the texts of functions, loops, routes and handlers show."""
    node = place.node
    scopes = [scope for scope, holds in (
        ("function", shapes.is_function(node) and (place.function is None or shapes.is_named(node))),
        ("handler", shapes.is_function(node) and _answers(node, bare)),
        ("loop", shapes.is_loop(node, code.language, bare) or shapes.is_repeating_call(node, bare)),
        ("route", node.type == "call_expression" and bool(_ROUTE.match(_head(node, bare)))),
    ) if holds]  # fmt: skip
    if not scopes:
        return
    around = node if place.function is None or "function" in scopes else place.function
    if around.end_byte - around.start_byte > text_rules.LONGEST:
        return
    text, function = _cut(node, bare), _cut(around, bare)
    for scope in scopes:
        yield from text_rules.found_in(
            code, scope, text, node.start_point.row + 1, function, shapes.name_of(node, bare), whole
        )


def _cut(node: Node, bare: bytes) -> str:
    """The text of a node, from the beginning of its line if only spaces come before it."""
    start = bare.rfind(b"\n", 0, node.start_byte) + 1
    return bare[node.start_byte if bare[start : node.start_byte].strip() else start : node.end_byte].decode(
        "utf-8", "replace"
    )


def _head(node: Node, bare: bytes) -> str:
    return bare[node.start_byte : min(node.end_byte, node.start_byte + 60)].decode("utf-8", "replace")


def _answers(node: Node, bare: bytes) -> bool:
    """A function that many wait for: async, or one that answers requests."""
    head = bare[node.start_byte : min(node.end_byte, node.start_byte + 120)].decode("utf-8", "replace")
    return bool(re.match(r"(export\s+)?async\b|[^{=]*\(\s*_?(req|request|ctx)\b\s*[,:)]", head))


def _lines(code: Code) -> Iterator[Finding]:
    wanted = [rule for rule in rules()[1] if not rule.languages or code.language in rule.languages]
    for number, line in enumerate(code.safe.split("\n"), 1):
        if _COMMENT.match(line) and "@ts-" not in line:
            continue
        for rule in wanted:
            if rule.pattern.search(line[:500]):
                yield code.finding(number, rule.severity, rule.domain, rule.rule, rule.message, "checks")


def _calls(place: Place, code: Code, data: bytes) -> Iterator[Finding]:
    node = place.node
    if node.type not in _CALLS:
        return
    callee, arguments = _parts(node, data)
    traced = _traced(place, arguments, data)
    seen: set[str] = set()
    for rule in rules()[0]:
        if rule.rule in seen or not rule.applies(code.language, place.loops):
            continue
        page = rule.rule == "cross-site-scripting" and re.search(r"<\w", arguments)
        given = traced if page or rule.rule in _TRACED else arguments
        if rule.callee.search(callee) and rule.arguments.search(given):
            seen.add(rule.rule)
            yield code.finding(node.start_point.row + 1, rule.severity, rule.domain, rule.rule, rule.message, "checks")


def _traced(place: Place, arguments: str, data: bytes) -> str:
    """Arguments in which names that hold what a request brought are written as such."""
    if place.function is None or len(arguments) < 3:
        return arguments
    top = place.function
    names = from_request(text_of(top, data)[:20_000])
    for name in names:
        arguments = re.sub(rf"(?<=[(,+{{\s\[&|?:]){re.escape(name)}(?=[),+}}\s\].;])", f"req.query.{name}", arguments)
    return arguments


def _parts(node: Node, data: bytes) -> tuple[str, str]:
    """What is called, and the arguments with their parentheses, as written."""
    arguments = next((c for c in node.children if c.type in _ARGUMENTS), None)
    end = arguments.start_byte if arguments else node.end_byte
    callee = data[node.start_byte : min(end, node.start_byte + 300)].decode("utf-8", "replace")
    callee = callee if arguments else callee.partition("(")[0]
    callee = re.sub(r"\s+", " ", callee.strip()).rstrip("!? ").replace("->", ".").replace("?.", ".")
    return callee, text_of(arguments, data)[:2000] if arguments else ""


def _syntax(root: Node, code: Code) -> Iterator[Finding]:
    """The first place where the file can't be read."""
    node = root
    while True:
        broken = next((c for c in node.children if c.has_error or c.is_missing or c.is_error), None)
        if broken is None or node.is_error or node.is_missing:
            break
        node = broken
    what = f"`{node.type}` is missing here." if node.is_missing else "This can't be parsed."
    yield code.finding(node.start_point.row + 1, "high", "style", "syntax-error", what, "checks")
