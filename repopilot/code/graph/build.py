"""Builds the code graph from the analyses of all files: resolves imports and names, finds tests and tables. Pure."""

from __future__ import annotations

import posixpath
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from repopilot.code.file_analysis import FileAnalysis, Table, Use
from repopilot.code.graph.graph import Edge, Graph, graph_of
from repopilot.code.graph.implementations import implementations
from repopilot.code.graph.import_resolver import OwnPackage
from repopilot.code.graph.linker import CONFIDENCE, Linker, Resolution
from repopilot.code.graph.nodes import FILE, KINDS, PACKAGE, TABLE, NodeColumns
from repopilot.code.graph.tested_files import tested

_CLASS, _FUNCTION, _VALUE = (KINDS.index(kind) for kind in ("class", "function", "value"))
_KINDS = {
    **dict.fromkeys(("class", "interface", "struct", "trait", "enum", "type", "module"), _CLASS),
    **dict.fromkeys(("variable", "field", "macro"), _VALUE),
    "table": TABLE,
}
_MOST_OF_A_TABLE = 3  # declarations of one table
_EDGE_OF_USE = {"call": Edge.CALLS, "inherit": Edge.INHERITS, "use": Edge.USES}


def link_graph(files: Sequence[FileAnalysis], manifests: Iterable[OwnPackage] = ()) -> Graph:
    """Build the graph of all files.

    Args:
        files: the analyses of the files; chunks are not needed.
        manifests: those that name packages of the repository itself.
    """
    linker = Linker(files, manifests)
    builder = _Builder(files)
    builder.add_structure()
    for number in range(len(files)):
        builder.add_imports(number, linker)
        builder.add_uses(number, linker)
    builder.add_implementations()
    builder.add_tables()
    builder.add_tests()
    return builder.finish()


@dataclass(slots=True)
class _Builder:
    """Collects nodes and edges."""

    files: Sequence[FileAnalysis]
    nodes: NodeColumns = field(default_factory=NodeColumns)
    first: int = 0
    scopes: list[dict[str, int]] = field(default_factory=list)
    columns: tuple[array, ...] = field(default_factory=lambda: tuple(array(c) for c in "iiBfi"))
    unresolved: Counter[str] = field(default_factory=Counter)

    def add(self, source: int, target: int, kind: Edge, confidence: float, line: int) -> None:
        """Add an edge."""
        sources, targets, kinds, confidences, lines = self.columns
        sources.append(source)
        targets.append(target)
        kinds.append(kind)
        confidences.append(confidence)
        lines.append(line)

    def add_structure(self) -> None:
        """Add files (their node is their number), then packages and definitions, with DECLARES edges."""
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

    def add_imports(self, number: int, linker: Linker) -> None:
        """Add the IMPORTS edges of a file."""
        for target in linker.targets[number]:
            share = 0.9 if len(target.files) <= 3 else 0.9 * 3 / len(target.files)
            for file in target.files:
                if file != number:
                    self.add(number, file, Edge.IMPORTS, share, target.line)

    def add_uses(self, number: int, linker: Linker) -> None:
        """Add the edges of the uses in a file, and count how often it uses each ambiguous name."""
        done: set[tuple[int, int, int]] = set()
        ambiguous: dict[tuple[str, str, str, str], bool] = {}
        for use in self.files[number].uses:
            # What is used again in the same scope adds no edge.
            key = (use.name, use.kind, use.scope, use.receiver)
            if key not in ambiguous:
                ambiguous[key] = self._add_use(number, use, linker, done)
            if ambiguous[key]:
                self.unresolved[use.name] += 1

    def _add_use(self, number: int, use: Use, linker: Linker, done: set[tuple[int, int, int]]) -> bool:
        """Add the edges of a use; returns whether its name is ambiguous."""
        kind = _EDGE_OF_USE.get(use.kind)
        if kind is None:
            return False
        found, resolution = linker.link(number, use)
        if resolution is not None and found:
            confidence = CONFIDENCE[resolution] / (len(found) if resolution == Resolution.AMBIGUOUS else 1)
            source = self.scopes[number].get(use.scope, number)
            for symbol in found:
                target = self.first + symbol
                key = (source, target, kind)
                if source != target and key not in done:
                    done.add(key)
                    self.add(source, target, kind, confidence, use.line)
        unsure = resolution is None or resolution is Resolution.AMBIGUOUS
        return unsure and len(linker.names.by_name.get(use.name, ())) > 1

    def add_implementations(self) -> None:
        """Add edges from the types and methods of Go to the interfaces that they implement implicitly."""
        numbers = {file.path: number for number, file in enumerate(self.files)}
        for pair in dict.fromkeys(implementations(self.files)):
            source, target = (self.scopes[numbers[each.path]][each.qualified] for each in pair)
            self.add(source, target, Edge.INHERITS, CONFIDENCE[Resolution.UNIQUE], pair[0].start_line)

    def add_tables(self) -> None:
        """Add tables with their models and foreign keys, and edges from the code that names them in SQL."""
        tables: dict[str, list[int]] = defaultdict(list)
        pending: list[tuple[int, str]] = []
        for number, file in enumerate(self.files):
            for table in file.tables:
                node = self._add_table(number, table)
                for key in {table.name.lower(), table.model.lower()}:
                    tables[key].append(node)
                pending += [(node, name) for name in table.refers]
        for node, name in pending:
            for target in tables.get(name.lower(), ())[:_MOST_OF_A_TABLE]:
                if target != node:
                    self.add(node, target, Edge.USES, 0.9, self.nodes.lines[node])
        for number, file in enumerate(self.files if tables else ()):
            for use in file.uses:
                wanted = use.name if use.kind == "table" else _prisma_model(use.receiver)
                for target in tables.get(wanted.lower(), ())[:_MOST_OF_A_TABLE] if wanted else ():
                    self.add(self.scopes[number].get(use.scope, number), target, Edge.USES, 0.8, use.line)

    def _add_table(self, number: int, table: Table) -> int:
        """Add a table, and return its node. A class that maps it and the table depend on each other."""
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
        """Add TESTS edges from tests to the files they exercise."""
        for test, number, confidence in tested(self.files, np.array(self.nodes.files, np.int32), self.columns):
            self.add(test, number, Edge.TESTS, confidence, 1)

    def finish(self) -> Graph:
        """The graph of everything that was added."""
        nodes, by_name = self.nodes.finish()
        return graph_of(nodes, by_name, self.columns, self.unresolved)


def _prisma_model(receiver: str) -> str:
    """`prisma.user.findMany()` uses the model `User`."""
    steps = receiver.split(".") if "prisma." in receiver else []
    return steps[-1] if "prisma" in steps[:-1] else ""
