"""Precision and recall of references against language servers that aren't ours, by (file, line).

    python -m bench.references REPOSITORY LANGUAGE --server 'basedpyright-langserver --stdio' [--server …]
                               [--packages] [--show]

Definitions are drawn by lot from the product's code, two in five of them methods whose name several classes have. What
most of several servers say is true: each of them misses uses. A server lists the uses of a method together with those
of its siblings, other implementations of the same interface; a place counts if what the server finds defined there is
the definition itself or something that it implements. Half of the definitions, by lot too, is closed: its figures are
printed, and never its places. The recall of those that we call sure is counted over places whose definition it is: a
call by the interface can mean any implementation.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import re
import shlex
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from repopilot.code.languages import is_doc_path, is_example_path, is_test_path, language_of
from repopilot.index.store import Index
from repopilot.openings import open_index
from repopilot.project_environment import fetch_for_tests
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.resolve.names import Resolver
from repopilot.resolve.snapshot_tree import SnapshotTree
from repopilot.resolve.uses.usage import name_span, usage_of
from repopilot.runtime import Runtime
from repopilot.sandbox.language_servers.session import Servers
from repopilot.settings import Settings
from repopilot.types import Symbol
from repopilot.workspace import Workspace

DRAWN = 60
SHARED = 24
"""Of these, methods whose name several definitions have."""
SEED = 42
Place = tuple[str, int]
Position = tuple[str, int, int]
"""Path, line from 0, and column."""


class ReferenceServer:
    """The server whose answers count as true."""

    def __init__(self, command: str, root: Path, language: str) -> None:
        self._root, self._language = root, language
        self._numbers = itertools.count(1)
        self._opened: set[str] = set()
        self._implementations: dict[Position, set[Place]] = {}
        self._process = subprocess.Popen(
            shlex.split(command), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        folders = [{"uri": root.as_uri(), "name": root.name}]
        capabilities: dict[str, Any] = {"workspace": {"configuration": True, "workspaceFolders": True}}
        asked = {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": folders, "capabilities": capabilities}
        # Else TypeScript's asks npm for types of every package that a manifest names.
        asked["initializationOptions"] = {"disableAutomaticTypingAcquisition": True}
        self._ask("initialize", asked)
        self._send({"method": "initialized", "params": {}})

    def open(self, path: str) -> None:
        """Show it a file."""
        if path not in self._opened:
            self._opened.add(path)
            text = (self._root / path).read_text("utf-8", errors="replace")
            document = {"uri": self._uri(path), "languageId": self._language, "version": 1, "text": text}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def settle(self, path: str) -> None:
        """Wait until it has read a file: clangd answers with what it knows by then."""
        self._ask("textDocument/documentSymbol", {"textDocument": {"uri": self._uri(path)}})

    def references(self, path: str, line: int, column: int, own: list[Symbol]) -> dict[Place, bool]:
        """The places that can mean what stands at a place, by file and line from 1, and whether they mean nothing else.

        Args:
            path: Its file.
            line: Its line, from 0.
            column: Its column, from 0.
            own: Its definition: several, where it is overloaded.
        """
        self.open(path)
        at = {"line": line, "character": column}
        asked = {
            "textDocument": {"uri": self._uri(path)},
            "position": at,
            "context": {"includeDeclaration": True},
        }
        found = self._positions(self._ask("textDocument/references", asked))
        defined = {use: self._positions(self._ask_at("textDocument/definition", use)) for use in found}
        sure = {use for use, places in defined.items() if not places or _stand_in(map(_place, places), own)}
        implemented = {
            use
            for use, places in defined.items()
            if _stand_in(itertools.chain.from_iterable(map(self._implementing, places)), own)
        }
        return {_place(use): use in sure for use in found if use in sure | implemented}

    def _implementing(self, declared: Position) -> set[Place]:
        if declared not in self._implementations:
            found = self._positions(self._ask_at("textDocument/implementation", declared))
            self._implementations[declared] = set(map(_place, found))
        return self._implementations[declared]

    def _ask_at(self, method: str, at: Position) -> Any:
        path, line, column = at
        self.open(path)
        position = {"line": line, "character": column}
        return self._ask(method, {"textDocument": {"uri": self._uri(path)}, "position": position})

    def _positions(self, found: list[dict[str, Any]] | None) -> list[Position]:
        """What lies in the repository of the locations that it answered."""
        prefix = self._root.as_uri() + "/"
        inside = (each for each in found or () if each["uri"].startswith(prefix))
        starts = ((each["uri"][len(prefix) :], each["range"]["start"]) for each in inside)
        return [(path, start["line"], start["character"]) for path, start in starts]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _uri(self, path: str) -> str:
        return (self._root / path).as_uri()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            answer = self._read()
            if "method" in answer and "id" in answer:
                items = answer.get("params", {}).get("items", ())
                wanted = answer["method"] == "workspace/configuration"
                self._send({"id": answer["id"], "result": [None] * len(items) if wanted else None})
            elif answer.get("id") == number:
                return answer.get("result")

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        size = 0
        while (line := self._process.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        return json.loads(self._process.stdout.read(size))


def _stand_in(places: Iterable[Place], definitions: list[Symbol]) -> bool:
    found = list(places)
    return any(
        path == each.path and each.start_line <= line <= each.end_line for path, line in found for each in definitions
    )


def _place(at: Position) -> Place:
    return at[0], at[1] + 1


class NoServers(Servers):
    """No server for any language."""

    def session(self, language: str, root: Path, written: Callable[[], Path] | None = None) -> None:
        """None."""


def drawn(index: Index, language: str) -> list[Symbol]:
    """The definitions to compare."""
    product = [p for p in index.files if not (is_test_path(p) or is_doc_path(p) or is_example_path(p))]
    kinds = ("function", "method", "class", "interface", "struct", "type")
    symbols = [s for p in product if _family(p) == language for s in index.outline(p) if s.kind in kinds]
    named = Counter(s.name for s in symbols if s.kind == "method")
    plain = [s for s in symbols if not s.name.startswith("__")]
    shared = [s for s in plain if s.kind == "method" and named[s.name] > 1]
    lot = random.Random(SEED)
    first = lot.sample(shared, min(SHARED, len(shared)))
    rest = [s for s in plain if s not in first]
    return first + lot.sample(rest, min(DRAWN - len(first), len(rest)))


def _family(path: str) -> str:
    found = language_of(path) or ""
    return "typescript" if found in ("tsx", "javascript") else found


def compared(
    workspace: Workspace, servers: list[ReferenceServer], language: str, own: Resolver | None
) -> Iterator[tuple]:
    """Each definition with its true places, those of them that mean nothing else, and ours: the sure ones, by name."""
    index, root = workspace.index, workspace.snapshot.root
    assert root is not None
    files = [path for path in index.files if _family(path) == language]
    for ready in (ReferenceServer.open, ReferenceServer.settle):
        for server, path in itertools.product(servers, files):
            ready(server, path)
    for symbol in drawn(index, language):
        text = (root / symbol.path).read_text("utf-8", errors="replace")
        span = name_span(text, symbol)
        if span is None:
            continue
        line = text.count("\n", 0, span.start)
        column = span.start - (text.rfind("\n", 0, span.start) + 1)
        own_heads = [s for s in index.symbols(symbol.name) if (s.path, s.qualified) == (symbol.path, symbol.qualified)]
        found = [server.references(symbol.path, line, column, own_heads) for server in servers]
        truth = _of_most(found)
        meant = _of_most([[place for place, sure in places.items() if sure] for places in found])
        began = time.perf_counter()
        usage = usage_of(index, [symbol], own)
        took = time.perf_counter() - began
        own_lines = set(_definition_lines(index, symbol.name, root))
        truth = {place for place in truth if place[0] in index.files} - own_lines
        name = symbol.qualified.split(".")[-2] if symbol.name in ("constructor", "__init__") else symbol.name
        # Not all servers list uses under another name (`import a as b`).
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        places = {(p.path, p.line): p.source for p in usage.sure}
        sure = {place for place, source in places.items() if place in truth or word.search(source)} - own_lines
        yield symbol, truth, meant & truth, sure, {(p.path, p.line) for p in usage.by_name}, took


def _of_most(said: Sequence[Iterable[Place]]) -> set[Place]:
    """The places that more than half of the servers name."""
    times = Counter(itertools.chain.from_iterable(said))
    return {place for place, count in times.items() if 2 * count > len(said)}


def _definition_lines(index: Index, name: str, root: Path) -> Iterator[Place]:
    """The lines that define a name: accessors, overloads and overriding methods are no uses."""
    for each in index.symbols(name):
        text = (root / each.path).read_text("utf-8", errors="replace")
        span = name_span(text, each)
        if span is not None:
            yield each.path, text.count("\n", 0, span.start) + 1


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("language", choices=("python", "typescript", "go", "c"))
    parser.add_argument("--server", required=True, action="append", dest="servers")
    parser.add_argument("--no-server", action="store_true", help="ask no server of ours")
    parser.add_argument("--packages", action="store_true", help="fetch what the repository declares, for our server")
    parser.add_argument("--show", action="store_true", help="print what differs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), dense=False, history_commits=0)
        with Runtime(settings) as runtime:
            snapshot = open_source(parse_source(str(asked.repository.resolve())), settings)
            index = open_index(snapshot, runtime, lambda _: None)
            workspace = Workspace(snapshot, index, settings, lookups=runtime.lookups)
            if asked.packages:
                problems = asyncio.run(fetch_for_tests(snapshot, index, settings, lambda _: None))
                print("\n".join(problems))
            root = asked.repository.resolve()
            servers = [ReferenceServer(command, root, asked.language) for command in asked.servers]
            try:
                own = workspace.resolver
                if asked.no_server:
                    own = Resolver(SnapshotTree(snapshot, settings), index, NoServers(settings))
                rows = list(compared(workspace, servers, asked.language, own))
            finally:
                for server in servers:
                    server.close()
    closed = set(random.Random(SEED).sample(range(len(rows)), len(rows) // 2))
    open_rows = [row for at, row in enumerate(rows) if at not in closed]
    for symbol, truth, meant, sure, by_name, _ in open_rows if asked.show else ():
        wrong, lacking, unsure = sure - truth, truth - sure - by_name, (meant - sure) & by_name
        if wrong or lacking or unsure:
            where = f"{symbol.path}:{symbol.qualified}"
            print(f"{where}: wrong {sorted(wrong)}; lacking {sorted(lacking)}; by name {sorted(unsure)[:9]}")
    for half, kept in (("open", open_rows), ("closed", [rows[at] for at in sorted(closed)]), ("all", rows)):
        print(f"{half}: {figures([row[1:5] for row in kept], [row[5] for row in kept])}")


def figures(rows: list[tuple[set[Place], ...]], took: list[float]) -> str:
    """Precision and recall in percent, and the time."""
    true, meant = sum(len(truth) for truth, *_ in rows), sum(len(meant) for _, meant, _, _ in rows)
    sure = sum(len(sure) for _, _, sure, _ in rows)
    hits = sum(len(truth & sure) for truth, _, sure, _ in rows)
    sure_hits = sum(len(meant & sure) for _, meant, sure, _ in rows)
    every = sum(len(sure | by_name) for _, _, sure, by_name in rows)
    all_hits = sum(len(truth & (sure | by_name)) for truth, _, sure, by_name in rows)
    return (
        f"{len(rows)} definitions, {true} references, {meant} of them to nothing else; "
        f"sure: precision {_share(hits, sure)}, recall {_share(sure_hits, meant)} of these; "
        f"with those by name: precision {_share(all_hits, every)}, recall {_share(all_hits, true)}; "
        f"{1000 * sorted(took)[len(took) // 2]:.0f} ms in the median, {max(took):.1f} s at most"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


if __name__ == "__main__":
    main()
