"""The small shop as an indexed workspace with a scripted model, and traces of what agents do in it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from support.index_case import WORKERS, build_index, write
from support.scripted_llm import Script
from support.scripted_models import scripted_model
from support.small_repo import FILES, lay_out
from support.trace_outline import outline

from repopilot import trace
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import Answer, Explanation
from repopilot.settings import Settings
from repopilot.workspace import Workspace

Result = TypeVar("Result")
Reply = Callable[[str], Script]
"""From the whole prompt, as one text, to the reply."""


# With eighteen tests a pass is verified by three runs, with one by ten.
SHOP = {
    "tests/test_cart.py": FILES["tests/test_cart.py"]
    + "".join(
        f"\n\ndef test_{n}():\n    cart = Cart()\n    cart.add('apple', {n})\n    assert cart.total() == {30 * n}\n"
        for n in range(1, 18)
    )
}


def offline(home: Path) -> Settings:
    return Settings(home=home, ollama_url="", embedded=False, dense=False, auto_download=False, workers=1)


def open_workspace(folder: Path, settings: Settings) -> Workspace:
    """A local folder, indexed, without any model."""
    snapshot = open_source(parse_source(str(folder)), settings)
    return Workspace(snapshot, build_index(snapshot, settings), settings, workers=WORKERS)


def workspace_of(tmp: Path, files: dict[str, str | bytes]) -> Workspace:
    """A folder with some files, indexed."""
    return open_workspace(write(tmp / "repo", files), offline(tmp / "home"))


def shop_workspace(tmp: Path, extra: dict[str, str | None] | None = None) -> Workspace:
    """The shop with further files, and without those that have no text."""
    folder = write(lay_out(tmp / "shop"), SHOP | (extra or {}))
    return open_workspace(folder, offline(tmp / "home"))


def answering(reply: Reply, **options):
    """A scripted model that sees the prompt as one text."""
    return scripted_model(lambda messages: reply(prompt_of(messages)), **options)


def prompt_of(messages: Sequence) -> str:
    return "\n".join(f"[{m.role.value}] {m.content}" for m in messages)


def fenced(path: str, text: str, language: str = "python") -> str:
    return f"{path}\n```{language}\n{text}```\n"


def one_of(replies: dict[str, Script]) -> Reply:
    """The reply whose key (a regular expression) is found first in the prompt."""

    def reply(prompt: str) -> Script:
        return next(text for pattern, text in replies.items() if re.search(pattern, prompt, re.S))

    return reply


async def traced(work: Callable[[trace.Step], Awaitable[Result]]) -> tuple[Result, str, list[trace.Event]]:
    """The result of `work(step)`, the outline of its trace, and the events."""
    events: list[trace.Event] = []
    async with trace.root(events.append, "turn") as step:
        result = await work(step)
    return result, outline(events), events


def drafted(answer: Answer) -> str:
    """What a model drafted below the lead, without the line above it."""
    assert isinstance(answer.result, Explanation)
    return answer.result.draft.partition("\n\n")[2]
