"""The child process of the embedded model: llama.cpp behind the OpenAI protocol, on loopback, with a key.

Started by `embedded.Engine` as `python -m repopilot.llm.embedded_server`. Reads its parameters as one line of JSON
from stdin, writes its address as one line to stdout, answers every further line with the time its threads have spent
on a processor and waiting for one, and ends when stdin ends: that is, with its parent, however the parent dies. A crash
of the native code takes down this process only.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any


def main() -> None:
    """Serve the model until standard input or the parent process ends."""
    parameters = json.loads(sys.stdin.readline())
    _die_with_parent(os.getppid())
    # Threads that spin while they wait get very slow as soon as another process needs the core.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    server = xllamacpp.Server(_common_params(xllamacpp, parameters))
    print(server.listening_address, flush=True)
    threading.Event().wait()


def _common_params(xllamacpp: Any, parameters: dict[str, Any]) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = parameters["path"]
    params.model_alias = {parameters["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = parameters["port"]
    params.api_keys = [parameters["key"]]
    params.ui = False
    params.n_parallel = parameters["slots"]
    params.n_ctx = parameters["context_window"] * parameters["slots"]
    # Small batches: a long prompt in one slot lets the others write a token every second or two.
    params.n_batch = params.n_ubatch = 256
    params.cache_ram_mib = parameters["cache_mib"]
    params.no_extra_bufts = True  # without the repacked copy of the weights: a quarter less memory
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = parameters["threads"]
    return params


def _processor_seconds() -> tuple[float, float]:
    """How long all threads have run, and how long they have waited because others ran; (0, 0) where the system doesn't
    say."""
    ran = waited = 0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, ValueError):  # a thread may end meanwhile
            on_processor, in_queue, *_ = map(int, path.read_text().split())
            ran, waited = ran + on_processor, waited + in_queue
    return ran / 1e9, waited / 1e9


def _die_with_parent(parent: int) -> None:
    def answer_until_end_of_input() -> None:
        for _ in sys.stdin:
            print(json.dumps(_processor_seconds()), flush=True)
        os._exit(0)

    def watch_parent() -> None:  # a process forked from the parent may hold the pipe open
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    for watch in (answer_until_end_of_input, watch_parent):
        threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()
