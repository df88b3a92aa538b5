"""The start and the end of the process."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading

from repopilot.ui.chat import Process

HEAVY = (
    "repopilot.repo.snapshot",
    "repopilot.index.build.job",
    "repopilot.assistant",
    "repopilot.routing.router",
    "repopilot.retrieval.search",
    "llama_index.core",
    "repopilot.agents.explain.agent",
    "repopilot.llm.choice.choose",
)
"""Modules imported in the background, in the order in which the first user needs them."""
END_S = 3.0
"""Seconds that threads get to finish their work after the application's end."""
log = logging.getLogger(__name__)


def warm_up(process: Process) -> None:
    """Load libraries and models in the background, while the page already works. Returns at once."""
    # httpx logs every request to Ollama.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # Chainlit warns at every page that there is no `chainlit_en-US.md`: English is in `chainlit.md`.
    logging.getLogger("chainlit").addFilter(lambda record: "Translated markdown file" not in record.getMessage())
    process.models.start(after=_import_heavy)


def end_soon() -> None:
    """End the process even if a thread still runs (git in a huge folder): files are published whole or not at all."""
    timer = threading.Timer(END_S, os._exit, [128 + signal.SIGINT])
    timer.daemon = True
    timer.start()


def _import_heavy() -> None:
    for name in HEAVY:
        try:
            importlib.import_module(name)
        except Exception:
            # The code that needs the module fails with the same error, where it can be shown.
            log.exception("importing %s", name)
