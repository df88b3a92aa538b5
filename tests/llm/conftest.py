"""A step to write into, and the trace it leaves."""

from __future__ import annotations

import pytest

from repopilot import trace
from repopilot.settings import Settings


@pytest.fixture
def events() -> list[trace.Event]:
    return []


@pytest.fixture
async def step(events):
    async with trace.root(events.append, "ask", kind="llm") as step:
        yield step


@pytest.fixture
def settings_for(tmp_path):
    """Settings with a data directory of the test's own, nothing to reach and nothing installed unless said."""

    def make(**options: object) -> Settings:
        return Settings(**{"home": tmp_path, "ollama_url": "", "model_timeout_s": 200, **options})

    return make
