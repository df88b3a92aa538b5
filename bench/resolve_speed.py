"""Measures what resolving names takes: `python -m bench.resolve_speed FOLDER… [--names 20] [--seed 1]`.

Each FOLDER is a checked-out repository. Names are drawn by lot among its definitions. Printed are, as ratios to what it
takes to read all its files once: the start of the server with the first name, a further name, the same one again, and
after an edit; also the occurrences of a further name, and the server's memory (MB).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.index_runs import runtime_in, snapshot_of
from repopilot.openings import open_index
from repopilot.resolve.snapshot_tree import SnapshotTree
from repopilot.tools.working_copy import working_copy
from repopilot.workspace import Workspace


def main() -> None:
    """Measure the repositories that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--names", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("folder       files  first  next  again  edited  occurrences  MB")
    for folder in arguments.folders:
        asyncio.run(_measure(folder, arguments.names, random.Random(arguments.seed)))


async def _measure(folder: Path, count: int, lot: random.Random) -> None:
    with tempfile.TemporaryDirectory() as home, runtime_in(Path(home)) as runtime:
        snapshot = snapshot_of(folder)
        index = open_index(snapshot, runtime, lambda _: None)
        workspace = Workspace(snapshot, index, runtime.settings, lookups=runtime.lookups)
        names = sorted({s.name for f in index.analyses() for s in f.symbols if len(s.name) > 2})
        first, *others = lot.sample(names, min(count, len(names)))
        tree = SnapshotTree(snapshot, runtime.settings)
        unit = _seconds(lambda: [(folder / path).read_bytes() for path in tree.searched()])
        async with working_copy(workspace) as copy:
            resolver = copy.resolver
            started = _seconds(lambda: resolver.meanings(first))
            further = [_seconds(lambda name=name: resolver.meanings(name)) for name in others]  # type: ignore[misc]
            again = [_seconds(lambda name=name: resolver.meanings(name)) for name in others]  # type: ignore[misc]
            path = next(one.occurrence.span.path for one in resolver.meanings(first))
            copy.edit({path: (copy.text(path) or "") + "\n"})
            edited = _seconds(lambda: resolver.meanings(first))
            found = [len(resolver.occurrences(name)) for name in others]
            time.sleep(1)
            memory = sum(runtime.lookups.running().values()) >> 20
    ratios = (started, median(further), median(again), edited)
    row = "  ".join(f"{seconds / unit:5.1f}" for seconds in ratios)
    print(f"{folder.name:12} {len(tree.searched()):5}  {row}  {median(found):11.0f}  {memory}", flush=True)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
