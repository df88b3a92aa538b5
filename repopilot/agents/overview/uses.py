"""What uses what between the files of a repository, from its code graph. Sync."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from repopilot.code.graph.graph import DEPENDING, Edge, Graph

SURE = 0.75
"""The confidence of a use that an import or a scope resolves; a name with only one definition has less."""
_KNOWN = 0.69
"""The confidence of a use of which the type of the receiver is written, or inferred from the values that are passed."""
TEST_MODULES = ("test", "tests")
"""The modules for tests that a Rust file holds."""
STUBS = (".pyi", ".d.ts")
"""Files that declare the types of code elsewhere; only a type checker reads the names in them."""

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(slots=True)
class FileUse:
    """One file uses another: how often, and the line of its first use."""

    count: int
    line: int


def sure_uses(graph: Graph) -> np.ndarray:
    """bool (edges,): which edges are uses of a known definition, also by an inferred type; an edge from a test to
    what it tests isn't one."""
    kinds = [int(kind) for kind in DEPENDING if kind != Edge.TESTS]
    return np.isin(graph.kinds, kinds) & (graph.confidence >= _KNOWN)


def _product_uses(graph: Graph) -> np.ndarray:
    """bool (edges,): the sure uses, without those in the modules for tests of Rust files."""
    found = sure_uses(graph)
    nodes = [graph.nodes[node] for name in TEST_MODULES for node in graph.by_name[name]]
    for node in (node for node in nodes if node.path.endswith(".rs") and node.name in TEST_MODULES):
        inside = (graph.lines >= node.line) & (graph.lines <= node.end_line)
        found &= ~(inside & (graph.nodes.owners[graph.sources] == graph.by_path[node.path]))
    return found


def file_uses(graph: Graph, files: Collection[str]) -> dict[tuple[str, str], FileUse]:
    """How files use each other, by (user, used).

    Args:
        graph: the code graph.
        files: the files that count.
    """
    wanted = _product_uses(graph)
    owners = graph.nodes.owners
    path_of = {number: path for path, number in graph.by_path.items() if path in files}
    columns = (owners[graph.sources[wanted]], owners[graph.targets[wanted]], graph.lines[wanted])
    found: dict[tuple[str, str], FileUse] = {}
    for one, other, line in zip(*(column.tolist() for column in columns), strict=True):
        if one == other or one not in path_of or other not in path_of or path_of[one].endswith(STUBS):
            continue
        use = found.setdefault((path_of[one], path_of[other]), FileUse(0, line))
        use.count += 1
    return found


def between(uses: Mapping[tuple[str, str], FileUse], files: Collection[str]) -> dict[tuple[str, str], FileUse]:
    """Only the uses between some files."""
    return {(user, used): use for (user, used), use in uses.items() if user in files and used in files}


def reached(starts: Iterable[Thing], next_of: Callable[[Thing], Iterable[Thing]]) -> set[Thing]:
    """Everything that can be reached from some things; a start only where something leads back to it.

    Args:
        starts: where to begin.
        next_of: gives what a thing leads to.
    """
    found: set[Thing] = set()
    queue = list(starts)
    while queue:
        fresh = set(next_of(queue.pop())) - found
        found |= fresh
        queue += fresh
    return found


def successors(pairs: Iterable[tuple[Thing, Thing]]) -> Callable[[Thing], Iterable[Thing]]:
    """A function that gives the successors of a thing, for `reached`, made of pairs of a thing and its successor."""
    following: defaultdict[Thing, set[Thing]] = defaultdict(set)
    for thing, successor in pairs:
        following[thing].add(successor)
    return lambda thing: following.get(thing, ())


def users_of(graph: Graph, parts: Iterable[Iterable[str]], counted: np.ndarray | None = None) -> list[Counter[str]]:
    """For each part, the files that use its files or what these define, each with how often.

    Args:
        graph: the code graph.
        parts: the files of each; no file is in two of them.
        counted: which edges count; without it all uses, sure or not.
    """
    paths = graph.nodes.paths
    found: list[Counter[str]] = []
    part_of = np.full(len(graph.nodes), -1)
    for number, files in enumerate(parts):
        found.append(Counter())
        part_of[[graph.by_path[path] for path in files if path in graph.by_path]] = number
    users = graph.nodes.owners[graph.sources]
    used = part_of[graph.nodes.owners[graph.targets]]
    uses = np.isin(graph.kinds, [int(kind) for kind in DEPENDING]) if counted is None else counted
    wanted = uses & (used >= 0) & (users < len(paths))
    pairs, often = np.unique(np.stack([used[wanted], users[wanted]]), axis=1, return_counts=True)
    for part, user, count in zip(*pairs.tolist(), often.tolist(), strict=True):
        found[part][paths[user]] = count
    return found
