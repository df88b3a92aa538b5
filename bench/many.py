"""Many repositories: a search over all of them, and what it takes.

    python -m bench.many HOME [--queries FILE.jsonl …]

HOME is a data directory with indexes. Printed: repositories, resident memory in MB with every index open, and the
median and 95th percentile of a search over all of them, in ms.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from repopilot.index.store import IndexStore
from repopilot.retrieval.search_all import search_all

QUERIES = ("retry with backoff", "parse a configuration file", "where is the cache invalidated", "http client timeout")


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--queries", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    queries = [json.loads(line)["query"] for file in options.queries for line in file.read_text().splitlines()]
    store = IndexStore(options.home / "index")
    kept = [store.open_key(key) for key in store.stored_keys()]
    search_all(store, QUERIES[0], 10)
    took = []
    for query in queries or QUERIES * 10:
        began = time.perf_counter()
        search_all(store, query, 10)
        took.append(1000 * (time.perf_counter() - began))
    took.sort()
    status = Path(f"/proc/{os.getpid()}/status").read_text()
    memory = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024
    print(f"repositories {len(kept)}  memory {memory:.0f} MB")
    print(f"search p50 {took[len(took) // 2]:.0f} ms  p95 {took[int(len(took) * 0.95)]:.0f} ms")


if __name__ == "__main__":
    main()
