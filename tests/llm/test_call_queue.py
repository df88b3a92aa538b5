"""The queue in front of a model: fair, told, and left by who gives up."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.llms import ChatMessage
from support.scripted_models import scripted_model
from support.trace_outline import outline

from repopilot import trace
from repopilot.llm import stream
from repopilot.llm.call_queue import CallQueue


async def served(queue: CallQueue, askers: list[str]) -> list[str]:
    """Whose calls were served, in order, where all ask at once and each call takes a while."""
    order: list[str] = []

    async def call(asker: str) -> None:
        async with queue.turn(asker, lambda place: None):
            order.append(asker)
            for _ in range(3):
                await asyncio.sleep(0)

    await asyncio.gather(*(call(asker) for asker in askers))
    return order


async def test_who_asks_much_does_not_keep_others_waiting() -> None:
    order = await served(CallQueue(1), ["a"] * 6 + ["b", "c"])
    assert order[:4].count("a") <= 2 and {"b", "c"} <= set(order[:4])
    assert sorted(order) == sorted(["a"] * 6 + ["b", "c"])


async def test_who_came_first_is_served_first() -> None:
    askers = [f"asker {n}" for n in range(20)]
    assert await served(CallQueue(2), askers) == askers


@pytest.mark.slow
@given(st.lists(st.sampled_from("abc"), max_size=25), st.integers(1, 4), st.randoms(use_true_random=False))
def test_no_more_than_allowed_run_and_all_that_stay_are_served(
    askers: list[str], at_once: int, chance: random.Random
) -> None:
    async def run() -> None:
        queue, running, done = CallQueue(at_once), 0, 0

        async def call(asker: str) -> None:
            nonlocal running, done
            async with queue.turn(asker, lambda place: None):
                running += 1
                assert running <= at_once
                try:
                    await asyncio.sleep(0)
                finally:
                    running -= 1
            done += 1

        tasks = [asyncio.create_task(call(asker)) for asker in askers]
        leaving = [task for task in tasks if chance.random() < 0.3]
        for task in leaving:
            await asyncio.sleep(0)
            task.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert done == sum(result is None for result in ended) >= len(tasks) - len(leaving)
        assert await asyncio.wait_for(served(queue, ["x"] * (at_once + 1)), 10) == ["x"] * (at_once + 1)

    asyncio.run(run())


async def test_a_step_shows_the_place_in_the_queue() -> None:
    model = scripted_model(lambda messages: ["a", " b"], delay_s=0.02)
    model = replace(model, calls=CallQueue(1))
    traces: list[list[trace.Event]] = [[], [], []]

    async def ask(events: list[trace.Event]) -> str:
        async with trace.root(events.append, "turn") as step, step.child("write", "llm") as writing:
            return await stream.chat(model, [ChatMessage(role="user", content="go")], writing)

    assert await asyncio.gather(*(ask(events) for events in traces)) == ["a b"] * 3
    assert [outline(events) for events in traces] == [
        "turn\n  write",
        "turn\n  write\n    wait for the model",
        "turn\n  write\n    wait for the model",
    ]
    (told,) = [e.output for e in traces[2] if isinstance(e, trace.Finished) and "queue" in e.output]
    assert told == "Place 2 in the queue for the model.\nPlace 1 in the queue for the model.\n"
