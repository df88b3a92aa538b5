"""Which argument of a Python call goes to which parameter, and how arguments change their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.parameters.reordering import edited_text
from repopilot.agents.editing.exact.python.calls import (
    FunctionCall,
    arguments_of,
    is_variadic,
    keyword_of,
    parameter_name,
    parameters_of,
)
from repopilot.agents.editing.exact.sources import Patch, SourceText


@dataclass(frozen=True, slots=True)
class DeclaredParameter:
    """A parameter: `kind` says how it is passed, `default` is its text ('' for none)."""

    name: str
    node: Node
    kind: str
    default: str

    @property
    def is_positional(self) -> bool:
        """Whether a call may pass it by its position."""
        return self.kind in ("positional only", "either")


def parameters_by_kind(source: SourceText, function: Node) -> list[DeclaredParameter]:
    """The parameters of a function, without separators.

    Args:
        source: its file.
        function: the definition.
    """
    found: list[DeclaredParameter] = []
    kind = "either"
    for node in parameters_of(function):
        star = is_variadic(node)
        if node.type == "positional_separator":
            found = [DeclaredParameter(p.name, p.node, "positional only", p.default) for p in found]
        elif node.type == "keyword_separator":
            kind = "keyword"
        else:
            value = node.child_by_field_name("value")
            default = source.slice(value) if value is not None else ""
            found.append(DeclaredParameter(parameter_name(source, node), node, star or kind, default))
            kind = "keyword" if star == "*" else kind
    return found


@dataclass(frozen=True, slots=True)
class BoundCall:
    """The arguments of a call by parameter.

    Attributes:
        accepting: the parameters that it may pass by position: without `self` where the object is before the call.
        positional: those passed by position, up to the first `*argument`.
        keywords: those passed by name.
        more: those that `*parameter` takes, and all after a `*argument`.
        starred: how many come before the first `*argument`; None without one.
        has_options: whether there is a `**argument`.
    """

    path: str
    arguments: Node
    accepting: tuple[DeclaredParameter, ...]
    positional: tuple[tuple[DeclaredParameter, Node], ...]
    keywords: tuple[tuple[str, Node], ...]
    more: tuple[Node, ...]
    starred: int | None
    has_options: bool

    @property
    def unpacks(self) -> bool:
        """Whether it passes a `*argument` or `**argument`, which may stand for any parameter."""
        return self.starred is not None or self.has_options

    def passes(self, name: str) -> bool:
        """Whether the call certainly passes a parameter."""
        return any(p.name == name for p, _ in self.positional) or any(n == name for n, _ in self.keywords)


def bound_call(source: SourceText, call: FunctionCall, parameters: Sequence[DeclaredParameter]) -> BoundCall:
    """Tell which argument of a call goes to which parameter.

    Args:
        source: the file of the call.
        call: the call.
        parameters: those of the function.
    """
    accepting = tuple(p for p in parameters if p.is_positional)[call.bound :]
    listed = arguments_of(call.arguments)
    plain = [a for a in listed if a.type not in ("keyword_argument", "dictionary_splat")]
    starred = next((n for n, a in enumerate(plain) if a.type == "list_splat"), None)
    certain = plain[:starred] if starred is not None else plain
    return BoundCall(
        call.path,
        call.arguments,
        accepting,
        tuple(zip(accepting, certain, strict=False)),
        tuple((keyword_of(source, a), a) for a in listed if a.type == "keyword_argument"),
        (*certain[len(accepting) :], *plain[len(certain) :]),
        starred,
        any(a.type == "dictionary_splat" for a in listed),
    )


def may_be_passed(call: BoundCall, parameters: Sequence[DeclaredParameter]) -> bool:
    """Whether a function with some parameters can take the arguments of a call."""
    kinds = {p.kind for p in parameters}
    names = {p.name for p in parameters if p.kind in ("either", "keyword")}
    return ("*" in kinds or call.starred is not None or not call.more) and (
        "**" in kinds or all(name in names for name, _ in call.keywords)
    )


def pass_by_name(path: str, name: str, node: Node, patch: Patch) -> None:
    """Write the name of its parameter before an argument."""
    walrus = node.type == "named_expression"
    patch.replace(path, node.start_byte, node.start_byte, f"{name}=(" if walrus else f"{name}=")
    if walrus:
        patch.replace(path, node.end_byte, node.end_byte, ")")


def named_argument(source: SourceText, name: str, node: Node, patch: Patch) -> str:
    """An argument as one that is passed by name."""
    value = edited_text(source, node, patch)
    return f"{name}=({value})" if node.type == "named_expression" else f"{name}={value}"


def argument_value(source: SourceText, node: Node, patch: Patch) -> str:
    """The value of an argument, passed by name or not."""
    value = node.child_by_field_name("value") if node.type == "keyword_argument" else node
    return edited_text(source, value if value is not None else node, patch)
