"""The child process of the embedded model: llama.cpp behind the OpenAI protocol, on loopback, with a key.

Started by `embedded_engine.Engine` as `python -m repopilot.llm.embedded.embedded_server`. Reads its parameters as one
line of JSON from stdin, writes its address as one line to stdout, and ends when stdin ends: that is, with its parent,
however the parent dies. A crash of the native code takes down this process only.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
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


def _die_with_parent(parent: int) -> None:
    def wait_for_end_of_input() -> None:
        sys.stdin.read()
        os._exit(0)

    def watch_parent() -> None:  # a process forked from the parent may hold the pipe open
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    for watch in (wait_for_end_of_input, watch_parent):
        threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()
