"""Makes the code graph from the analyses of all files: resolves imports and names, finds tests and tables. Pure."""

from __future__ import annotations

import posixpath
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from repopilot.code.graph import Edge, Graph, Node
from repopilot.code.languages import is_test_path
from repopilot.code.links import CONFIDENCE, How, Linker, names
from repopilot.code.manifest import Manifest
from repopilot.code.resolve import places, resolve
from repopilot.code.schema import Table
from repopilot.code.split import FileAnalysis
from repopilot.code.symbols import Use

_KINDS = {
    **dict.fromkeys(("class", "interface", "struct", "trait", "enum", "type", "module"), "class"),
    **dict.fromkeys(("variable", "field", "macro"), "value"),
    "table": "table",
}
_SAME_TABLE = 3
_OF_USE = {"call": Edge.CALLS, "inherit": Edge.INHERITS, "use": Edge.USES}


def build_graph(files: Iterable[FileAnalysis], manifests: Iterable[Manifest] = ()) -> Graph:
    """The graph of all files. `manifests` (package.json, go.mod, Cargo.toml) name packages of the repository itself."""
    analyses = list(files)
    builder = _Builder(analyses)
    where = places(analyses, manifests)
    linker = Linker(where, names(analyses), [resolve(where, n) for n in range(len(analyses))])
    builder.add_structure()
    for number in range(len(analyses)):
        builder.add_imports(number, linker)
        builder.add_uses(number, linker)
    builder.add_tables()
    builder.add_tests()
    return builder.finish()


