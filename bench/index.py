"""Indexing: speed, memory, time to the first answer, re-indexing, lag of the event loop; against plain LlamaIndex.

    python -m bench.index --only one_file --lines 100000 1000000
    python -m bench.index [--lines 10000 100000 1000000] [--files 50000] [--baseline 10000] [--only RUN …]
                          [--model-home DIR]

The trees are made from installed packages. Each measurement runs in a process of its own, whose tree of processes is
sampled for memory. `--baseline` is the largest tree that plain LlamaIndex + Chroma ingestion gets (it embeds
everything before it can answer). `--files` cuts the largest tree into about that many files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.index_runs import RUNS, runtime_in

_SUFFIXES = {".py", ".pyi", ".js", ".ts", ".css", ".c", ".h", ".md", ".json", ".toml"}
_MOST_BYTES = 500_000
_SAMPLE_S = 0.1


def make_tree(folder: Path, lines: int, files: int = 0) -> tuple[int, int]:
    """Fill `folder` from the installed packages with at least `lines` lines, cut into about `files` files if given.
    Returns the lines and files written."""
    done = count = 0
    piece = max(1, lines // (4 * files)) if files else 0  # most files are short already
    for path, text in _sources():
        for number, part in enumerate(_pieces(text, piece)):
            target = folder / "src" / path.with_stem(f"{path.stem}_{number}" if number else path.stem)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(part, encoding="utf-8")
            done, count = done + part.count("\n"), count + 1
            if done >= lines:
                return done, count
    return done, count


def _sources() -> Iterator[tuple[Path, str]]:
    root = Path(sysconfig.get_path("purelib"))
    for path in sorted(root.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file() and path.stat().st_size < _MOST_BYTES:
            try:
                yield path.relative_to(root), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def _pieces(text: str, lines: int) -> Iterator[str]:
    """The text, cut at the first unindented line behind every `lines` lines."""
    part: list[str] = []
    for line in text.splitlines(keepends=True):
        if lines and len(part) >= lines and line[:1].strip():
            yield "".join(part)
            part = []
        part.append(line)
    yield "".join(part)


def measure(name: str, tree: Path, home: Path) -> dict:
    """Run one of `RUNS` on a tree in a new process. Adds its wall time, the CPU time and the peak memory (resident MB,
    summed) of all its processes."""
    command = [sys.executable, "-m", "bench.index", "--run", name, str(tree), str(home)]
    before, began = os.times(), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = own = 0.0
    while process.poll() is None:
        sizes = list(_resident_mb(process.pid))
        peak, own = max(peak, sum(sizes)), max(own, sizes[0] if sizes else 0.0)
        time.sleep(_SAMPLE_S)
    assert process.stdout is not None
    output = process.stdout.read()
    if process.returncode:
        return {"failed": process.returncode, "peak_mb": round(peak)}
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    wall = round(time.monotonic() - began, 2)
    return {**json.loads(output), "wall_s": wall, "cpu_s": round(cpu, 1), "peak_mb": round(peak), "main_mb": round(own)}


def _resident_mb(pid: int) -> Iterator[float]:
    """Resident memory of a process and of everything it started."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task").glob("*/children")
        inner = [int(child) for path in children for child in path.read_text().split()]
    except (OSError, IndexError):
        return
    yield pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    for child in inner:
        yield from _resident_mb(child)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.index")
    parser.add_argument("--lines", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--baseline", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument("--model-home", type=Path, default=None)
    parser.add_argument("--run", nargs=3, metavar=("RUN", "TREE", "HOME"))
    asked = parser.parse_args()
    if asked.run:
        name, tree, home = asked.run
        with runtime_in(Path(home)) as runtime:  # closing waits for the worker processes, so that their time counts
            print(json.dumps(RUNS[name](Path(tree), runtime)), flush=True)
        return
    with tempfile.TemporaryDirectory() as scratch:
        for lines in asked.lines:
            _compare(Path(scratch), lines, asked)


def _compare(scratch: Path, lines: int, asked: argparse.Namespace) -> None:
    tree, home = scratch / f"tree{lines}", scratch / f"home{lines}"
    home.mkdir()
    if asked.model_home:
        (home / "models").symlink_to(asked.model_home / "models")
    done, files = make_tree(tree, lines, asked.files if lines == max(asked.lines) else 0)
    print(f"# {done:,} lines in {files:,} files; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    for name in asked.only:
        if name.startswith("plain") and lines > asked.baseline:
            continue
        print(f"{name:10} {json.dumps(measure(name, tree, home))}", flush=True)


if __name__ == "__main__":
    main()
