"""Receivers of members (`self`, `os.path`, `Client()`), and the values of variables and attributes. Pure.

`Client()` is an object of the class `Client`, or the result of the function `Client`: it replaces a variable that is
only ever set to such a call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from repopilot.code.file_analysis import Definition

_RECEIVER = re.compile(rb"(?:\.\??|:{1,2}|>-|\\)([\w$]+(?:(?:\.\??|::|>-|\\)[\w$]+)*@?)")
"""A receiver and its separator, matched on the reversed text: the match then starts at the name, not at any byte
before."""
_CALLED = re.compile(rb"([\w$]+(?:(?:\.\??|::|>-|\\)[\w$]+)*)")
_SET = re.compile(
    rb"(?<![\w.$>])(?:(?P<type>[A-Z][\w.:]*)(?:<[^;()\n]*>)?(?:[ \t*&]+))?"
    rb"((?:(?:self|this)(?:\.|->)|@)?[A-Za-z_$][\w$]*)[ \t]*(?::[ \t]*([\w.\"' |\[\]<>]*?))?[ \t]*:?=(?![=>])"
    rb"[ \t]*(?:await[ \t]+)?(?:new[ \t]+|&)?"
    rb"(?:([A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*)(?:(?:<[^()\n]*>)?([({]))?)?"
)
_LOOP = re.compile(rb"\bfor[ \t]*\(?[ \t]*(?:(?:const|let|var|auto)[ \t]+)?([\w, ()]+?)[ \t]+(?:in|of)\b")
_WITH = re.compile(rb"\bwith[ \t]+([A-Za-z_][\w.]*)(\()")
_AS = re.compile(rb"[ \t]*as[ \t]+([A-Za-z_]\w*)[ \t]*[:,]")
_END = re.compile(rb"[ \t]*(?:[;\n\r#]|//|$)")
_LITERALS = frozenset((b"None", b"True", b"False", b"null", b"undefined", b"true", b"false", b"nil"))
_CONTROL = re.compile(rb"\b(?:if|while|for|switch|with|return)[ \t]*$")
_CONTINUED = re.compile(rb"[,(\[{]\s*$")
_DEEPEST = 3
_LONGEST = 2000
_LONGEST_BACK = 300
_BRACKETS = {b"(": b")", b"{": b"}"}


def receiver(data: bytes, at: int) -> str:
    """The receiver of the name that begins at byte `at`: a dotted name, possibly after `@`, `call()`, `)` for anything
    more complicated, '' for none."""
    if at == 0 or data[at - 1 : at] not in (b".", b":", b">", b"\\"):
        return ""
    before = data[max(0, at - 80) : at][::-1]
    match = _RECEIVER.match(before)
    if match:
        return _plain(match[1][::-1])
    separator = re.match(rb"(?:\.\??|::|>-)\s*\)", before)
    callee = _callee(data, at - separator.end()) if separator else b""
    return f"{_plain(callee)}()" if callee else ")"


def _callee(data: bytes, closing: int) -> bytes:
    """The dotted name called with the parentheses that close at a byte; b'' for anything else."""
    depth = 0
    at = closing
    for at in range(closing, max(-1, closing - _LONGEST_BACK), -1):
        depth += (data[at] == 41) - (data[at] == 40)
        if not depth:
            break
    if depth:
        return b""
    match = _CALLED.match(data[max(0, at - 80) : at][::-1])
    before = match and data[max(0, at - len(match[1]) - 1) : at - len(match[1])]
    return match[1][::-1] if match and before not in (b".", b")", b"]", b">", b":") else b""


def _plain(written: bytes) -> str:
    text = written.decode("utf-8", "replace")
    return text.replace("::", ".").replace("->", ".").replace("?.", ".")


class Assigned:
    """The values that a file's variables are set to, by scope."""

    def __init__(self, data: bytes, scopes: Sequence[Definition]) -> None:
        """Read the assignments.

        Args:
            data: the file's text as UTF-8.
            scopes: every definition with a body, outer ones first.
        """
        self._scopes = scopes
        self._starts = [scope.start_byte for scope in scopes]
        self._classes = {scope.symbol.qualified for scope in scopes if scope.is_class}
        self._signatures = {s.symbol.qualified: s.symbol.signature.partition("(")[2] for s in scopes}
        self._values: dict[tuple[str, str], set[str]] = {}
        self.attributes: list[tuple[str, str, str]] = []
        """The attributes that methods set: the method, the attribute, and what it is set to."""
        for match in _SET.finditer(data):
            if b":=" not in match[0] and _is_argument(data, match.start()):
                continue
            value = _value(data, match[4], match.start(5), match.end(4))
            self._set(match.start(2), match[2], value, _plain(match["type"] or match[3] or b""))
        for match in _LOOP.finditer(data):
            for name in re.finditer(rb"\w+", match[1]):
                self._set(match.start(), name[0], "")
        for match in _WITH.finditer(data):
            end = _closing(data, match.start(2))
            variable = _AS.match(data, end + 1) if end >= 0 else None
            if variable:
                self._set(variable.start(1), variable[1], f"{_plain(match[1])}()")

    def instead_of(self, written: str, scope: str, depth: int = 0) -> str:
        """A receiver with its variable replaced by the call that it is always set to."""
        found = self._instead_of(written, scope)
        again = found != written and depth < _DEEPEST and not re.match(rf"{re.escape(written)}\b", found)
        return self.instead_of(found, scope, depth + 1) if again else found

    def _instead_of(self, written: str, scope: str) -> str:
        first, dot, rest = written.partition(".")
        if first in ("self", "this"):
            name, _, rest = rest.partition(".")
            value = self._value_of(self._class_around(scope), f"self.{name}")
            return f"{value}.{rest}".rstrip(".") if value else written
        while True:
            if (scope, first) in self._values:
                value = self._value_of(scope, first)
                return f"{value}{dot}{rest}" if value else written
            if not scope or first in self.parameters(scope):
                return written
            scope = scope.rpartition(".")[0]

    def _value_of(self, scope: str, name: str) -> str:
        found = self._values.get((scope, name), set())
        return next(iter(found)) if len(found) == 1 else ""

    def _set(self, at: int, variable: bytes, value: str, declared: str = "") -> None:
        name = _plain(variable).replace("@", "self.")
        scope = inner = self._scope_at(at)
        if name.startswith(("self.", "this.")):
            scope = self._class_around(scope)
            name = f"self.{name[5:]}"
            self.attributes.append((inner, name[5:], value))
        elif scope in self._classes:
            name = f"self.{name}"
        if declared:  # the declared type decides
            value = f"{declared.strip()}()" if re.fullmatch(r"[\w.]+", declared.strip()) else ""
        if name.startswith("self.") and not value.endswith(")"):
            value = self._of_parameter(inner, value) if value else ""
        self._values.setdefault((scope, name), set()).add(value)

    def _of_parameter(self, scope: str, name: str) -> str:
        """The type that a function declares for a parameter, as a call."""
        found = re.search(
            rf"\b{re.escape(name)}\s*:\s*[\"']?([A-Za-z_][\w.]*)[\"']?\s*(?:[,)=]|\|\s*None)",
            self._signatures.get(scope, ""),
        )
        return f"{found[1]}()" if found else ""

    def parameters(self, scope: str) -> frozenset[str]:
        """The words of a definition's parameters and of what follows them in its signature."""
        return _words(self._signatures.get(scope, ""))

    def _scope_at(self, at: int) -> str:
        number = bisect_right(self._starts, at) - 1
        while number >= 0 and self._scopes[number].end_byte <= at:
            number -= 1
        return self._scopes[number].symbol.qualified if number >= 0 else ""

    def _class_around(self, scope: str) -> str:
        while scope and scope not in self._classes:
            scope = scope.rpartition(".")[0]
        return scope


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w$]+", text))


