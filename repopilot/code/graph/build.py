"""Makes the code graph from the analyses of all files: resolves imports and names, finds tests and tables. Pure."""

from __future__ import annotations

import posixpath
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from repopilot.code.graph.graph import Edge, Graph, graph_of
from repopilot.code.graph.import_resolver import places, resolve
from repopilot.code.graph.incremental import to_link
from repopilot.code.graph.link_state import KeptLinks, Linkage, Linked, outline, ties
from repopilot.code.graph.linker import CONFIDENCE, How, Linker, names
from repopilot.code.graph.nodes import FILE, KINDS, PACKAGE, TABLE, NodeColumns
from repopilot.code.graph.tested_files import tested
from repopilot.code.manifest import Manifest
from repopilot.code.schema import Table
from repopilot.code.split import FileAnalysis

VERSION = "2"  # of the recipe: a graph built with another one is rebuilt
_CLASS, _FUNCTION, _VALUE = (KINDS.index(kind) for kind in ("class", "function", "value"))
_KINDS = {
    **dict.fromkeys(("class", "interface", "struct", "trait", "enum", "type", "module"), _CLASS),
    **dict.fromkeys(("variable", "field", "macro"), _VALUE),
    "table": TABLE,
}
_SAME_TABLE = 3
_OF_USE = {"call": Edge.CALLS, "inherit": Edge.INHERITS, "use": Edge.USES}


def build_graph(files: Iterable[FileAnalysis], manifests: Iterable[Manifest] = ()) -> Graph:
    """The graph of all files. `manifests` (package.json, go.mod, Cargo.toml) name packages of the repository itself."""
    analyses = list(files)
    return link_graph(analyses, [""] * len(analyses), manifests).graph


def link_graph(
    files: Sequence[FileAnalysis],
    keys: Sequence[str],
    manifests: Iterable[Manifest] = (),
    before: Linked | None = None,
) -> Linked:
    """The graph of all files, with what the next one can build on.

    `keys` tell contents apart: files with the same path and key have the same analysis. What `before` has linked
    already is kept where nothing it depends on has changed; the result is the same as without it.
    """
    where = places(files, manifests)
    linker = Linker(where, names(files), [resolve(where, n) for n in range(len(files))])
    linkage = _linkage(files, keys, linker)
    stale = to_link(before.linkage, linkage, files) if before is not None else None
    builder = _Builder(files, linkage)
    builder.add_structure()
    if before is not None and stale is not None:
        builder.keep(before, stale)
    for number in range(len(files)):
        builder.add_imports(number, linker)
        builder.add_uses(number, linker)
    builder.add_tables()
    builder.add_tests()
    return Linked(builder.finish(), linkage)


def _linkage(files: Sequence[FileAnalysis], keys: Sequence[str], linker: Linker) -> Linkage:
    return Linkage(
        paths=[file.path for file in files],
        keys=list(keys),
        languages=[file.language for file in files],
        packages=[file.package for file in files],
        outlines=[outline(file) for file in files],
        ties=[ties(targets) for targets in linker.targets],
        unresolved=[],
        spans=[],
    )


