"""A budget of tokens a day for servers elsewhere."""

import os
import subprocess
import sys
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


@pytest.mark.slow
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


WRITES_IN_PART = """
import os, resource, sys
from pathlib import Path
from repopilot.llm.token_budget import TokenBudget

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    TokenBudget(Path(sys.argv[1]), 100).spend(5)
except OSError:
    os._exit(7)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files")
@pytest.mark.parametrize("written", [0, 1, 20])
def test_a_count_that_is_cut_off_in_writing_leaves_the_one_before(tmp_path, written):
    TokenBudget(tmp_path, 100).spend(90)
    command = [sys.executable, "-c", WRITES_IN_PART, str(tmp_path), str(written)]
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=False)
    assert ended.returncode == 7
    with pytest.raises(ModelError, match="90 of 100"):
        TokenBudget(tmp_path, 100).take(11)


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


@pytest.mark.slow
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
