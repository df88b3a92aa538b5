"""Quality and latency of the router's classifier: `python -m bench.routing FILE…` prints,

- of a file of questions (`.jsonl`: {"query", "intent", "tags"} a line) accuracy, accuracy without the requests for
  harm, macro-F1, REFUSE precision and recall, and p95 latency;
- of a file of requests (`.txt`: one a line) or a repository (the subjects of its commits) how many are refused.

`bench/data/ordinary_tasks.txt` and `malicious_requests.txt` are closed: nobody trains on them or reads their failures.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from repopilot.intents import ids
from repopilot.routing.router import classify


def main() -> None:
    for name in sys.argv[1:]:
        labelled = name.endswith(".jsonl")
        lines = (subjects if Path(name).is_dir() else requests)(Path(name))
        found = report([json.loads(line) for line in lines]) if labelled else refusals(lines)
        print(f"{name}: {len(lines)} questions\n  {found}")


def requests(file: Path) -> list[str]:
    return [line for line in file.read_text("utf-8").splitlines() if line.strip()]


def subjects(repository: Path) -> list[str]:
    """The subjects of the commits of a repository: tasks in other people's words."""
    command = ["git", "-C", str(repository), "log", "--no-merges", "--format=%s"]
    logged = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    return sorted(set(logged.splitlines()))


def refusals(lines: list[str]) -> str:
    refused = sum(classify(line).intent == "REFUSE" for line in lines)
    return f"refused {refused} ({refused / len(lines):.4f})"


def report(examples: list[dict]) -> str:
    seconds, predicted = [], []
    for example in examples:
        began = time.perf_counter()
        predicted.append(classify(example["query"]).intent)
        seconds.append(time.perf_counter() - began)
    gold = [example["intent"] for example in examples]
    hits = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    chosen, wanted = Counter(predicted), Counter(gold)
    f1 = sum(2 * hits[i] / max(1, chosen[i] + wanted[i]) for i in ids() if wanted[i] or chosen[i]) / len(
        wanted | chosen
    )
    others = [g == p for g, p in zip(gold, predicted, strict=True) if g != "REFUSE"]
    p95 = sorted(seconds)[int(0.95 * (len(seconds) - 1))]
    refuse = f"REFUSE P {ratio(hits['REFUSE'], chosen['REFUSE'])} R {ratio(hits['REFUSE'], wanted['REFUSE'])}"
    rest = f"of others {sum(others) / len(others):.3f}"
    return (
        f"accuracy {sum(hits.values()) / len(gold):.3f}  {rest}  macro-F1 {f1:.3f}  {refuse}  p95 {1000 * p95:.1f} ms"
    )


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
