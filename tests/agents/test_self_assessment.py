"""The model says whether it can tell before it tells; where it can't, the evidence is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from support.ollama_server import OllamaServer
from support.shop_workspace import offline

from repopilot import trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.self_assessment import LEAST_SURE
from repopilot.llm import choose
from repopilot.llm.resources import ModelResources
from repopilot.results import Answer
from repopilot.workspace import Workspace

QUESTION = "why are session tokens validated?"
TOLD = "`validate_token` compares the digest with `hmac.compare_digest` [1]."


def reply(messages: Sequence[dict]) -> list[str] | str:
    return ["yes"] if "Reply with yes or no" in messages[-1]["content"] else TOLD


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer(native=False, reply=reply) as running:
        yield running


async def asked(server: OllamaServer, shop: Workspace, question: str = QUESTION) -> tuple[Answer, list[trace.Event]]:
    """The answer of a model that is asked as the embedded one is."""
    settings = offline(shop.settings.home).model_copy(update={"llm_url": server.url})
    model = await choose.choose(settings, ModelResources())
    events: list[trace.Event] = []
    async with trace.root(events.append, "explain") as step:
        done = await explain(question, replace(shop, model=replace(model, kind="embedded", cache=None)), step)
    return done, events


async def test_a_model_that_is_sure_tells(server: OllamaServer, shop_workspace: Workspace) -> None:
    server.state.rivals = {"no": (1 - LEAST_SURE) / 2}
    done, events = await asked(server, shop_workspace)
    assert done.result.origin == "model" and done.result.lead == TOLD
    assert "  assess\n  write\n" in trace.outline(events)


async def test_of_a_model_that_is_unsure_nothing_is_shown_but_the_evidence(
    server: OllamaServer, shop_workspace: Workspace
) -> None:
    server.state.rivals = {"no": 1 - LEAST_SURE / 2}
    done, events = await asked(server, shop_workspace)
    assert done.result.origin == "extractive" and done.evidence and TOLD not in done.text
    assert "Not sure" in done.result.lead and any("not sure" in str(note) for note in trace.degraded(events))
    assert "write" not in trace.outline(events)


async def test_who_asks_for_an_explanation_gets_it_from_an_unsure_model(
    server: OllamaServer, shop_workspace: Workspace
) -> None:
    server.state.rivals = {"no": 0.9}
    done, events = await asked(server, shop_workspace, f"Explain: {QUESTION}")
    assert done.result.origin == "model" and "assess" not in trace.outline(events)


async def test_both_prompts_begin_alike_so_that_the_excerpts_are_read_once(
    server: OllamaServer, shop_workspace: Workspace
) -> None:
    await asked(server, shop_workspace)
    first, second = (body["messages"] for body in server.state.sent("/v1/chat/completions"))
    assert first[:-1] == second[:-1] and first[-1]["content"].startswith(second[-1]["content"])


async def test_of_the_repository_as_a_whole_the_model_tells_what_it_sees(
    server: OllamaServer, shop_workspace: Workspace
) -> None:
    server.state.rivals = {"no": 0.9}
    _, events = await asked(server, shop_workspace, "What is this project?")
    assert "assess" not in trace.outline(events) and "write" in trace.outline(events)