def _is_argument(data: bytes, at: int) -> bool:
    """Whether the name at a byte is inside the parentheses of a call or a definition."""
    depth = 0
    for place in range(at - 1, max(-1, at - _LONGEST_BACK), -1):
        letter = data[place : place + 1]
        if letter in b")]}":
            depth += 1
        elif letter in b"([{":
            if not depth:
                return letter == b"(" and _CONTROL.search(data[max(0, place - 9) : place]) is None
            depth -= 1
        elif not depth and (
            letter == b";" or (letter == b"\n" and not _CONTINUED.search(data[max(0, place - 80) : place]))
        ):
            return False
    return False


def _value(data: bytes, callee: bytes | None, opening: int, after: int) -> str:
    """`callee()` if nothing follows the call on its line, or the name if nothing follows the name; else ''."""
    if callee is None:
        return ""
    if opening < 0:
        return _plain(callee) if _END.match(data, after) and callee not in _LITERALS else ""
    closing = _closing(data, opening)
    return f"{_plain(callee)}()" if closing >= 0 and _END.match(data, closing + 1) else ""


def _closing(data: bytes, opening: int) -> int:
    """Where the bracket that opens at a byte closes; -1 if that is too far away."""
    opens = data[opening : opening + 1]
    depth = 0
    closes = _BRACKETS[opens][0]
    for at in range(opening, min(len(data), opening + _LONGEST)):
        depth += (data[at] == opens[0]) - (data[at] == closes)
        if not depth:
            return at
    return -1
