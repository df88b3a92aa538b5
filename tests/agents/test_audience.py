"""Answers for people who don't read code: plain words, no code unfolded, places behind a click."""

import json
from dataclasses import replace

import pytest
from support.shop_workspace import answering, shop_workspace, traced

from repopilot import trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.impact.agent import impact, impact_of
from repopilot.agents.review.agent import review
from repopilot.assistant import answer
from repopilot.routing.audience import is_for_reader, without_audience
from repopilot.ui.answer.diagram_panel import subject_of
from repopilot.ui.answer.parts.evidence_view import evidence_props
from repopilot.ui.answer.parts.folds import summary_of
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


@pytest.mark.slow
async def test_without_a_model_documents_lead_and_no_code_is_shown(shop, reader):
    question = "What discount do customers get on a cart?"
    told, _, _ = await traced(lambda step: explain(question, reader, step))
    assert told.result.for_reader and told.evidence[0].path == "README.md"
    assert told.result.lead == "> Customers get a discount on large carts. [1]"
    assert told.evidence[-1].path == "config/settings.properties" or "config/" not in told.text
    assert "~~~~" not in told.text and [e.number for e in told.evidence] == list(range(1, len(told.evidence) + 1))
    other, _, _ = await traced(lambda step: explain(question, shop, step))
    assert not other.result.for_reader and "~~~~" in other.text


@pytest.mark.slow
async def test_without_documents_the_comment_of_what_was_found_leads(tmp_path):
    text = 'class Sieve:\n    """Takes the unsafe tags out of a page."""\n\n    def sift(self, page): ...\n'
    alone = shop_workspace(tmp_path, {"shop/sieve.py": text})
    reader = replace(alone, settings=alone.settings.model_copy(update={"audience": "reader"}))
    told, _, _ = await traced(lambda step: explain("What does the sieve take out of a page?", reader, step))
    assert told.result.lead.startswith("> Takes the unsafe tags out of a page. [")


@pytest.mark.slow
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
    assert not props["shown"] and len(props["folded"]) == len(told.evidence)
    assert props["more"] == f"{len(told.evidence)} places in the code"
    assert subject_of(told) == "", "a definition to draw, or to ask on about"


@pytest.mark.parametrize("audience", ["reader", "developer"])
async def test_a_sentence_for_readers_that_names_code_goes_back_once(shop, audience):
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        if "Look at these sentences again" in prompt:
            return f"1: {PLAIN}"
        read = json.dumps({"name": "read", "arguments": {"path": "shop/prices.py"}})
        return read if len(prompts) == 1 else "The limit is `DISCOUNT_FROM` [shop/prices.py:1-4]."

    settings = shop.settings.model_copy(update={"audience": audience})
    workspace = replace(shop, model=replace(answering(reply), way="agent"), settings=settings)
    told, _, _ = await traced(lambda step: explain("What do customers pay for a large cart?", workspace, step))
    assert ("Customers pay less" in told.text) == (audience == "reader"), (told.text, prompts[1:])
    assert any("it names code" in prompt for prompt in prompts) == (audience == "reader")


@pytest.mark.slow
@pytest.mark.parametrize("question", ["What does this project do?", "Who calls with_discount?"])
async def test_an_agent_model_tells_a_reader_more_than_code_computes(reader, question):
    """Such as the first sentence of the README, or a list of callers."""
    workspace = replace(reader, model=replace(answering(lambda _: PLAIN), way="agent"))
    told, _, events = await traced(lambda step: explain(question, workspace, step))
    assert "Customers pay less" in told.text and not any("plain words" in said for said in trace.degraded(events))


async def test_an_answer_that_names_code_is_unfolded_as_ever(shop):
    model = replace(answering(lambda _: "It is `price_of` [shop/prices.py:1-4]."), way="agent")
    told, _, _ = await traced(lambda step: explain("what gives the price?", replace(shop, model=model), step))
    assert not told.result.for_reader and "~~~~" in told.text and subject_of(told) == "shop/prices.py:price_of"


