"""A budget of tokens a day for servers elsewhere."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support.ollama_server import OllamaServer

from repopilot import trace
from repopilot.errors import ModelError
from repopilot.llm import token_budget
from repopilot.llm.backend import ChatOptions
from repopilot.llm.choice import choose
from repopilot.llm.resources import ModelResources
from repopilot.llm.stream import request
from repopilot.llm.token_budget import TokenBudget


def test_what_is_spent_is_counted_by_all_and_begins_anew_each_day(tmp_path, monkeypatch):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: TokenBudget(tmp_path, 100).spend(3), range(30)))
    budget = TokenBudget(tmp_path, 100)
    budget.take(10)
    with pytest.raises(ModelError, match="100 of 100"):
        budget.take(1)
    monkeypatch.setattr(token_budget, "_today", lambda: "2030-01-01")
    budget.take(1)
    (tmp_path / token_budget.NAME).write_text("{broken")
    budget.take(1)


def test_calls_at_once_do_not_pass_the_limit_together(tmp_path):
    budget = TokenBudget(tmp_path, 100)

    def called(_):
        try:
            budget.take(30)
        except ModelError:
            return 0
        return 30

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(called, range(8))) == 90
    budget.spend(-60)
    budget.take(60)


async def test_a_call_counts_and_the_next_is_refused_when_all_is_spent(settings_for, tmp_path):
    with OllamaServer() as server:
        model = await choose.choose(settings_for(ollama_url=server.url, daily_tokens=5), ModelResources())
        assert model.budget is None, "a server of this machine costs nothing"
        model = replace(model, budget=TokenBudget(tmp_path, 12))
        from llama_index.core.llms import ChatMessage

        async with trace.root(lambda event: None, "ask") as step:
            await request(model, [ChatMessage(role="user", content="hello there")], step, ChatOptions())
            with pytest.raises(ModelError, match="are used up"):
                await request(model, [ChatMessage(role="user", content="and again")], step, ChatOptions())