@dataclass(slots=True)
class _Builder:
    files: list[FileAnalysis]
    nodes: list[Node] = field(default_factory=list)
    symbol_nodes: list[int] = field(default_factory=list)
    scopes: list[dict[str, int]] = field(default_factory=list)
    columns: tuple[array, ...] = field(default_factory=lambda: tuple(array(c) for c in "iiBfi"))
    inside: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    unresolved: Counter[str] = field(default_factory=Counter)

    def add(self, source: int, target: int, kind: Edge, confidence: float, line: int) -> None:
        for column, value in zip(self.columns, (source, target, kind, confidence, line), strict=True):
            column.append(value)

    def add_structure(self) -> None:
        """Files first (their node is their number), then packages and symbols, with DECLARES edges."""
        self.nodes += [Node("file", f.path, f.path, 1, f.lines) for f in self.files]
        packages: dict[str, int] = {}
        for number, file in enumerate(self.files):
            package = file.package or posixpath.dirname(file.path)
            if package not in packages:
                packages[package] = len(self.nodes)
                self.nodes.append(Node("package", package or ".", "", 0, 0))
            self.add(packages[package], number, Edge.DECLARES, 1.0, 1)
        for number in range(len(self.files)):
            self.scopes.append(self._add_symbols(number))

    def _add_symbols(self, number: int) -> dict[str, int]:
        file, scopes = self.files[number], {}
        for symbol in file.symbols:
            node = len(self.nodes)
            kind = _KINDS.get(symbol.kind, "function")
            self.nodes.append(Node(kind, symbol.qualified, file.path, symbol.start_line, symbol.end_line))
            self.symbol_nodes.append(node)
            self.inside[number].append(node)
            outer = scopes.get(symbol.qualified.rpartition(".")[0], number)
            self.add(outer, node, Edge.DECLARES, 1.0, symbol.start_line)
            scopes.setdefault(symbol.qualified, node)
        return scopes

    def add_imports(self, number: int, linker: Linker) -> None:
        for target in linker.targets[number]:
            share = 0.9 if len(target.files) <= 3 else 0.9 * 3 / len(target.files)
            for file in target.files:
                if file != number:
                    self.add(number, file, Edge.IMPORTS, share, target.line)

    def add_uses(self, number: int, linker: Linker) -> None:
        file, scopes = self.files[number], self.scopes[number]
        done: set[tuple[int, int, int]] = set()
        for use in file.uses:
            kind = _OF_USE.get(use.kind)
            if kind is None:
                continue
            found, how = linker.link(number, use)
            if how in (None, How.AMBIGUOUS) and len(linker.names.by_name.get(use.name, ())) > 1:
                self.unresolved[use.name] += 1
            if how is None:
                continue
            sure = CONFIDENCE[how] / (len(found) if how == How.AMBIGUOUS else 1)
            source = scopes.get(use.scope, number)
            for symbol in found:
                target = self.symbol_nodes[symbol]
                key = (source, target, kind)
                if source != target and key not in done:
                    done.add(key)
                    self.add(source, target, kind, sure, use.line)

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
                    self.add(node, target, Edge.USES, 0.9, self.nodes[node].line)
        for number, file in enumerate(self.files if tables else ()):
            for use in file.uses:
                wanted = use.name if use.kind == "table" else _prisma_model(use)
                for target in tables.get(wanted.lower(), ())[:_SAME_TABLE] if wanted else ():
                    self.add(self.scopes[number].get(use.scope, number), target, Edge.USES, 0.8, use.line)

    def _add_table(self, number: int, table: Table) -> int:
        """The node of a table. A class that maps it and the table depend on each other."""
        model = self.scopes[number].get(table.model or table.name)
        if model is not None and self.nodes[model].kind == "table":
            return model
        node = len(self.nodes)
        self.nodes.append(Node("table", table.name, table.path, table.line, table.line))
        self.inside[number].append(node)
        self.add(number, node, Edge.DECLARES, 1.0, table.line)
        if model is not None:
            self.add(model, node, Edge.USES, 1.0, table.line)
            self.add(node, model, Edge.USES, 1.0, table.line)
        return node

    def add_tests(self) -> None:
        """TESTS from a test's file to the files it exercises: those it is named after, and those it uses."""
        tests = {n for n, f in enumerate(self.files) if is_test_path(f.path)}
        sure = self._named_after(tests)
        by_path = {f.path: n for n, f in enumerate(self.files)}
        sources, targets, kinds, confidence, _ = self.columns
        for source, target, kind, value in zip(sources, targets, kinds, confidence, strict=True):
            if kind == Edge.DECLARES:
                continue
            test, number = by_path.get(self.nodes[source].path, -1), by_path.get(self.nodes[target].path, -1)
            if test in tests and number >= 0 and number not in tests:
                sure[test, number] = max(sure.get((test, number), 0.0), value * 0.9)
        for (test, number), value in sorted(sure.items()):
            self.add(test, number, Edge.TESTS, value, 1)

    def _named_after(self, tests: set[int]) -> dict[tuple[int, int], float]:
        stems: dict[str, list[int]] = defaultdict(list)
        for number, file in enumerate(self.files):
            if number not in tests:
                stems[_stem(file.path)].append(number)
        return {
            (test, number): 0.95
            for test in tests
            for number in _nearest(self.files, test, stems.get(_stem(self.files[test].path), ()))
        }

    def finish(self) -> Graph:
        dtypes = (np.int32, np.int32, np.uint8, np.float32, np.int32)
        sources, targets, kinds, confidence, lines = (
            np.array(column, dtype=dtype) for column, dtype in zip(self.columns, dtypes, strict=True)
        )
        by_name: dict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(self.nodes):
            if node.kind not in ("file", "package"):
                by_name[node.name.rpartition(".")[2]].append(number)
        size = len(self.nodes)
        return Graph(
            self.nodes, sources, targets, kinds, confidence, lines, _ends(sources, size), _ends(targets, size),
            {f.path: n for n, f in enumerate(self.files)}, dict(by_name), dict(self.inside), dict(self.unresolved),
        )  # fmt: skip


def _prisma_model(use: Use) -> str:
    """`prisma.user.findMany()` uses the model `User`."""
    steps = use.receiver.split(".")
    return steps[-1] if "prisma" in steps[:-1] else ""


def _ends(nodes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """For each node where its edges begin in the order, and that order."""
    order = np.argsort(nodes, kind="stable")
    return np.searchsorted(nodes[order], np.arange(size + 1)), order


_TEST_PARTS = re.compile(
    r"^(?:tests?[_-]|Test(?=[A-Z]))|(?:[_.-](?:tests?|spec|unittest)|(?<=[a-z0-9])(?:Tests?|Spec|IT|TestCase))$"
)


def _stem(path: str) -> str:
    """A file's name without its extension and without what marks it as a test."""
    name = posixpath.basename(path)
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    return _TEST_PARTS.sub("", stem).lower()


def _nearest(files: Sequence[FileAnalysis], test: int, candidates: Sequence[int]) -> list[int]:
    """Of files with the right name, those whose folders share most with the test's."""
    parts = set(files[test].path.split("/")[:-1])
    shared = {n: len(parts & set(files[n].path.split("/")[:-1])) for n in candidates if files[n].symbols}
    best = max(shared.values(), default=0)
    return [n for n, common in shared.items() if common == best][:3]
