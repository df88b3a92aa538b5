"""What a change of one line takes beside the model: `python -m bench.one_line_change FOLDER PATH OLD NEW [--times 3]`.

FOLDER is a checked-out repository; a model that answers at once reads PATH, replaces OLD by NEW, calls `check` and
`run_tests`, and finishes. Each time is one `repopilot generate` in a process of its own; the first meets nothing but
the index and the packages of the tests. Printed are seconds of wall and processor time with the start of the program,
and seconds of the wall by step.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.ollama_server import OllamaServer


def main() -> None:
    """Measure the change that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("path")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--home", type=Path, help="keeps index and packages; default: a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        home = arguments.home or Path(made)
        _measure(arguments, home)


def _measure(arguments: argparse.Namespace, home: Path) -> None:
    calls = [
        ("read", {"path": arguments.path}),
        ("replace_text", {"path": arguments.path, "old": arguments.old, "new": arguments.new}),
        ("check", {}),
        ("run_tests", {}),
        ("finish", {"summary": "Done."}),
    ]
    left: list[tuple[str, dict]] = []

    def reply(messages: Sequence[dict]) -> str | dict:
        if not any(message.get("role") == "tool" or "tools" in message for message in messages) and not left:
            return "change"
        name, given = left.pop(0) if left else ("finish", {"summary": "Done."})
        return {"content": "", "tool_calls": [{"name": name, "arguments": given}]}

    with OllamaServer(reply=reply, models=["qwen3:8b"], capabilities=("completion", "tools")) as server:
        env = {**os.environ, "REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": server.url}
        env |= {"REPOPILOT_EMBEDDED": "false", "REPOPILOT_ENVIRONMENTS": "always"}
        program = [sys.executable, "-m", "repopilot"]
        folder = str(arguments.folder.resolve())
        subprocess.run([*program, "index", folder], env=env, check=True, capture_output=True)
        subprocess.run([*program, "environment", folder, "--build"], env=env, check=True, capture_output=True)
        for number in range(arguments.times):
            left[:] = calls
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            task = f"In {arguments.path} replace {arguments.old!r} by {arguments.new!r}"
            done = subprocess.run([*program, "generate", folder, task, "--json"], env=env, capture_output=True)
            wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{number + 1}: wall {wall:5.1f} s, processor {used:5.1f} s, exit {done.returncode}", flush=True)
            (home / f"run{number}.json").write_bytes(done.stdout)
            (home / f"run{number}.err").write_bytes(done.stderr)
            print(json.dumps([c["name"] for c in json.loads(done.stdout or b"{}").get("calls", [])]))


if __name__ == "__main__":
    main()
