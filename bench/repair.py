"""Test and repair, measured: how many small tasks a model solves before and after, and whether a forged pass counts.

    python -m bench.repair [--model qwen2.5-coder:0.5b] [--tasks N] [--no-forgers]

Each folder of bench/tasks holds a stub with the specification, visible tests (which the loop runs and shows), and
hidden tests (which judge). `before` is the model's first program, `after` the result of the loop. The data directory
is REPOPILOT_HOME's; missing weights are fetched. Prints one JSON document, progress on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from llama_index.core.llms import ChatMessage

from repopilot import trace
from repopilot.agents.testing import candidates
from repopilot.agents.testing.repair import RepairRequest, repair
from repopilot.llm import stream
from repopilot.llm.choice import choose
from repopilot.llm.model import Model
from repopilot.llm.resources import ModelResources
from repopilot.llm.weights import models
from repopilot.prompts import nonce, render
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

HERE = Path(__file__).parent
TASKS = HERE / "tasks"
FORGERS = HERE.parent / "tests" / "sandbox" / "forgers"
FORGED = "from solution import add\n\n\ndef test_small():\n    assert add(1, 2) == 3\n\n\ndef test_texts():\n    assert add('a', 'b') == 'ab'\n"  # noqa: E501


async def first_program(stub: str, model: Model, step: trace.Step) -> str:
    prompt = render(
        "repair_code",
        name="solution.py",
        task="Its names and their descriptions say what it does.",
        mark=nonce(),
        signatures=candidates.signatures(stub),
        hint="",
    )
    messages = [ChatMessage(role="system", content=render("repair_system")), ChatMessage(role="user", content=prompt)]
    return candidates.code_in_reply(await stream.chat(model, messages, step)) or stub


def judged(code: str, task: Path, settings: Settings) -> bool:
    """Whether the visible and the hidden tests pass, verified by assertion inversion."""
    names = ("visible", "hidden")
    files = {f"test_{name}.py": (task / f"{name}.py").read_text() for name in names}
    return run_pytest({**files, "solution.py": code}, list(files), settings).genuine


async def measure(task: Path, model: Model, settings: Settings) -> dict[str, object]:
    began = time.monotonic()
    stub = (task / "solution.py").read_text()
    async with trace.root(lambda _: None, task.name) as step:
        first = await first_program(stub, model, step)
        tests = {"test_solution.py": (task / "visible.py").read_text()}
        report = await repair(RepairRequest(first, tests), model, settings, step)
    return {
        "task": task.name,
        "before": await asyncio.to_thread(judged, first, task, settings),
        "after": await asyncio.to_thread(judged, report.code or first, task, settings),
        "visible_pass": report.genuine,
        "iterations": len(report.iterations),
        "stopped_because": report.stopped_because,
        "seconds": round(time.monotonic() - began, 1),
    }


async def solve(name: str, count: int, settings: Settings) -> dict[str, object]:
    settings = settings.model_copy(update={"llm_model": name, "ollama_url": "", "llm_url": ""})
    await asyncio.to_thread(models.ensure, name, settings)
    model = await choose.choose(settings, ModelResources())
    if model is None:
        raise SystemExit("no model")
    rows = []
    for task in sorted(path.parent for path in TASKS.glob("*/solution.py"))[:count]:
        row = await measure(task, model, settings)
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    return {
        "model": model.name,
        "tasks": len(rows),
        **{k: sum(bool(row[k]) for row in rows) for k in ("before", "after")},
        "visible_pass_but_hidden_fail": sum(bool(row["visible_pass"] and not row["after"]) for row in rows),
        "iterations": sum(row["iterations"] for row in rows),
        "rows": rows,
    }


def believed(settings: Settings) -> dict[str, object]:
    """The forgers whose tests would be reported as passed."""
    fooled, count = [], 0
    for path in sorted(FORGERS.glob("*.py")):
        wrong = "def add(a, b):\n    return 0\n"
        files = (
            {"conftest.py": path.read_text(), "solution.py": wrong}
            if path.stem.startswith("conftest")
            else {"solution.py": path.read_text()}
        )
        count += 1
        if run_pytest({**files, "test_solution.py": FORGED}, ["test_solution.py"], settings).genuine:
            fooled.append(path.stem)
    return {"forgers": count, "false_passes": len(fooled), "fooled_by": fooled}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="qwen2.5-coder:0.5b")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--no-forgers", action="store_true")
    arguments = parser.parse_args()
    settings = Settings()
    result: dict[str, object] = {} if arguments.no_forgers else {"forging": believed(settings)}
    if arguments.tasks:
        result["repair"] = asyncio.run(solve(arguments.model, arguments.tasks, settings))
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
