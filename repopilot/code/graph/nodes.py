"""The nodes of a code graph, stored as columns: a million of them take a few arrays and become values on demand.
Pure."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

KINDS = ("file", "package", "class", "function", "value", "table")
FILE = KINDS.index("file")
PACKAGE = KINDS.index("package")
TABLE = KINDS.index("table")


class Node(NamedTuple):
    """A node. `kind` is one of KINDS; `name` is a path, a qualified name or the name of a table; lines are 1-based."""

    kind: str
    name: str
    path: str
    line: int
    end_line: int


@dataclass(frozen=True)
class Nodes:
    """Columns of nodes; files come first, so that node n is file n.

    `kinds` (uint8) are indexes into KINDS, `files` (int32) the numbers of the nodes' files (-1 for a package), `lines`
    and `ends` (int32) their first and last lines. The name of node n is `text[starts[n]:starts[n + 1]]`, as UTF-8
    (uint8).
    """

    kinds: np.ndarray
    files: np.ndarray
    lines: np.ndarray
    ends: np.ndarray
    starts: np.ndarray
    text: np.ndarray

    def __len__(self) -> int:
        return len(self.kinds)

    def __iter__(self) -> Iterator[Node]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> Node:
        file = int(self.files[number])
        path = self.paths[file] if file >= 0 else ""
        return Node(KINDS[self.kinds[number]], self.name(number), path, int(self.lines[number]), int(self.ends[number]))

    def name(self, number: int) -> str:
        """The name of one node."""
        text = self.text[self.starts[number] : self.starts[number + 1]]
        return text.tobytes().decode("utf-8", "surrogatepass")

    @cached_property
    def names(self) -> list[str]:
        """The names of all nodes, for those who need many of them."""
        text = self.text.tobytes()
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(self.starts.tolist())]

    @cached_property
    def paths(self) -> list[str]:
        """The paths of all files, by number."""
        return [self.name(n) for n in range(int(np.count_nonzero(self.kinds == FILE)))]

    @cached_property
    def owners(self) -> np.ndarray:
        """int32: the file of each node; a file or package is its own."""
        return np.where(self.files >= 0, self.files, np.arange(len(self), dtype=np.int32))

    @cached_property
    def definitions(self) -> np.ndarray:
        """The numbers of all nodes that files define."""
        return np.flatnonzero((self.kinds != FILE) & (self.kinds != PACKAGE))


@dataclass(frozen=True)
class ByName:
    """Definitions by unqualified name, [] for an unknown one. `sums` are the CRC-32 of the names, ascending, and
    `numbers` their nodes."""

    nodes: Nodes
    sums: np.ndarray
    numbers: np.ndarray

    def __getitem__(self, name: str) -> list[int]:
        sum_ = np.uint32(_checksum(name))
        first, last = (int(np.searchsorted(self.sums, sum_, side)) for side in ("left", "right"))
        return [n for n in self.numbers[first:last].tolist() if last_part(self.nodes.name(n)) == name]


@dataclass(slots=True)
class NodeColumns:
    """Collects nodes, column by column."""

    kinds: array = field(default_factory=lambda: array("B"))
    files: array = field(default_factory=lambda: array("i"))
    lines: array = field(default_factory=lambda: array("i"))
    ends: array = field(default_factory=lambda: array("i"))
    names: list[str] = field(default_factory=list)

    def add(self, kind: int, name: str, file: int, line: int, end: int) -> int:
        """Add a node, and return its number.

        Args:
            kind: an index into KINDS.
            name: its name.
            file: the number of its file's node.
            line: its first line.
            end: its last line.
        """
        self.kinds.append(kind)
        self.files.append(file)
        self.lines.append(line)
        self.ends.append(end)
        self.names.append(name)
        return len(self.names) - 1

    def finish(self) -> tuple[Nodes, ByName]:
        """The nodes collected, and the definitions among them by name."""
        encoded = [_encoded(name) for name in self.names]
        starts = np.concatenate(([0], np.cumsum([len(name) for name in encoded], dtype=np.int64)))
        text = np.frombuffer(b"".join(encoded), np.uint8)
        files, lines, ends = (np.array(column, np.int32) for column in (self.files, self.lines, self.ends))
        nodes = Nodes(np.array(self.kinds, np.uint8), files, lines, ends, starts, text)
        sums = np.array([_checksum(last_part(self.names[n])) for n in nodes.definitions.tolist()], np.uint32)
        order = np.argsort(sums, kind="stable")
        return nodes, ByName(nodes, sums[order], nodes.definitions[order].astype(np.int32))


def last_part(name: str) -> str:
    """The unqualified name."""
    return name.rpartition(".")[2]


def _checksum(name: str) -> int:
    return zlib.crc32(_encoded(name))


def _encoded(name: str) -> bytes:
    # Bytes of a path that are not UTF-8 are lone surrogates in Python.
    return name.encode("utf-8", "surrogatepass")
