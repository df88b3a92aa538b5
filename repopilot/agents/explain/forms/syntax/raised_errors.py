"""The errors that a piece of code raises, throws, returns or panics with, in the syntax of several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.explain.forms.syntax.syntax_nodes import ParsedFile, first_line, last_line, parents, walk

_RAISING = ("raise_statement", "throw_statement", "throw_expression")
_CONDITIONS = re.compile(r"^(?:if|elif|unless|else_if|match|when|except|rescue|catch)")
_MOST_ABOVE = 3
_UNTYPED = ("errors.New", "fmt.Errorf", "!")
_GO_ERROR = re.compile(
    r"^(?:errors\.New|fmt\.Errorf|errors\.\w+)\(|^&?(?:\w+\.)?\w*(?:Error|Err)\w*\{|^(?:\w+\.)?(?:Err[A-Z]|err[A-Z])\w*$"
    r"|^(?:\w+\.)?(?:[Nn]ew)?\w*(?:Error|Err)\w*\("
)
_RUST_MACROS = ("bail", "panic", "unreachable", "unimplemented", "todo", "ensure", "anyhow")
_WRAPPED_ERROR = re.compile(r"^(?:Err|Some|Result::Err)\(\s*(?:\w+!\()?")


@dataclass(frozen=True, slots=True)
class Failing:
    """One place that raises: the `error` it names ('' for one caught before), the statement, and its lines, from the
    condition above it on."""

    error: str
    text: str
    first: int
    last: int

    @property
    def shown(self) -> str:
        """What tells the error best: its type, or the whole statement where that has none."""
        return self.text if self.error == "panic" or self.error.endswith(_UNTYPED) else self.error


def failures(file: ParsedFile, root: Node) -> Iterator[Failing]:
    """Find what a piece of code raises itself.

    Args:
        file: its file.
        root: the function or class.

    Yields:
        The places in the order of the text; not those that only pass an error on (`raise`, `throw err`, `return err`).
    """
    end = -1
    for node in walk(root):
        error = _error_of(file, node) if node.start_byte >= end else ""
        if error:
            end = node.end_byte
            statement = node if file.language == "rust" else _statement(node)
            above = first_line(_condition(statement, root))
            yield Failing(error, file.text(statement), above, last_line(statement))


def _error_of(file: ParsedFile, node: Node) -> str:
    """The error that a node raises, '' for any other node."""
    if node.type in _RAISING:
        return _thrown(file, node)
    if file.language == "ruby" and node.type == "call":
        return _ruby(file, node)
    if file.language == "go":
        return _go(file, node)
    if file.language == "rust":
        return _rust(file, node)
    return ""


def _thrown(file: ParsedFile, node: Node) -> str:
    value = node.named_children[0] if node.named_children else None
    if value is None:
        return ""
    for field in ("constructor", "type", "function"):
        name = value.child_by_field_name(field)
        if name is not None:
            return file.text(name)
    text = file.text(value)
    return text if re.fullmatch(r"(?:\w+\.)*[A-Z]\w*", text) else ""


def _ruby(file: ParsedFile, node: Node) -> str:
    method = node.child_by_field_name("method")
    arguments = node.child_by_field_name("arguments")
    if method is None or file.text(method) not in ("raise", "fail") or node.child_by_field_name("receiver"):
        return ""
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    if first is None:
        return ""
    if first.type == "string":
        return "RuntimeError"
    text = file.text(first)
    return re.sub(r"\.new\b.*", "", text, flags=re.S) if text[:1].isupper() else ""


def _go(file: ParsedFile, node: Node) -> str:
    if node.type == "call_expression" and file.text(node).startswith("panic("):
        return "panic"
    if node.type != "return_statement" or not node.named_children:
        return ""
    values = node.named_children[0].named_children or [node.named_children[0]]
    text = file.text(values[-1])
    return re.split(r"[({]", text)[0].lstrip("&") if _GO_ERROR.match(text) else ""


def _rust(file: ParsedFile, node: Node) -> str:
    if node.type == "macro_invocation":
        name = node.child_by_field_name("macro")
        text = file.text(name) if name else ""
        return f"{text}!" if text.rpartition("::")[2] in _RUST_MACROS else ""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or file.text(function) not in ("Err", "Result::Err"):
        return ""
    inner = _WRAPPED_ERROR.sub("", file.text(node))
    # `Err(e)` passes on what was caught.
    return "" if re.match(r"[a-z_]\w*\)$", inner) else re.split(r"[(){]", inner)[0].strip() or "Err"


def _statement(node: Node) -> Node:
    """The statement that a node belongs to."""
    for parent, child in parents(node):
        if child.type.endswith("_statement") or parent.type in ("block", "body_statement", "then", "statement_block"):
            return child
    return node


def _condition(statement: Node, root: Node) -> Node:
    """The condition right above a statement; the statement itself where there is none within a few lines."""
    for parent, _ in parents(statement):
        if parent.id == root.id or first_line(statement) - first_line(parent) > _MOST_ABOVE:
            return statement
        if _CONDITIONS.match(parent.type):
            return parent
    return statement
