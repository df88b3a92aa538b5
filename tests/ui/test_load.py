"""Several sessions at once on the whole application: bench/load.py in small, and the limits of one session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.app import App, running
from support.chat_client import ChatClient
from support.index_case import many, write
from support.ollama_server import OllamaServer, State
from support.waiting import eventually

from bench.load import drive, reply_of


@pytest.mark.slow
@pytest.mark.thorough
def test_every_session_gets_its_own_answers_in_turn(tmp_path: Path) -> None:
    repository = write(tmp_path / "repository", many(200))
    with OllamaServer(reply=lambda messages: reply_of(messages, 0.05)) as model:
        options = {"ollama_url": model.url, "embedded": False, "dense": False, "auto_download": False, "workers": 1}
        with running(tmp_path / "home", **options) as app:
            load = asyncio.run(drive(app, repository, 8, 3))
            refused, answered = asyncio.run(_at_once(app, repository, model.state))
    assert load.wrong == []
    assert load.queued > 0, "more asked than the model takes at once, and no place in the queue was shown"
    assert load.largest_lead <= 2, "a session waited while another one was served"
    assert (refused, answered) == (3, 3)


async def _at_once(app: App, repository: Path, state: State) -> tuple[int, int]:
    """How many of the six questions that one session asks at once are refused, and answered."""
    async with ChatClient(app.url) as client:
        await client.ask(str(repository))
        state.holding = True
        asked = asyncio.create_task(client.ask("how does helper_0 compute its result and why?", ends=6))
        for number in range(1, 6):
            await client.send(f"how does helper_{number} compute its result and why?")
        await eventually(lambda: client.said().count("questions of this chat are") == 3)
        state.holding = False
        text = (await asked).text
    return text.count("questions of this chat are"), text.count("returns x plus")
