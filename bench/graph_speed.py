"""Measures how long the code graph takes: linked, loaded, updated. Each in a process of its own.

Called by `python -m bench.impact … --speed LINES`. Memory is the largest resident size (MB) of the process itself, and
of the largest of its workers.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench.index import make_tree
from bench.index_runs import runtime_in, snapshot_of
from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import Change
from repopilot.agents.impact.codebase import codebase_of
from repopilot.code.graph.build import link_graph
from repopilot.index.build.job import IndexRequest
from repopilot.index.store import Index
from repopilot.runtime import Runtime

_ASKED = 50
_Result = TypeVar("_Result")


def print_speed(lines: int, folder: Path) -> None:
    """Create a tree of that many lines in `folder`, and measure on it."""
    tree, home = folder / "tree", folder / "speed"
    home.mkdir()
    written, files = make_tree(tree, lines)
    print(f"\n{written:,} lines in {files:,} files")
    for run in RUNS:
        command = [sys.executable, "-m", "bench.graph_speed", run, str(tree), str(home)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print(f"{run:10s} {found.strip()}", flush=True)


def job(tree: Path, runtime: Runtime) -> dict:
    """The job from nothing, then the first report in the same process, then one report for each of fifty files."""
    index, figures = _indexed(tree, runtime)
    figures["first_report_s"], _ = _timed(lambda: assess(index, [_largest(index)]))
    code = [p for p, info in index.files.items() if info.kind == "code" and info.lines > 50]
    asked = code[:: max(1, len(code) // _ASKED)]
    seconds = [_timed(lambda path=path: assess(index, [Change(path, whole=True)]))[0] for path in asked]  # type: ignore[misc]
    return {**figures, "report_p50_ms": round(1000 * np.median(seconds)), "report_max_ms": round(1000 * max(seconds))}


def linking(tree: Path, runtime: Runtime) -> dict:
    """Linking alone, in seconds."""
    index = _opened(tree, runtime)
    load_s, files = _timed(lambda: list(index.analyses()))
    whole_s, _ = _timed(lambda: link_graph(files))
    lines = index.report.lines
    return {"read_s": load_s, "whole_s": whole_s, "lines_per_s": round(lines / (load_s + whole_s))}


def fresh(tree: Path, runtime: Runtime) -> dict:
    """A new process, as of a command: opening the index, and what the first impact question waits for."""
    opened_s, index = _timed(lambda: _opened(tree, runtime))
    ready_s, _ = _timed(lambda: codebase_of(index))
    report_s, _ = _timed(lambda: assess(index, [_largest(index)]))
    return {"open_s": opened_s, "ready_s": ready_s, "report_s": report_s}


def changed(tree: Path, runtime: Runtime) -> dict:
    """The job after one file got a new function, and the first report then."""
    path = tree / _largest(_opened(tree, runtime)).path
    path.write_text(path.read_text("utf-8") + f"\n\ndef changed_{time.monotonic_ns()}():\n    return 1\n", "utf-8")
    index, figures = _indexed(tree, runtime)
    assert index.report.files - index.report.reused == 1
    figures["first_report_s"], _ = _timed(lambda: assess(index, [_largest(index)]))
    return figures


RUNS: dict[str, Callable[[Path, Runtime], dict]] = {run.__name__: run for run in (job, linking, fresh, changed)}


def _indexed(tree: Path, runtime: Runtime) -> tuple[Index, dict]:
    """Run the job; seconds until it answers, and from then until the graph is linked."""
    began = time.monotonic()
    running = runtime.index_jobs.start(IndexRequest(snapshot_of(tree), runtime.settings))
    running.lexical_ready.wait()
    ready = time.monotonic()
    running.done.wait()
    assert running.index is not None and running.error is None, running.error
    assert not running.notes, running.notes
    done = time.monotonic()
    return running.index, {"index_s": round(ready - began, 2), "graph_s": round(done - ready, 2)}


def _largest(index: Index) -> Change:
    code = (info for info in index.files.values() if info.kind == "code" and info.path.endswith(".py"))
    return Change(max(code, key=lambda info: info.lines).path, whole=True)


def _opened(tree: Path, runtime: Runtime) -> Index:
    index = runtime.indexes.open(snapshot_of(tree))
    assert index is not None
    return index


def _timed(action: Callable[[], _Result]) -> tuple[float, _Result]:
    began = time.perf_counter()
    result = action()
    return round(time.perf_counter() - began, 3), result


def _peaks_mb() -> dict[str, int]:
    who = {"main_mb": resource.RUSAGE_SELF, "worker_mb": resource.RUSAGE_CHILDREN}
    return {name: round(resource.getrusage(which).ru_maxrss / 1024) for name, which in who.items()}


if __name__ == "__main__":
    name, tree_, home_ = sys.argv[1:]
    with runtime_in(Path(home_)) as runtime_:
        found_ = RUNS[name](Path(tree_), runtime_)
    print(json.dumps({**found_, **_peaks_mb()}))  # the worker processes have ended: their memory is known