@pytest.mark.slow
async def test_what_a_project_is_comes_from_its_documents_and_it_is_said_that_plain_words_need_a_model(tmp_path):
    readme = "# Shop\n\nA shop for small towns.\n\n- Customers get a discount.\n- Run `make shop` to start.\n"
    readme += "\n```yaml\nsteps:\n  - uses: shop/action@v4\n```\n\n- Staff get a discount, too.\n"
    other = shop_workspace(tmp_path, {"README.md": readme})
    reader = replace(other, settings=other.settings.model_copy(update={"audience": "reader"}))
    told, _, events = await traced(lambda step: explain("What does this project do?", reader, step))
    assert told.text.startswith("A shop for small towns.") and "- Customers get a discount. [" in told.text
    assert "- Staff get a discount, too. [" in told.text and "`README.md:13`" in told.text
    assert "shop/action" not in told.text
    assert "make shop" not in told.text and "### " not in told.text and "~~~~" not in told.text
    assert any("such a model explains in plain words" in said for said in trace.degraded(events))
    _, _, events = await traced(lambda step: explain("What does this project do?", other, step))
    assert not any("plain words" in said for said in trace.degraded(events))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "forced"),
    [
        ("What discount do customers get on a cart? For a product manager.", None),
        ("Quelles remises ont les clients, pour une cheffe de produit ?", None),
        ("What breaks if I change shop/prices.py? Explain it to somebody who reads no code.", None),
        ("review shop/cart.py for our head of product", "REVIEW"),
    ],
)
async def test_a_question_says_for_whom_it_is_without_an_agent_model(shop, question, forced):
    told, _, _ = await traced(lambda step: answer(question, shop, step, forced))
    assert "~~~~" not in told.text and "```" not in told.text


@pytest.mark.parametrize(
    "question",
    [
        "Which role has a product manager?",
        "Explain the client for a customer's cart",
        "Explain this project",
        "À quoi sert le gestionnaire de remises ?",
        "Explain it to a new developer: how is the price computed?",
    ],
)
def test_who_a_question_is_about_is_not_for_whom_it_is(question):
    assert not is_for_reader(question)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("For a product manager: add an age to the cookies", "add an age to the cookies"),
        ("pour une cheffe de produit : ajouter un âge aux cookies", "ajouter un âge aux cookies"),
        ("For our designers, what does the cart do?", "what does the cart do?"),
    ],
)
def test_nothing_is_found_by_the_words_that_say_for_whom_it_is(question, asked):
    assert without_audience(question) == asked


@pytest.mark.parametrize(
    "wish",
    ["For a product manager: let customers pay less for a cart", "pour une cheffe de produit : ajouter une remise"],
)
async def test_a_wish_given_as_a_target_says_for_whom_its_impact_is(shop, wish):
    report, _, _ = await traced(lambda step: impact_of(shop, step, [wish]))
    assert report.for_reader and report.note


async def test_an_impact_of_a_wish_for_readers_is_said_to_be_an_estimate(reader):
    told, _, _ = await traced(lambda step: impact("let customers pay less for a cart", reader, step))
    assert "is an estimate" in told.text and "`" not in told.text


async def test_an_impact_for_readers_names_no_code(reader):
    told, _, _ = await traced(lambda step: impact("What breaks if I change shop/prices.py?", reader, step))
    assert "of the program; covered by 1 test file" in told.text and "Risk: " in told.text
    assert "`" not in told.text and "shop/" not in told.text and told.evidence
    assert summary_of(told, "en") == told.text


@pytest.mark.slow
async def test_an_impact_on_nothing_counts_no_places(tmp_path):
    alone = shop_workspace(tmp_path, {"shop/alone.py": "def alone():\n    return 1\n"})
    reader = replace(alone, settings=alone.settings.model_copy(update={"audience": "reader"}))
    told, _, _ = await traced(lambda step: impact("What breaks if I change shop/alone.py?", reader, step))
    assert "Nothing else in the program was found" in told.text and "0 places" not in told.text


@pytest.mark.slow
async def test_a_review_for_readers_shows_no_code(reader):
    told, _, _ = await traced(lambda step: review("review shop/cart.py", reader, step))
    assert "~~~~" not in told.text and "```" not in told.text
