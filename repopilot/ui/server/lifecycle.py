"""The start of the process and the end of a chat."""

from __future__ import annotations

import asyncio
import importlib
import logging

from chainlit.session import WebsocketSession

from repopilot.ui.chat import Process

HEAVY = (
    "repopilot.repo.snapshot",
    "repopilot.index.build.job",
    "repopilot.assistant",
    "repopilot.routing.router",
    "repopilot.retrieval.search",
    "llama_index.core",
    "repopilot.agents.explain.agent",
    "repopilot.llm.choose",
)
"""In the order in which the first user needs them."""
RECONNECT_S = 20.0
log = logging.getLogger(__name__)


def warm_up(process: Process) -> None:
    """Load libraries and models in the background, while the page answers already. Returns at once."""
    # It logs every request to Ollama.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # Chainlit warns at every page that there is no `chainlit_en-US.md`: English is in `chainlit.md`.
    logging.getLogger("chainlit").addFilter(lambda record: "Translated markdown file" not in record.getMessage())
    process.models.start(after=_import_heavy)


def cancel_after_disconnect(process: Process, session: WebsocketSession) -> None:
    """Stop the answer under way unless the browser, which has disconnected, comes back.

    Returns at once, since a server that stops waits for the handlers of its connections. A repository that is being
    opened goes on: it belongs to the process.

    Args:
        process: what all chats share.
        session: Chainlit's session of the chat.
    """
    process.start_task(_cancel_unless_reconnected(session, session.socket_id))


async def _cancel_unless_reconnected(session: WebsocketSession, socket_id: str) -> None:
    await asyncio.sleep(0 if session.to_clear else RECONNECT_S)
    if session.socket_id == socket_id and session.current_task is not None:
        session.current_task.cancel()


def _import_heavy() -> None:
    for name in HEAVY:
        try:
            importlib.import_module(name)
        except Exception:
            # Whoever needs it fails with the same error, where it can be shown.
            log.exception("importing %s", name)
