"""Routing quality and latency: `python -m bench.routing FILE.jsonl…` ({"query", "intent", "tags"} a line) prints
accuracy, macro-F1, REFUSE precision and recall, and p95 latency of each tier that works without a language model."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from repopilot.index.embed import Embedders
from repopilot.intents import ids
from repopilot.routing import classifier
from repopilot.routing.features import evidence
from repopilot.routing.normalize import read
from repopilot.routing.router import classify
from repopilot.settings import Settings


def main() -> None:
    embedder = Embedders().choose(Settings())
    variants: dict[str, Callable[[str], str]] = {
        "rules only": lambda q: next(iter(classifier.rules_only(evidence(read(q))))),
        "classifier, lexical (no download)": lambda q: classify(q).intent,
    }
    if embedder is not None:
        variants["classifier, MiniLM"] = lambda q: classify(q, embedder).intent
    for name in sys.argv[1:]:
        examples = [json.loads(line) for line in Path(name).read_text("utf-8").splitlines() if line.strip()]
        print(f"{name}: {len(examples)} questions")
        for variant, predict in variants.items():
            predict("warm up")
            print(f"  {variant:34s} {report(examples, predict)}")


def report(examples: list[dict], predict: Callable[[str], str]) -> str:
    seconds, predicted = [], []
    for example in examples:
        began = time.perf_counter()
        predicted.append(predict(example["query"]))
        seconds.append(time.perf_counter() - began)
    gold = [example["intent"] for example in examples]
    hits = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    chosen, wanted = Counter(predicted), Counter(gold)
    f1 = sum(2 * hits[i] / max(1, chosen[i] + wanted[i]) for i in ids() if wanted[i] or chosen[i]) / len(
        wanted | chosen
    )
    p95 = sorted(seconds)[int(0.95 * (len(seconds) - 1))]
    refuse = f"REFUSE P {ratio(hits['REFUSE'], chosen['REFUSE'])} R {ratio(hits['REFUSE'], wanted['REFUSE'])}"
    return f"accuracy {sum(hits.values()) / len(gold):.3f}  macro-F1 {f1:.3f}  {refuse}  p95 {1000 * p95:.1f} ms"


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
