"""Where in a file a change belongs, and what kind of edit it is there. Pure over the index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from repopilot.agents.planning.requirements import Requirements
from repopilot.agents.planning.touched_files import FileEvidence
from repopilot.code.graph.graph import Graph
from repopilot.index.store import Index
from repopilot.results import EditKind
from repopilot.types import Hit, Symbol, innermost

# Each word is read only where it heads what is added: "a parameter to X", "the X option"; not in "args validator".
_END = (
    r"(?=\s*(?:$|[.,;:(`\"”]|(?:to|for|of|in|on|that|which|by|from|with|and|or|when|as|at|into|pour|de|du|à|dans|sur|qui|"
    r"et)\b))"
)
_PARAMETER = re.compile(rf"\b(?:param(?:eter)?s?|arg(?:ument)?s?|kwargs?|keywords?|paramètres?){_END}", re.I)
_OPTION = re.compile(rf"(?<![\w-])--[a-z][\w-]*|\b(?:options?|flags?|switch){_END}", re.I)
_CALLED = r"(?:\s+(?:(?:called|named|nommée?|appelée?)\s+)?`?[A-Za-z_]\w*(?:\(\))?`?)?"
"""The name behind the word for what it is: "a method unsign_many to X"."""
_MEMBER = re.compile(
    rf"\b(?:methods?|propert(?:y|ies)|attributes?|fields?|members?|méthodes?|propriétés?){_CALLED}{_END}", re.I
)
_FUNCTION = re.compile(rf"\b(?:functions?|helpers?|decorators?|fonctions?|décorateurs?){_CALLED}{_END}", re.I)
_CLASS = re.compile(rf"\b(?:class(?:es)?|exceptions?|structs?){_CALLED}{_END}", re.I)
_CAMEL = re.compile(r"(?=[A-Z0-9]*[a-z])[A-Z][A-Za-z0-9]+")
_HEAD = re.compile(r"\s+(?:to|for|of|in|on|that|which|by|from|with|when|as|at|into|pour|de|du|à|dans|sur|qui)\s+", re.I)
_LEAST_SIBLING = 0.05
"""How likely the file of a similar name must be touched."""
_CONTAINERS = frozenset("class struct interface trait enum impl module namespace object".split())
_FURTHER = 0.8
"""A second place of a file must have so much of the score of the first."""
_TESTS = re.compile(r"^tests?(?:\.|$)", re.I)
"""Tests inside a source file, as in Rust."""
_TEST_NAME = re.compile(r"(?:^|\.|_)tests?(?:_|$|\.)|Tests?(?:$|[A-Z.])|^(?:it|describe)\b", re.I)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class EditPlace:
    """Where a file is edited. `symbol` is a qualified definition, or the headings above a section; '' for the file.
    `exact`: the task names it."""

    path: str
    symbol: str
    kind: EditKind
    exact: bool = False

    @property
    def name(self) -> str:
        """`path:symbol`, or the path."""
        return f"{self.path}:{self.symbol}" if self.symbol else self.path


@dataclass(frozen=True, slots=True)
class Task:
    """A goal with the identifiers in it: the definitions of those that the repository has, and in `new` the name of
    what is to be added, '' for none."""

    wanted: Requirements
    known: Mapping[str, Sequence[Symbol]]
    new: str = ""


def task_of(wanted: Requirements, names: Sequence[str], index: Index) -> Task:
    """A goal, its identifiers looked up.

    Args:
        wanted: the goal.
        names: identifiers in it.
        index: the repository.
    """
    found = {name: index.symbols(name) for name in names}
    head = _HEAD.split(wanted.topic)[0]
    unknown = (n for n, symbols in found.items() if not symbols and not index.references(n) and n in head)
    new = next(unknown, "") if wanted.verb == "add" else ""
    return Task(wanted, {n: s for n, s in found.items() if s}, new.rpartition(".")[2])


def sibling_of(task: Task, files: Sequence[FileEvidence], graph: Graph, index: Index) -> Symbol | None:
    """The definition beside which a new one belongs: one whose name ends in the same word (`…Error`, `…_option`).

    Args:
        task: the goal, with the name of what is new.
        files: what speaks for each file, the likeliest first.
        graph: the code graph.
        index: the repository.

    Returns:
        The last such definition at the top level of the likeliest file; None for no name, or none like it.
    """
    parts = _WORDS.findall(task.new)
    if len(parts) < 2:
        return None
    likely = {f.path: f.probability for f in files if f.role in ("source", "exports")}
    nodes = graph.nodes
    names = ((n, nodes.name(n)) for n in nodes.definitions.tolist())
    alike = [
        nodes[n].path
        for n, name in names
        if name.endswith(parts[-1]) and "." not in name and name[:1].isupper() == task.new[:1].isupper()
    ]
    best = max((p for p in alike if p in likely), key=lambda p: (likely[p], p), default="")
    if likely.get(best, 0.0) < _LEAST_SIBLING:
        return None
    symbols = [s for s in index.outline(best) if s.name.endswith(parts[-1]) and s.name == s.qualified]
    return symbols[-1] if symbols else None


def source_places(file: FileEvidence, hits: Sequence[Hit], task: Task, index: Index) -> list[EditPlace]:
    """Where a source file is edited, at most two places.

    Args:
        file: the file.
        hits: the passages of the search, best first.
        task: the goal.
        index: the repository.
    """
    outline = [s for s in index.outline(file.path) if not _TESTS.match(s.qualified)]
    named = [s for symbols in task.known.values() for s in symbols if s.path == file.path]
    if named:
        return [_place(symbol, task, exact=True) for symbol in _outermost(named)[:2]]
    found: dict[str, tuple[float, Symbol]] = {}
    for hit in hits:
        if hit.chunk.path == file.path and (symbol := _symbol_of(hit, outline)):
            found.setdefault(symbol.qualified, (hit.score, symbol))
    if not found:
        return [EditPlace(file.path, "", _module_kind(task))]
    (best, first), *rest = found.values()
    place = _place(first, task)
    if place.kind in ("add_class", "add_function"):
        classes = place.kind == "add_class"
        nearest = [*(s for _, s in found.values()), *reversed(outline)]
        alike = (s for s in nearest if (s.kind in _CONTAINERS) == classes and s.name == s.qualified)
        return [replace(place, symbol=next(alike, first).qualified)]
    return [place, *(_place(s, task) for score, s in rest[:1] if score >= _FURTHER * best and _apart(first, s))]


def other_place(file: FileEvidence, hits: Sequence[Hit], index: Index, mains: Iterable[str] = ()) -> EditPlace:
    """Where a file that isn't source is edited: beside the tests, or in the section, nearest to the task.

    Args:
        file: the file.
        hits: the passages of the search, best first.
        index: the repository.
        mains: qualified names of the definitions that are changed, which a test of them mentions.
    """
    if file.role == "exports":
        return EditPlace(file.path, "", "add_import")
    if file.role == "tests":
        return EditPlace(file.path, _nearest_test(file.path, hits, index, tuple(mains)), "add_function")
    heading = next((h.chunk.symbol for h in hits if h.chunk.path == file.path), "") if file.role == "docs" else ""
    return EditPlace(file.path, heading, "change_text")


def _nearest_test(path: str, hits: Sequence[Hit], index: Index, mains: Sequence[str]) -> str:
    """The definition of a test file that is nearest to what is changed."""
    outline = _tests_in(index.outline(path))
    for name in mains:
        last = name.rpartition(".")[2]
        lines = [r.line for r in index.references(last) if r.path == path and r.scope]
        around = innermost(outline, lines[-1]) if lines else None
        if around is not None:
            return around.qualified
    for hit in hits:
        if hit.chunk.path == path and (symbol := _symbol_of(hit, outline)):
            return symbol.qualified
    return ""


def _tests_in(outline: Sequence[Symbol]) -> list[Symbol]:
    """The definitions of a test file without what is defined inside functions."""
    functions = [s for s in outline if s.kind not in _CONTAINERS]
    free = [s for s in outline if not any(s.qualified.startswith(f"{f.qualified}.") for f in functions)]
    return [s for s in free if _TEST_NAME.search(s.qualified)] or free


def _symbol_of(hit: Hit, outline: Sequence[Symbol]) -> Symbol | None:
    """The innermost definition around the best line of a passage."""
    line = hit.lines[0][0] if hit.lines else hit.chunk.start_line
    return innermost(outline, line) or next((s for s in outline if s.qualified == hit.chunk.symbol), None)


def _apart(one: Symbol | None, other: Symbol | None) -> bool:
    """Whether neither of two definitions is inside the other."""
    if one is None or other is None:
        return False
    return not f"{one.qualified}.".startswith(f"{other.qualified}.") and not f"{other.qualified}.".startswith(
        f"{one.qualified}."
    )


def _outermost(symbols: Sequence[Symbol]) -> list[Symbol]:
    kept = [s for s in symbols if not any(s.qualified.startswith(f"{o.qualified}.") for o in symbols)]
    return list({s.qualified: s for s in kept}.values())


def _place(symbol: Symbol, task: Task, exact: bool = False) -> EditPlace:
    return EditPlace(symbol.path, symbol.qualified, _symbol_kind(symbol, task), exact)


def _symbol_kind(symbol: Symbol, task: Task) -> EditKind:
    """What is done to a definition. What is new is read from the task: an identifier, or the word for what it is."""
    verb, goal = task.wanted.verb, task.wanted.goal
    if verb in ("rename", "move"):
        return verb
    if verb == "remove":
        return "delete" if symbol.name in task.known else "change_function"
    container = symbol.kind in _CONTAINERS
    new = _new_kind(task) if verb == "add" else None
    if new is not None and not (container and new == "change_signature"):
        return new
    if container:
        return "add_member"
    return "change_signature" if verb != "fix" and _PARAMETER.search(goal) else "change_function"


def _new_kind(task: Task) -> EditKind | None:
    """The kind of a new definition; None for something added to one that exists."""
    topic = task.wanted.topic
    if _PARAMETER.search(topic):
        return "change_signature"
    if _OPTION.search(topic) or _MEMBER.search(topic):
        return "add_member"
    if _CLASS.search(topic) or _CAMEL.fullmatch(task.new):
        return "add_class"
    return "add_function" if task.new or _FUNCTION.search(topic) else None


def _module_kind(task: Task) -> EditKind:
    if task.wanted.verb == "add":
        return _new_kind(task) or "add_member"
    return "set_value" if task.wanted.verb == "change" else "add_member"