@dataclass(slots=True)
class _Builder:
    """Gathers nodes and edges, and in `linkage` what is known of the links of each file."""

    files: Sequence[FileAnalysis]
    linkage: Linkage
    nodes: NodeColumns = field(default_factory=NodeColumns)
    first: int = 0
    scopes: list[dict[str, int]] = field(default_factory=list)
    columns: tuple[array, ...] = field(default_factory=lambda: tuple(array(c) for c in "iiBfi"))
    kept: KeptLinks | None = None
    stale: frozenset[int] = frozenset()

    def add(self, source: int, target: int, kind: Edge, confidence: float, line: int) -> None:
        sources, targets, kinds, confidences, lines = self.columns
        sources.append(source)
        targets.append(target)
        kinds.append(kind)
        confidences.append(confidence)
        lines.append(line)

    def add_structure(self) -> None:
        """Files first (their node is their number), then packages and definitions, with DECLARES edges."""
        for number, file in enumerate(self.files):
            self.nodes.add(FILE, file.path, number, 1, file.lines)
        packages: dict[str, int] = {}
        for number, file in enumerate(self.files):
            package = file.package or posixpath.dirname(file.path)
            if package not in packages:
                packages[package] = self.nodes.add(PACKAGE, package or ".", -1, 0, 0)
            self.add(packages[package], number, Edge.DECLARES, 1.0, 1)
        self.first = len(self.nodes.names)
        for number in range(len(self.files)):
            self.scopes.append(self._add_symbols(number))

    def _add_symbols(self, number: int) -> dict[str, int]:
        scopes: dict[str, int] = {}
        for symbol in self.files[number].symbols:
            kind = _KINDS.get(symbol.kind, _FUNCTION)
            node = self.nodes.add(kind, symbol.qualified, number, symbol.start_line, symbol.end_line)
            outer = scopes.get(symbol.qualified.rpartition(".")[0], number)
            self.add(outer, node, Edge.DECLARES, 1.0, symbol.start_line)
            scopes.setdefault(symbol.qualified, node)
        return scopes

    def keep(self, before: Linked, stale: set[int]) -> None:
        """Take the links of an earlier graph for all files that are not stale."""
        self.kept = KeptLinks(before, self.linkage.paths, self.linkage.outlines, self.first)
        self.stale = frozenset(stale | self.kept.torn())

    def add_imports(self, number: int, linker: Linker) -> None:
        for target in linker.targets[number]:
            share = 0.9 if len(target.files) <= 3 else 0.9 * 3 / len(target.files)
            for file in target.files:
                if file != number:
                    self.add(number, file, Edge.IMPORTS, share, target.line)

    def add_uses(self, number: int, linker: Linker) -> None:
        """The edges of the uses in a file, linked or kept."""
        start = len(self.columns[0])
        if self.kept is not None and number not in self.stale:
            for column, values in zip(self.columns, self.kept.of(number), strict=True):
                column.frombytes(values.tobytes())
            unresolved = self.kept.unresolved(number)
        else:
            unresolved = self._link_uses(number, linker)
        self.linkage.unresolved.append(unresolved)
        self.linkage.spans.append([start, len(self.columns[0])])

    def _link_uses(self, number: int, linker: Linker) -> dict[str, int]:
        """Link a file. Returns its uses of ambiguous names, counted."""
        file, scopes = self.files[number], self.scopes[number]
        unresolved: Counter[str] = Counter()
        done: set[tuple[int, int, int]] = set()
        for use in file.uses:
            kind = _OF_USE.get(use.kind)
            if kind is None:
                continue
            found, how = linker.link(number, use)
            if how in (None, How.AMBIGUOUS) and len(linker.names.by_name.get(use.name, ())) > 1:
                unresolved[use.name] += 1
            if how is None:
                continue
            sure = CONFIDENCE[how] / (len(found) if how == How.AMBIGUOUS else 1)
            source = scopes.get(use.scope, number)
            for symbol in found:
                target = self.first + symbol
                key = (source, target, kind)
                if source != target and key not in done:
                    done.add(key)
                    self.add(source, target, kind, sure, use.line)
        return dict(unresolved)

    def add_tables(self) -> None:
        """Tables with their models and foreign keys, and the code that names them in SQL."""
        tables: dict[str, list[int]] = defaultdict(list)
        pending: list[tuple[int, str]] = []
        for number, file in enumerate(self.files):
            for table in file.tables:
                node = self._add_table(number, table)
                for key in {table.name.lower(), table.model.lower()}:
                    tables[key].append(node)
                pending += [(node, name) for name in table.refers]
        for node, name in pending:
            for target in tables.get(name.lower(), ())[:_SAME_TABLE]:
                if target != node:
                    self.add(node, target, Edge.USES, 0.9, self.nodes.lines[node])
        for number, file in enumerate(self.files if tables else ()):
            for use in file.uses:
                wanted = use.name if use.kind == "table" else _prisma_model(use.receiver)
                for target in tables.get(wanted.lower(), ())[:_SAME_TABLE] if wanted else ():
                    self.add(self.scopes[number].get(use.scope, number), target, Edge.USES, 0.8, use.line)

    def _add_table(self, number: int, table: Table) -> int:
        """The node of a table. A class that maps it and the table depend on each other."""
        model = self.scopes[number].get(table.model or table.name)
        if model is not None and self.nodes.kinds[model] == TABLE:
            return model
        node = self.nodes.add(TABLE, table.name, number, table.line, table.line)
        self.add(number, node, Edge.DECLARES, 1.0, table.line)
        if model is not None:
            self.add(model, node, Edge.USES, 1.0, table.line)
            self.add(node, model, Edge.USES, 1.0, table.line)
        return node

    def add_tests(self) -> None:
        """TESTS from a test's file to the files it exercises."""
        for test, number, sure in tested(self.files, np.array(self.nodes.files, np.int32), self.columns):
            self.add(test, number, Edge.TESTS, sure, 1)

    def finish(self) -> Graph:
        nodes, by_name = self.nodes.finish()
        unresolved: Counter[str] = Counter()
        for found in self.linkage.unresolved:
            unresolved.update(found)
        return graph_of(nodes, by_name, self.columns, dict(unresolved))


def _prisma_model(receiver: str) -> str:
    """`prisma.user.findMany()` uses the model `User`."""
    steps = receiver.split(".") if "prisma." in receiver else ()
    return steps[-1] if "prisma" in steps[:-1] else ""
