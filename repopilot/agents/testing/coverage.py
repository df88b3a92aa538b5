"""Which definitions a change of Python code adds or alters, and whether tests call them by name. Pure.

A test run says nothing about code it never reaches: every definition whose behaviour a change alters must be named in a
test before that test counts for it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repopilot.code.python_ast import DEFINITIONS, FUNCTIONS, is_text, read_python

_TOP = ""
"""Stands for statements of a module that define nothing."""


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A definition that is new or behaves differently.

    Attributes:
        name: qualified; for code that no name stands for, the file's path.
        reached_by: a test that uses one of these names exercises the definition.
    """

    name: str
    reached_by: tuple[str, ...] = ()


def changed_definitions(path: str, before: str, after: str) -> tuple[ChangedDefinition, ...]:
    """The definitions that differ between two texts of a file, comments, docstrings and imports aside.

    Args:
        path: the file's path.
        before: the old text, '' for a new file.
        after: the new text.

    Returns:
        In the order of `after`. A private definition is reached by the public ones that use it; of a new class the
        methods are listed. Empty for a text that does not parse.
    """
    new, old = _parts(after), _parts(before)
    names = [n for n, node in new.items() if n not in old or ast.dump(old[n]) != ast.dump(node)]
    owners = {n.rpartition(".")[0] for n in names}
    return tuple(
        ChangedDefinition(name or path, _reached_by(name, new) if name else ())
        for name in names
        if name not in owners - {_TOP}
    )


def unexercised(changed: Iterable[ChangedDefinition], tests: Iterable[str]) -> tuple[str, ...]:
    """Names of the definitions that none of the test texts reaches."""
    read = [_test(text) for text in tests]
    return tuple(d.name for d in changed if not any(_uses(test, name) for test in read for name in d.reached_by))


def _parts(text: str) -> dict[str, ast.AST]:
    """The syntax tree of each qualified definition: complete functions, classes without their methods, constants; under
    _TOP the statements at the top level that define nothing."""
    tree = read_python(text)
    return _members(tree.body, "") | _top(tree.body)


def _members(body: Sequence[ast.stmt], prefix: str) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for node in body:
        if isinstance(node, FUNCTIONS):
            found[prefix + node.name] = _without_docstrings(node)
        elif isinstance(node, ast.ClassDef):
            own = copy.copy(node)
            own.body = [n for n in node.body if not isinstance(n, DEFINITIONS) and not is_text(n)]
            found[prefix + node.name] = own
            found |= _members(node.body, f"{prefix}{node.name}.")
        elif not prefix:
            found |= dict.fromkeys(_constants(node), node)
    return found


def _top(body: Sequence[ast.stmt]) -> dict[str, ast.AST]:
    passive = (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.If, ast.Try)
    rest = [n for n in body if not isinstance(n, passive) and not is_text(n) and not _constants(n)]
    return {_TOP: ast.Module(rest, [])} if rest else {}


def _constants(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [t.id for t in targets if isinstance(t, ast.Name) and t.id != "__all__"]


def _without_docstrings(node: ast.AST) -> ast.AST:
    bare = copy.deepcopy(node)
    for inner in ast.walk(bare):
        if isinstance(inner, DEFINITIONS) and inner.body and is_text(inner.body[0]):
            inner.body = inner.body[1:]
    return bare


def _reached_by(name: str, parts: Mapping[str, ast.AST]) -> tuple[str, ...]:
    """The names a test can use to reach a definition: its own; of a special method its class; of a private one or a
    constant also what uses it, up to the public."""
    owner, _, last = name.rpartition(".")
    if last.startswith("__") and last.endswith("__") and owner:
        return (owner,)
    found = {name: None}
    open_names = [name] if last.startswith("_") or not isinstance(parts[name], DEFINITIONS) else []
    while open_names:
        wanted = open_names.pop().rpartition(".")[2]
        for user, node in parts.items():
            if user and user not in found and wanted in _names(node):
                found[user] = None
                open_names += [user] if user.rpartition(".")[2].startswith("_") else []
    return tuple(found)


def _names(node: ast.AST) -> set[str]:
    """Names a tree reads, attributes among them; what it only imports is not used."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return found | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


class _Test(NamedTuple):
    """Names a test text uses, names it defines itself (a copy of the code in a test file proves nothing), and the text
    in lower case."""

    names: set[str]
    defined: set[str]
    text: str


def _test(text: str) -> _Test:
    tree = read_python(text)
    return _Test(_names(tree), {n.name for n in tree.body if isinstance(n, DEFINITIONS)}, text.lower())


def _uses(test: _Test, name: str) -> bool:
    """Whether a test uses a name. A method counts only when its class is mentioned too, if only in the name of a
    fixture: many classes have an `add`."""
    owner, _, last = name.rpartition(".")
    owner = owner.rpartition(".")[2]
    return last in test.names and owner.lower() in test.text and (owner or last) not in test.defined
