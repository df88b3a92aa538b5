"""What of a repository its users can name. Sync."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from repopilot.agents.overview.offered import offered
from repopilot.agents.overview.overview_values import EntryPoint
from repopilot.agents.overview.uses import reached
from repopilot.code.graph.graph import Edge, Graph
from repopilot.code.languages import family, is_public
from repopilot.index.store import Index
from repopilot.types import Symbol

_PRIVATE = re.compile(r"(?:^|/)(?:_(?!_)|internals?/)")
"""A file or a folder that a project keeps for itself, by its name."""
_HIDDEN = re.compile(r"\b(?:private|protected|internal|fileprivate)\b|\bpub\(")
_SECTION = re.compile(r"^([ \t]*)(private|protected|public)\b[ \t]*(?:\w+[ \t]*)?:?[ \t]*$", re.M)
"""A line that says who may use the members below it, in C++ and Ruby."""
LINES_ABOVE = 12
"""Lines in which the documentation above a definition is looked for."""
_WITH_SECTIONS = ("cpp", "ruby")
_NOT_FOR_USERS = re.compile(r"@(?:internal|private|hidden)\b|@api private|:nodoc:|doc\(hidden\)|visibility private")
_EXPORTS = re.compile(r"^(?:export\b|[ \t]*pub (?:use|mod)\b|from\b)", re.M)
_LISTED = re.compile(
    r"^(?:export\s+(?:type\s*)?\{[^}]*\}|pub use [^;]+;|export\b[^\n{]*|from [\w.]+ import (?:\([^)]*\)|.*))", re.M
)
_NAME = re.compile(r"[\w$]+")
_BY_EXPORTS = ("js", "rust")
"""Languages in which users can name what the main file of a package exports, and nothing else."""
_WITH_MODIFIER = ("java", "csharp")
"""Languages in which a definition is for its own package without `public`."""

_OPEN_TYPE = re.compile(r"\b(?:interface|enum|record|trait)\b")
"""Types whose members are public as they are."""

IsPublic = Callable[[Symbol], bool]


def public_names(index: Index, graph: Graph, entries: Iterable[EntryPoint]) -> IsPublic:
    """A function that says whether users can name a definition.

    Args:
        index: the repository.
        graph: its code graph.
        entries: where it is entered.
    """
    facades = [entry for entry in entries if entry.kind == "facade"]
    exporting = [e.path for e in facades if e.path in index.files and _EXPORTS.search(index.text(e.path) or "")]
    packages = [path for path in index.files if path.endswith("/__init__.py") and not _PRIVATE.search(path)]
    names, whole = _exported(index, graph, exporting + packages)
    families = {family(index.files[path].language) for path in exporting}
    nodes = offered(graph, (e for e in facades if e.path.endswith((".h", ".hpp", ".hh"))))
    declared = {(graph.nodes[node].path, graph.nodes[node].line) for node in nodes}

    def is_offered(symbol: Symbol) -> bool:
        kind, top = family(index.files[symbol.path].language), symbol.qualified.partition(".")[0]
        if kind == "js" and kind not in families:
            text = index.text(symbol.path) or ""
            return not _EXPORTS.search(text) or top in _listed(text)
        if kind == "c" and declared:
            return (symbol.path, symbol.start_line) in declared
        is_passed_on = top in names or (kind != "js" and symbol.path in whole)
        return (
            is_passed_on
            if kind in _BY_EXPORTS and kind in families
            else is_passed_on or not _PRIVATE.search(symbol.path)
        )

    return lambda symbol: is_offered(symbol) and _is_open(index, symbol)


def _exported(index: Index, graph: Graph, facades: Sequence[str]) -> tuple[set[str], set[str]]:
    """The names that some files list as exported, and the files of which they export everything."""
    whole = {*facades, *reached(facades, lambda path: _exported_whole(index, graph, path))}
    return {name for path in whole for name in _listed(index.text(path) or "")}, whole


def _exported_whole(index: Index, graph: Graph, path: str) -> list[str]:
    """The files of which a file exports everything."""
    whole = (each for each in index.imports(path) if not each.names or any(name == "*" for name, _ in each.names))
    lines = index.rows(path)
    passed = {each.line for each in whole if _EXPORTS.match(lines[each.line - 1])}
    links = graph.outgoing(graph.by_path[path], (Edge.IMPORTS,))
    return [graph.nodes[link.node].path for link in links if link.line in passed]


@lru_cache(maxsize=64)
def _listed(text: str) -> frozenset[str]:
    """The names in the statements of a file that export something; kept, since it is asked for each definition."""
    return frozenset(name for listed in _LISTED.findall(text) for name in _NAME.findall(listed))


def _is_open(index: Index, symbol: Symbol) -> bool:
    """Whether nothing at a definition or around it keeps it from users."""
    around = next((s for s in index.outline(symbol.path) if symbol.qualified == f"{s.qualified}.{symbol.name}"), None)
    is_abstract = around is not None and _OPEN_TYPE.search(around.signature) is not None
    head = symbol.signature.partition(symbol.name)[0]
    needs_public = index.files[symbol.path].language in _WITH_MODIFIER and not is_abstract
    return (
        is_public(symbol.qualified, "" if is_abstract else symbol.signature, symbol.path)
        and not _HIDDEN.search(head)
        and ("public" in head or not needs_public)
        and (around is None or (around.kind not in ("function", "method") and _is_open(index, around)))
        and _is_told_to_users(index, symbol, around)
    )


def _is_told_to_users(index: Index, symbol: Symbol, around: Symbol | None) -> bool:
    """Whether neither the documentation of a definition nor the section of its class around it says that it is
    private."""
    lines = index.rows(symbol.path)[: symbol.start_line]
    if around and index.files[symbol.path].language in _WITH_SECTIONS:
        indent = len(lines[-1]) - len(lines[-1].lstrip())
        sections = _SECTION.findall("\n".join(lines[around.start_line :]))
        if any(said != "public" for space, said in sections[-1:] if len(space) <= indent):
            return False
    return not _NOT_FOR_USERS.search("\n".join(lines[-LINES_ABOVE:]).rpartition("\n\n")[2])
