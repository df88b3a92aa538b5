"""String literals of Python code that hold a name and must follow its renames: `__all__`, `getattr`, targets of
mock.patch, arguments of parametrize, names of fixtures. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from tree_sitter import Node

from repopilot.code.syntax import ancestors, text_of
from repopilot.resolve.python_scopes import CharacterOffsets, decorators, python_tree

TextUse = Literal[
    "exported", "slot", "attribute", "target", "parameter", "fixture", "doctest", "dotted", "whole", "prose"
]
"""What a name in a string literal is: an entry of `__all__`, of `__slots__`, the attribute of an object, the dotted
target of a patch, a parameter of a parametrized test, the name of a fixture, a line of a doctest, a part of a dotted
name, a name that is looked up, other text."""
_OF_OBJECT = ("getattr", "setattr", "hasattr", "delattr", "object")
_LOOKED_UP = ("attrgetter", "methodcaller", *_OF_OBJECT)
_OF_TARGET = ("patch", "setattr", "delattr", "multiple")
_OF_FIXTURE = ("usefixtures", "getfixturevalue")
_IN_CALL = ("argument_list", "tuple", "list", "concatenated_string", "keyword_argument")
"""Nodes between a string and the call that gets it."""


class PythonText(NamedTuple):
    """A name within a string literal.

    Attributes:
        start: its first character.
        end: the character after it.
        use: what it is.
        owner: the class that has the slot, or the function that is parametrized, as the byte it begins at.
        call: the characters of the call around it.
        object: for an attribute the code of its object; for a target the dotted name up to and with it; for other
            dotted names the part before it.
    """

    start: int
    end: int
    use: TextUse
    owner: int = -1
    call: tuple[int, int] = (0, 0)
    object: str = ""


def python_texts(text: str, spans: Iterable[tuple[int, int]]) -> list[PythonText]:
    """What the names within a file's string literals are.

    Args:
        text: of a Python file.
        spans: of the names, in characters.
    """
    data, tree = python_tree(text)
    if tree is None:
        return [PythonText(start, end, "whole") for start, end in spans]
    places = CharacterOffsets(data, text)
    found = []
    for start, end in spans:
        first = len(text[:start].encode("utf-8", "surrogatepass"))
        last = first + len(text[start:end].encode("utf-8", "surrogatepass"))
        leaf = tree.root_node.descendant_for_byte_range(first, last)
        around_it = [leaf, *ancestors(leaf)] if leaf is not None else []
        string = next((node for node in around_it if node.type == "string"), None)
        read = _read(string, data, text[start:end], first) if string is not None else ("prose", -1, None, "")
        use, owner, call, named = read
        around = places.span(call) if call is not None else (0, 0)
        found.append(PythonText(start, end, use, owner, around, named))
    return found


def _read(string: Node, data: bytes, name: str, first: int) -> tuple[TextUse, int, Node | None, str]:
    content = "".join(text_of(c, data) for c in string.named_children if c.type == "string_content")
    line_start = data.rfind(b"\n", 0, first) + 1
    if re.match(rb"\s*(?:>>>|\.\.\.) ", data[line_start:first]):
        return "doctest", -1, None, ""
    if not re.fullmatch(r"[\w.:, ]+", content):
        return "prose", -1, None, ""
    call = _call_around(string)
    called = _last_name(call, data) if call is not None else ""
    arguments = _positional(call) if call is not None else []
    position = next((n for n, a in enumerate(arguments) if a.start_byte <= string.start_byte < a.end_byte), -1)
    if called == "parametrize" and position == 0:
        return "parameter", _decorated(call), None, ""
    if called in _OF_FIXTURE or (called == "fixture" and content == name):
        return "fixture", -1, None, ""
    if called in _OF_TARGET and position == 0 and "." in content:
        upto = content[: first + len(name.encode()) - string.named_children[1].start_byte]
        return "target", -1, call, upto
    if content != name:
        is_dotted = re.fullmatch(r"[\w.:]+", content) is not None
        return "dotted" if is_dotted else "prose", -1, None, content[: first - string.named_children[1].start_byte]
    if called in _OF_OBJECT and position == 1:
        return "attribute", -1, call, text_of(arguments[0], data)
    target, owner = _assigned(string, data)
    if target.startswith("__all__"):
        return "exported", -1, None, ""
    if target in ("__slots__", "__match_args__"):
        return "slot", owner, None, ""
    looked_up = called in _LOOKED_UP or string.parent is None or string.parent.type in ("subscript", "pair")
    return ("whole" if looked_up else "prose"), -1, None, ""


def _call_around(node: Node) -> Node | None:
    around = next((each for each in ancestors(node) if each.type not in _IN_CALL), None)
    return around if around is not None and around.type == "call" else None


def _last_name(call: Node, data: bytes) -> str:
    return text_of(call.child_by_field_name("function"), data).rpartition(".")[2]


def _positional(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return list(arguments.named_children) if arguments is not None else []


def _decorated(call: Node | None) -> int:
    """The byte at which the function decorated by a call begins, -1 for none."""
    around = ancestors(call) if call is not None else ()
    decorated = next((each for each in around if each.type == "decorated_definition"), None)
    inner = decorated.child_by_field_name("definition") if decorated is not None else None
    return inner.start_byte if inner is not None else -1


def _assigned(node: Node, data: bytes) -> tuple[str, int]:
    """What a string is assigned or added to, and the byte at which the class around it begins, -1 for none."""
    target = ""
    for around in ancestors(node):
        if around.type in ("module", "function_definition", "class_definition"):
            return target, around.start_byte if around.type == "class_definition" else -1
        if around.type in ("assignment", "augmented_assignment"):
            target = text_of(around.child_by_field_name("left"), data)
        if around.type == "call" and not target:
            target = text_of(around.child_by_field_name("function"), data)
    return target, -1


class Function(NamedTuple):
    """A function that pytest may call.

    Attributes:
        start: the byte it begins at.
        fixture: the characters of its name as a fixture, None where it isn't one.
        is_test: whether it is a test.
        parametrized: the names that parametrize gives.
        parameters: the first characters of its parameters without a type.
        results: the characters of what it returns or yields.
    """

    start: int
    fixture: tuple[int, int] | None
    is_test: bool
    parametrized: tuple[str, ...]
    parameters: tuple[int, ...] = ()
    results: tuple[tuple[int, int], ...] = ()


@lru_cache(maxsize=64)
def pytest_functions(text: str) -> tuple[Function, ...]:
    """The tests and fixtures of a file."""
    return tuple(_pytest_functions(text))


def _pytest_functions(text: str) -> Iterator[Function]:
    data, tree = python_tree(text)
    todo = [tree.root_node] if tree is not None else []
    places = CharacterOffsets(data, text)
    while todo:
        node = todo.pop()
        todo += reversed([c for c in node.named_children if c.type in _HOLDERS])
        name = node.child_by_field_name("name") if node.type == "function_definition" else None
        if name is None:
            continue
        marks = [d for d in decorators(node) if d.named_children]
        span = places.span(name)
        fixture = next((d.named_children[0] for d in marks if re.search(rb"\bfixture\b", _head(d, data))), None)
        named = _named(fixture, data, places) if fixture is not None else None
        given = [text_of(d, data) for d in marks if b"parametrize" in _head(d, data)]
        names = tuple(n for each in given if "indirect" not in each for n in re.findall(r"\w+", each.split("(", 1)[-1]))
        is_test = text_of(name, data).startswith("test")
        given_by = (named or span) if fixture is not None else None
        around = node.child_by_field_name("parameters")
        bare = [c for c in around.named_children if c.type == "identifier"] if around is not None else []
        results = tuple(_results(node, places)) if fixture is not None else ()
        parameters = tuple(places.at(c.start_byte) for c in bare)
        yield Function(node.start_byte, given_by, is_test, names, parameters, results)


def _results(function: Node, places: CharacterOffsets) -> Iterator[tuple[int, int]]:
    """What a function itself returns or yields; nested functions are left out."""
    body = function.child_by_field_name("body")
    todo = [body] if body is not None else []
    while todo:
        node = todo.pop()
        if node.type in ("return_statement", "yield"):
            yield from map(places.span, node.named_children)
        elif node.type not in ("function_definition", "class_definition", "lambda"):
            todo += node.named_children


_HOLDERS = ("class_definition", "block", "decorated_definition", "function_definition", "if_statement", "try_statement")


def _head(decorator: Node, data: bytes) -> bytes:
    return data[decorator.start_byte : decorator.end_byte].split(b"(")[0]


def _named(call: Node, data: bytes, places: CharacterOffsets) -> tuple[int, int] | None:
    """The characters of the name that a fixture is given by `name=`."""
    arguments = call.child_by_field_name("arguments")
    for each in arguments.named_children if arguments is not None else ():
        value = each.child_by_field_name("value") if each.type == "keyword_argument" else None
        if value is not None and value.type == "string" and text_of(each.child_by_field_name("name"), data) == "name":
            return places.at(value.start_byte + 1), places.at(value.end_byte - 1)
    return None
