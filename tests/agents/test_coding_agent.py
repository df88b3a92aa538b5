"""A model that uses tools: it changes code on a working copy, and looks around before it explains."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from support.more_tests import MORE_TESTS
from support.ollama_server import OllamaServer
from support.shop_workspace import answering, shop_workspace, traced

from repopilot.agents.explain.agent import explain
from repopilot.agents.generate.pipeline import generate
from repopilot.agents.generate.render import generation_json
from repopilot.agents.impact.agent import impact
from repopilot.agents.planning.agent import plan
from repopilot.agents.testing.agent import test as write_or_run
from repopilot.errors import GenerationFailed
from repopilot.llm.choice.choose import choose
from repopilot.llm.resources import ModelResources
from repopilot.results import Generation, Turn
from repopilot.trace import degraded
from repopilot.types import FileChange


def _call(name: str, /, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def _scripted(workspace, *replies: str, otherwise: str = ""):
    """The workspace with a model that uses tools and gives the replies in turn to its loop."""
    left = list(replies)
    model = answering(lambda prompt: left.pop(0) if left and "tool" in prompt.lower() else otherwise)
    return replace(workspace, model=replace(model, way="agent"))


@pytest.mark.slow
async def test_a_change_is_made_with_tools_and_the_folder_stays_as_it_is(tmp_path):
    shop = shop_workspace(tmp_path)
    before = (shop.snapshot.root / "shop/prices.py").read_text()
    agent = _scripted(
        shop,
        _call("replace_text", path="shop/prices.py", old="FROM = 5000", new="FROM = 6000"),
        _call("finish", summary="The discount begins at 6000."),
    )
    answer, outline, _ = await traced(lambda step: generate("give the discount from 60 euros on", agent, step))
    assert [f.path for f in answer.files] == ["shop/prices.py"]
    assert "+DISCOUNT_FROM = 6000" in answer.files[0].diff
    assert (shop.snapshot.root / "shop/prices.py").read_text() == before
    assert isinstance(answer.result, Generation) and answer.result.verdict is not None
    assert "What the model says of it: The discount begins at 6000." in answer.text
    calls = generation_json(answer.result)["calls"]
    assert [(c["name"], c["ok"]) for c in calls] == [("replace_text", True), ("finish", True)]
    assert "  work with tools\n" in outline and "    replace_text" in outline


@pytest.mark.slow
async def test_a_model_that_changes_nothing_says_why_it_ended(tmp_path):
    agent = _scripted(shop_workspace(tmp_path), _call("finish", summary="There is no such discount."))
    answer, _, _ = await traced(lambda step: generate("drop the discount", agent, step))
    assert not answer.files
    assert "There is no such discount." in answer.text


@pytest.fixture
def shop(tmp_path):
    """Without tests: what they say of a change is promised elsewhere, and they take longer than all the rest."""
    return shop_workspace(tmp_path, {"tests/test_cart.py": None})


def _watched(workspace, *replies: str):
    """The workspace with an agent model that gives the replies in turn, and the prompts that its loop has seen."""
    left, prompts = list(replies), list[str]()

    def reply(prompt: str) -> str:
        if not left or "data " not in prompt:
            return ""
        prompts.append(prompt)
        return left.pop(0)

    return replace(workspace, model=replace(answering(reply), way="agent")), prompts


RAISE = _call("replace_text", path="shop/prices.py", old="FROM = 5000", new="FROM = 6000")
BREAK = _call("replace_text", path="shop/prices.py", old="FROM = 5000", new="FROM = undefined_name")
DONE = _call("finish", summary="It is done.")


@pytest.mark.slow
async def test_what_is_found_in_unchecked_edits_goes_back_once(shop):
    agent, prompts = _watched(shop, BREAK, DONE, DONE)
    answer, outline, _ = await traced(lambda step: generate("give the discount from 60 euros on", agent, step))
    assert [call.name for call in answer.result.calls] == ["replace_text", "finish", "finish"]
    assert "undefined_name" in prompts[-1].split("Not finished: ")[1]
    assert outline.count("    check\n") == 1


LARGE = "from shop.prices import DISCOUNT_FROM\n\n\ndef test_from():\n    assert DISCOUNT_FROM == 6000\n" + MORE_TESTS
FAILING = _call("create_file", path="tests/test_from.py", content=LARGE)
PASSING = _call("create_file", path="tests/test_from.py", content=LARGE.replace("6000", "5000"))
RUN = _call("run_tests", paths=["tests/test_from.py"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replies", "held"),
    [
        ([RAISE, FAILING, RUN, RAISE, RUN, DONE], 1),
        ([FAILING, RUN, RAISE, RUN, DONE], 0),
        ([PASSING, RUN, RAISE, RAISE, RUN, DONE], 1),
        ([_call("rename_symbol", name="price_of", new_name="cost_of"), RAISE, _call("changes"), DONE], 1),
        ([_call("create_file", path="NOTES.md", content="From 60.\n"), _call("changes"), DONE], 0),
    ],
    ids=["code first", "test first", "never fails", "asked for", "no code"],
)
@pytest.mark.sampled(2)
async def test_the_code_of_an_issue_is_not_changed_before_a_test_failed_but_once(shop, replies, held):
    agent, prompts = _watched(replace(shop, reproduce=True), *replies)
    answer, _, _ = await traced(lambda step: generate("the discount begins at 50 euros, not at 60", agent, step))
    refused = [call.name for call in answer.result.calls if not call.ok]
    assert len(refused) == held and any("no test has failed yet" in each for each in prompts) == bool(held)
    assert answer.files


@pytest.mark.slow
async def test_edits_of_code_in_one_reply_are_held_back_together(shop):
    agent, _ = _watched(replace(shop, reproduce=True), f"{RAISE}\n{BREAK}", DONE)
    answer, _, _ = await traced(lambda step: generate("the discount begins at 50 euros, not at 60", agent, step))
    assert [call.ok for call in answer.result.calls if call.name == "replace_text"] == [False, False]


@pytest.mark.slow
async def test_a_tool_that_is_not_offered_at_first_is_asked_for_and_used(shop):
    rename = _call("rename_symbol", name="price_of", new_name="cost_of")
    agent, prompts = _watched(shop, _call("more_tools", names=["rename_symbol"]), rename, _call("changes"), DONE)
    answer, _, _ = await traced(lambda step: generate("call it cost_of", agent, step))
    assert [(call.name, call.ok) for call in answer.result.calls][:2] == [("more_tools", True), ("rename_symbol", True)]
    assert "rename_symbol(name, new_name" in prompts[1] and "shop/prices.py" in [f.path for f in answer.files]


@pytest.mark.slow
@pytest.mark.parametrize("agreed", [True, False])
async def test_commands_are_for_a_model_whose_user_agreed(shop, agreed):
    generated = "sed -i 's/FROM = 5000/FROM = 6000/' shop/prices.py"
    settings = shop.settings.with_commands() if agreed else shop.settings
    run = _call("run_command", command=generated)
    agent, _ = _watched(replace(shop, settings=settings), run, _call("changes"), DONE)
    answer, _, _ = await traced(lambda step: generate("give the discount from 60 euros on", agent, step))
    assert [(call.name, call.ok) for call in answer.result.calls if call.name == "run_command"] == [
        ("run_command", agreed)
    ]
    assert [file.path for file in answer.files] == ["shop/prices.py"] * agreed


@pytest.mark.slow
@pytest.mark.parametrize("look", ["check", "changes"])
async def test_edits_that_were_looked_at_are_not_checked_again(shop, look):
    agent, _ = _watched(shop, BREAK, _call(look), DONE)
    answer, outline, _ = await traced(lambda step: generate("give the discount from 60 euros on", agent, step))
    assert [call.name for call in answer.result.calls] == ["replace_text", look, "finish"]
    assert outline.count("    check\n") == (look == "check")
    assert outline.count("uses elsewhere") == (look == "changes")


@pytest.mark.slow
@pytest.mark.parametrize("later", [(), (RAISE,)])
async def test_uses_left_behind_are_asked_once_for_the_same_edits(shop, later):
    gone = _call("replace_text", path="shop/prices.py", old="def price_of(", new="def cost_of(")
    agent, _ = _watched(shop, gone, _call("check"), *later, DONE, DONE)
    answer, outline, _ = await traced(lambda step: generate("call it cost_of", agent, step))
    assert any("broken-use" in reason for reason in answer.result.verdict.reasons) and "uses elsewhere" not in outline


@pytest.mark.slow
async def test_a_model_is_offered_questions_only_where_somebody_answers(shop):
    agent, prompts = _watched(shop, DONE)
    answer, _, _ = await traced(lambda step: generate("drop the discount", agent, step))
    assert "Nobody can be asked" in prompts[0] and "ask_user" not in prompts[0]
    assert "It is done." in answer.text and [c.name for c in answer.result.calls] == ["finish"]

    async def ask(question: str, choices: tuple[str, ...]) -> str:
        return "yes"

    agent, prompts = _watched(replace(shop, ask=ask), DONE)
    await traced(lambda step: generate("drop the discount", agent, step))
    assert "Nobody can be asked" not in prompts[0] and "before the first edit: one question with ask_user" in prompts[0]


@pytest.mark.slow
async def test_what_was_decided_without_asking_is_said(shop):
    edit = _call("replace_text", path="shop/prices.py", old="FROM = 5000", new="FROM = 6000")
    done = _call("finish", summary="Raised it.", assumed=["60 euros are meant, not 60 cents."])
    agent, prompts = _watched(shop, edit, _call("changes"), done)
    answer, *_ = await traced(lambda step: generate("give the discount from 60 on", agent, step))
    assert "`assumed`" in prompts[0] and "60 euros are meant" in answer.result.assumed[0]
    part = {"title": "Raise it", "place": "shop/prices.py"}
    agent, prompts = _watched(shop, _call("finish", parts=[part], assumed=["60 euros are meant."]))
    _, _, events = await traced(lambda step: plan("give the discount from 60 on", agent, step))
    assert "Nobody can be asked" in prompts[0] and any("60 euros are meant" in note for note in degraded(events))


@pytest.mark.slow
async def test_conventions_are_told_as_data_the_nearest_with_the_first_look(tmp_path):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    shop = shop_workspace(
        tmp_path,
        {
            "AGENTS.md": f"Write prices in cents.\ntoken = '{key}'\n",
            "CLAUDE.md": f"Write prices in cents.\ntoken = '{key}'\n",
            ".github/copilot-instructions.md": "Sort the imports.\n",
            "CONTRIBUTING.md": "Welcome!\n" + "Be kind to each other.\n" * 3000 + "## Releasing\nDon't.\n",
            "shop/AGENTS.md": "A discount is a percentage.\n",
            "web/AGENTS.md": "No jQuery.\n",
        },
    )
    agent, prompts = _watched(shop, _call("read", path="shop/prices.py"), _call("read", path="shop/auth.py"), DONE)
    await traced(lambda step: generate("drop the discount", agent, step))
    first = prompts[0]
    assert first.count("Write prices in cents.") == 1 and key not in first and "CLAUDE.md" not in first
    mark = first.split("\nAGENTS.md:")[0].rpartition("data ")[2].strip()
    told = first.split(f"data {mark}\n")[1].split(f"end {mark}")[0]
    assert "copilot-instructions.md:\nSort the imports." in told
    assert told.index("Write prices") < told.index("Sort the") < told.index("Welcome!")
    assert "lines left out, about: Releasing" in told
    assert first.index(f"end {mark}") < first.index("drop the discount")
    assert "percentage" not in first and prompts[2].count("A discount is a percentage.") == 1
    assert "jQuery" not in prompts[2]


@pytest.mark.slow
@pytest.mark.parametrize("work", [generate, plan], ids=["generate", "plan"])
async def test_what_was_said_and_changed_before_is_told_as_data(shop, work):
    made = FileChange("shop/prices.py", "modified", "-FROM = 5000\n+FROM = 6000\n", "FROM = 6000\n")
    turns = [Turn("raise the discount", "The discount begins later.", "GENERATE", (made,))]
    agent, prompts = _watched(replace(shop, turns=tuple(turns)), _call("finish", summary="Nothing to do."))
    with suppress(GenerationFailed):
        await traced(lambda step: work("no, make it 7000 instead", agent, step))
    before, _, after = prompts[0].partition("The user: raise the discount\nThe answer: The discount begins later.")
    assert "no, make it 7000 instead" not in before
    assert after.index("+FROM = 6000") < after.index("\nend ") < after.index("no, make it 7000 instead")


@pytest.mark.slow
async def test_what_the_model_finds_comes_first_in_the_evidence(shop):
    agent = _scripted(
        shop,
        _call("read", path="shop/auth.py"),
        "It is at shop/auth.py:8-11.",
        "It is at shop/auth.py:8-11.",
        otherwise="The token is signed by `sign_token` [1].",
    )
    answer, outline, _ = await traced(lambda step: explain("why are the discounts signed?", agent, step))
    assert "look around" in outline
    assert (answer.evidence[0].path, answer.evidence[0].start_line) == ("shop/auth.py", 8)


@pytest.mark.slow
async def test_a_plan_is_what_the_model_finishes_with_after_the_user_has_decided(shop):
    asked: list[tuple[str, tuple[str, ...]]] = []

    async def ask(question: str, choices: tuple[str, ...]) -> str:
        asked.append((question, choices))
        return "cents"

    part = {"title": "Give prices in cents", "place": "shop/prices.py:price_of", "done_when": ["no float is left"]}
    agent = _scripted(
        shop,
        _call("ask_user", question="Cents or euros?", choices=["cents", "euros"]),
        _call("finish", parts=[{**part, "place": "shop/prices.py:nothing"}]),
        _call("finish", parts=[part, {"title": "Use them", "place": "shop/cart.py", "depends_on": [1]}]),
    )
    answer, outline, _ = await traced(lambda step: plan("use cents", replace(agent, ask=ask), step))
    assert asked == [("Cents or euros?", ("cents", "euros"))]
    first, second = answer.result.parts
    assert (first.place, first.acceptance, second.depends_on) == (
        "shop/prices.py:price_of",
        ("no float is left",),
        (1,),
    )
    assert "acceptance criteria: no float is left" in answer.text and outline.count("    finish") == 2


@pytest.mark.slow
async def test_a_model_says_which_places_a_wish_would_change_for_its_impact(shop):
    parts = [{"title": "Take it", "place": "shop/auth.py:sign_token"}, {"title": "Say it", "place": "README.md"}]
    agent = _scripted(shop, _call("read", path="shop/auth.py"), _call("finish", parts=parts))
    answer, _, _ = await traced(lambda step: impact("let the visitors stay for a month", agent, step))
    assert [(c.path, c.symbols) for c in answer.result.changed] == [("shop/auth.py", ("sign_token",))]
    assert "`shop/auth.py:sign_token`" in answer.text.split("\n")[0]


async def test_a_model_that_proposes_no_plan_leaves_that_of_code(shop):
    agent = _scripted(shop, "", "", otherwise="")
    answer, _, events = await traced(lambda step: plan("round `price_of` up", agent, step))
    assert answer.result.parts[0].place == "shop/prices.py:price_of"
    assert any("loop.empty" in str(event) or "empty" in str(event) for event in events)


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False])
async def test_the_loop_works_with_a_server_that_speaks_the_protocol(shop, native):
    script = [
        {"name": "search", "arguments": {"query": "discount"}},
        {"name": "replace_text", "arguments": {"path": "README.md", "old": "8080", "new": "9090"}},  # runs no tests
        {"name": "finish", "arguments": {"summary": "Done."}},
    ]

    def reply(messages):
        called = sum(message["role"] == "tool" for message in messages)
        return {"thinking": "Hm.", "tool_calls": script[called : called + 1]} if called < len(script) else "Fine."

    with OllamaServer(reply=reply, native=native, models=["qwen3:8b"], capabilities=("tools",)) as server:
        where = {"ollama_url": server.url} if native else {"llm_url": server.url}
        settings = shop.settings.model_copy(update={**where, "llm_model": "qwen3:8b"})
        model = await choose(settings, ModelResources())
        answer, _, _ = await traced(lambda step: generate("raise it", replace(shop, model=model), step))
    assert "--port 9090" in answer.files[0].diff
    assert [call.name for call in answer.result.calls] == ["search", "replace_text", "finish"]


@pytest.mark.slow
async def test_tests_are_written_with_tools_run_and_judged_by_mutants(shop):
    judged = (
        "from shop.cart import Cart\n\n\ndef test_bread_costs_250():\n    cart = Cart()\n    cart.add('bread')\n"
        "    assert cart.total() == 250\n" + MORE_TESTS
    )
    agent = _scripted(
        shop,
        _call("create_file", path="tests/test_empty.py", content=judged),
        _call("replace_text", path="shop/prices.py", old="FROM = 5000", new="FROM = 6000"),
        _call("finish", summary="One test."),
    )
    answer, outline, _ = await traced(lambda step: write_or_run("write a test for Cart.total", agent, step))
    assert [f.path for f in answer.files] == ["tests/test_empty.py"]
    report = answer.result
    assert (report.run.passed, report.run.failed) == (18, 0) and report.mutants
    assert any(o.caught_by == ("test_bread_costs_250",) for o in report.mutants)
    assert any(not o.caught_by for o in report.mutants)
    assert "mutants" in outline and "work with tools" in outline
    assert "- `test_bread_costs_250` catches" in answer.text


@pytest.mark.slow
async def test_a_model_that_writes_no_tests_is_said_to(shop):
    agent = _scripted(
        shop,
        _call("replace_text", path="shop/prices.py", old="FROM = 5000", new="FROM = 6000"),
        _call("finish", summary="Done."),
    )
    with pytest.raises(GenerationFailed, match="wrote no tests"):
        await traced(lambda step: write_or_run("write a test for Cart.total", agent, step))


def _then_silent(calls: list[tuple[str, dict]], silences: int):
    """The script of a server whose model makes calls, says nothing some times, and finishes."""
    left = [*({"tool_calls": [{"name": name, "arguments": given}]} for name, given in calls), *[[600.0]] * silences]
    done = {"tool_calls": [{"name": "finish", "arguments": {"summary": "The discount begins at 6000."}}]}
    return lambda messages: left.pop(0) if left else done


@pytest.fixture
async def doubted(shop):
    """The shop with an agent model of an Ollama server that may be silent for three seconds, and the server."""
    with OllamaServer(models=["qwen3:8b"], capabilities=("completion", "tools")) as server:
        model = await choose(shop.settings.model_copy(update={"ollama_url": server.url}), ModelResources())
        yield replace(shop, model=replace(model, timeout_s=3.0)), server


EDIT = ("replace_text", {"path": "shop/prices.py", "old": "FROM = 5000", "new": "FROM = 6000"})


@pytest.mark.slow
async def test_an_edit_goes_on_after_one_silence(doubted):
    agent, server = doubted
    server.state.reply = _then_silent([EDIT], 1)
    answer, _, events = await traced(lambda step: generate("give the discount from 60 euros on", agent, step))
    assert [f.path for f in answer.files] == ["shop/prices.py"]
    assert [c.name for c in answer.result.calls] == ["replace_text", "finish"]
    assert any("It is asked once more." in note for note in degraded(events))


@pytest.mark.slow
async def test_what_was_edited_before_a_model_fell_silent_is_kept_and_shown(doubted):
    agent, server = doubted
    server.state.reply = _then_silent([EDIT], 10**3)
    answer, _, _ = await traced(lambda step: generate("give the discount from 60 euros on", agent, step))
    assert "+DISCOUNT_FROM = 6000" in answer.files[0].diff
    assert "has sent nothing for 3 s" in answer.text and "changed shop/prices.py" in answer.text
    assert len(server.state.sent("/api/chat")) == 3, "nobody asks it any more"


@pytest.mark.slow
async def test_a_question_to_a_silent_model_is_answered_by_the_evidence(doubted):
    agent, server = doubted
    server.state.reply = _then_silent([("read", {"path": "shop/auth.py"})], 10**3)
    answer, _, _ = await traced(lambda step: explain("why are the discounts signed?", agent, step))
    assert answer.evidence and answer.result.interrupted
    assert "has sent nothing for 3 s" in answer.text
    assert len(server.state.sent("/api/chat")) == 3
