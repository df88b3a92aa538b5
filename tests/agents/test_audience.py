"""Answers for people who don't read code: plain words, no code unfolded, places behind a click."""

from dataclasses import replace

import pytest
from support.shop_workspace import answering, shop_workspace, traced

from repopilot.agents.explain.agent import explain
from repopilot.agents.impact.agent import impact
from repopilot.review.agent import review
from repopilot.ui.answer.evidence_view import evidence_props
from repopilot.ui.answer.folds import summary_of
from repopilot.workspace import Workspace

EXTRA = {
    "README.md": "# Shop\n\nCustomers get a discount on large carts.\n",
    "config/settings.properties": "discount.cart=5000\ndiscount.customers=all\n",
}
PLAIN = "Customers pay less for a large cart [shop/prices.py:1-4]."


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("shop"), EXTRA)


@pytest.fixture
def reader(shop: Workspace) -> Workspace:
    return replace(shop, settings=shop.settings.model_copy(update={"audience": "reader"}))


async def test_without_a_model_documents_lead_and_no_code_is_shown(shop, reader):
    question = "What discount do customers get on a cart?"
    told, _, _ = await traced(lambda step: explain(question, reader, step))
    assert told.result.for_reader and told.evidence[0].path == "README.md"
    assert told.result.lead == "> Customers get a discount on large carts. [1]"
    assert told.evidence[-1].path == "config/settings.properties" or "config/" not in told.text
    assert "~~~~" not in told.text and [e.number for e in told.evidence] == list(range(1, len(told.evidence) + 1))
    other, _, _ = await traced(lambda step: explain(question, shop, step))
    assert not other.result.for_reader and "~~~~" in other.text


@pytest.mark.parametrize("by_setting", [True, False])
async def test_an_agent_model_is_told_for_whom_it_writes_and_what_names_no_code_is_folded(shop, reader, by_setting):
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return PLAIN

    model = replace(answering(reply), way="agent")
    workspace = replace(reader if by_setting else shop, model=model)
    question = "Expliquez les remises pour une cheffe de produit"
    told, _, _ = await traced(lambda step: explain(question, workspace, step))
    assert any(("The answer is for somebody" if by_setting else "Where the question says") in p for p in prompts)
    assert told.result.for_reader and "~~~~" not in told.text and "Customers pay less" in told.text
    props = evidence_props("a", told.evidence, lambda _: None, "en", told.result.cited, True)
    assert props["unfolded"] == 0 and props["shown"]


async def test_an_answer_that_names_code_is_unfolded_as_ever(shop):
    model = replace(answering(lambda _: "It is `price_of` [shop/prices.py:1-4]."), way="agent")
    told, _, _ = await traced(lambda step: explain("what gives the price?", replace(shop, model=model), step))
    assert not told.result.for_reader and "~~~~" in told.text


async def test_an_impact_for_readers_names_no_code(reader):
    told, _, _ = await traced(lambda step: impact("What breaks if I change shop/prices.py?", reader, step))
    assert "depend on it" in told.text and "Risk: " in told.text
    assert "`" not in told.text and "shop/" not in told.text and told.evidence
    assert summary_of(told, "en") == told.text


async def test_a_review_for_readers_shows_no_code(reader):
    told, _, _ = await traced(lambda step: review("review shop/cart.py", reader, step))
    assert "~~~~" not in told.text and "```" not in told.text
