"""Checks of languages other than Python, on their tree-sitter trees: only what is certain from the text itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.code.languages import grammar
from repopilot.code.parse import parse, text_of
from repopilot.review import shapes
from repopilot.review.call_rules import rules
from repopilot.review.code import Code
from repopilot.types import Finding

_SECONDS = 5.0
_CALLS = frozenset(
    "call_expression method_invocation function_call_expression member_call_expression scoped_call_expression call "
    "invocation_expression object_creation_expression new_expression macro_invocation include_expression".split()
)
_ARGUMENTS = frozenset("arguments argument_list value_arguments token_tree call_suffix".split())
_COMMENT = re.compile(r"^\s*(//|#|\*|/\*)")
# Grammars that read ordinary, valid code of their language without error nodes.
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
    """Every finding in one file, all domains; nothing for languages without a grammar."""
    if not reads(code.language):
        return []
    data = code.safe.encode()
    tree = parse(data, code.language, _SECONDS)
    if tree is None:
        return []
    found = [*_lines(code)]
    for place in _places(tree.root_node, code.language, data):
        found += _calls(place, code, data)
        found += shapes.check(place.node, place.loops, code, data)
    if tree.root_node.has_error and code.language in _SURE:
        found += _syntax(tree.root_node, code)
    return found


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
    seen: set[str] = set()
    for rule in rules()[0]:
        if rule.rule in seen or not rule.applies(code.language, place.loops):
            continue
        if rule.callee.search(callee) and rule.arguments.search(arguments):
            seen.add(rule.rule)
            yield code.finding(node.start_point.row + 1, rule.severity, rule.domain, rule.rule, rule.message, "checks")


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
