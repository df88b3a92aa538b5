"""Whether changed code is for others to use, and how central it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from repopilot.agents.impact.change import Change
from repopilot.agents.impact.codebase import Codebase, changed_nodes
from repopilot.code.graph.graph import Edge
from repopilot.code.languages import is_public
from repopilot.index.store import Index

_CENTRAL_SHARE = 0.05
_FEWEST_USERS = 3
_PACKAGE_INDEX = re.compile(r"(^|/)(__init__\.pyi?|index\.[cm]?[jt]sx?|lib\.rs|mod\.rs)$")
_USING = (Edge.CALLS, Edge.USES, Edge.INHERITS)


def may_be_used_outside(change: Change) -> bool:
    """Whether all of a file changes, or one of the changed definitions has a public name."""
    return change.whole or any(is_public(name, "", change.path) for name in change.symbols)


def is_exported(index: Index, base: Codebase, change: Change) -> bool:
    """Whether the index of a package (`__init__.py`, `index.ts`, `lib.rs`) imports a changed definition, or its class,
    and the name is public. A file that changes as a whole names no definitions, so it doesn't count."""
    graph = base.graph
    tops = {name.split(".")[0] for name in change.symbols if is_public(name, "", change.path)}
    number = graph.by_path.get(change.path)
    importing = graph.incoming(number, (Edge.IMPORTS,)) if tops and number is not None else ()
    paths = {graph.nodes[link.node].path for link in importing}
    module = change.path.rpartition("/")[2].partition(".")[0]
    names = {
        name
        for path in paths
        if _PACKAGE_INDEX.search(path) and path != change.path
        for imported in index.imports(path)
        if imported.module.rpartition(".")[2].rpartition("/")[2] == module
        for name, _ in imported.names
    }
    text = (index.text(change.path) or "") if "*" in names else ""
    # A star import takes what `__all__` lists.
    listed = {top for top in tops if f'"{top}"' in text or f"'{top}'" in text} if "__all__" in text else tops
    return bool(tops & names) or ("*" in names and bool(listed))


def is_central(base: Codebase, change: Change) -> bool:
    """Whether one of the changed definitions is among the most central of the repository, by PageRank."""
    ranks = base.centrality
    definitions = base.graph.nodes.definitions
    if not len(definitions):
        return False
    least = float(np.quantile(ranks[definitions], 1 - _CENTRAL_SHARE))
    return any(ranks[node] >= least for node in _used_by_several(base, change))


def _used_by_several(base: Codebase, change: Change) -> Iterator[int]:
    for node in changed_nodes(base, change):
        if sum(1 for _ in base.graph.incoming(node, _USING)) >= _FEWEST_USERS:
            yield node
