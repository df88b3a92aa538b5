"""Run the cases: `python -m bench.reports PYTHON [--closed] [NAME …]`; a line for each that isn't right, then counts.

PYTHON is the interpreter of the installation that is tried, `.venv/bin/python` of its checkout. The open half is for
development, the closed one for the end. Needs git, gcc, g++, node, rustc and javac.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import tempfile
import time
from collections import Counter

from bench.reports import kit


def main() -> None:
    """Run one half, or the cases named."""
    parser = argparse.ArgumentParser(prog="python -m bench.reports", description=__doc__)
    parser.add_argument("python")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--closed", action="store_true")
    arguments = parser.parse_args()
    importlib.import_module("bench.reports.closed_cases" if arguments.closed else "bench.reports.open_cases")
    scratch = tempfile.mkdtemp(prefix="reports-")
    tempfile.tempdir = scratch
    kit.PRODUCT.python = arguments.python
    kit.PRODUCT.home = f"{scratch}/home"
    counts: Counter[str] = Counter()
    for each in kit.CASES:
        if arguments.names and each.name not in arguments.names:
            continue
        start = time.monotonic()
        verdict = each.run()
        word = "ok" if verdict.right else "SILENT" if verdict.silent else "NO"
        counts[word] += 1
        why = "" if verdict.right and not arguments.names else f"\n    {verdict.why}"
        print(f"{word} {each.name} ({each.source}) {time.monotonic() - start:.0f} s{why}", flush=True)
    print(dict(counts))
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
