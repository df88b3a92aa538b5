"""The code graph as people and agents ask it: callers, callees, and the call path from one place to another."""

from dataclasses import replace

import pytest
from support.impact_case import SHOP
from support.shop_workspace import answering, traced

from repopilot.agents.explain.agent import explain
from repopilot.errors import UsageError
from repopilot.i18n import translated
from repopilot.resolve.uses import call_graph


@pytest.mark.slow
def test_callers_by_hops(shop):
    (place,) = call_graph.callers(shop.index, "price").places
    assert place.row(uses=True).startswith("shop/cart.py:9 in Cart.total, which calls it: ") and place.sure
    places = call_graph.callers(shop.index, "shop/prices.py:price", depth=3).places
    further = "\n".join(place.row(uses=True) for place in places)
    assert "shop/web.py:5 in checkout, which is 2 hops away" in further and "tests/test_cart.py" in further
    assert call_graph.callers(shop.index, "nobody_calls_this").places == ()


@pytest.mark.slow
def test_uses_that_may_mean_something_else_are_told_apart(repository):
    other = {
        "shop/other.py": "def report(row):\n    return row.total()\n",
        "shop/sum.py": "class Sum:\n    def total(self):\n        return 1\n",
    }
    index = repository(SHOP | other).index
    found = call_graph.references(index, "total").places
    assert {place.path for place in found if not place.sure} == {"shop/other.py"}
    assert "shop/web.py" in {place.path for place in found if place.sure}


@pytest.mark.slow
def test_callees_and_the_call_path_to_storage(repository):
    stored = {
        "shop/store.sql": "CREATE TABLE items (id int, amount int);\n",
        "shop/items.py": "def amount_of(cursor):\n    return cursor.execute('SELECT amount FROM items')\n",
        "shop/prices.py": "from shop.items import amount_of\n\n\ndef price(item):\n    return amount_of(None)\n",
    }
    index = repository(SHOP | stored).index
    (used,) = call_graph.callees(index, "price").places
    assert used.row(uses=False) == "shop/items.py:1 amount_of, which it calls"
    assert translated(used.row(uses=False), "fr") == "shop/items.py:1 amount_of, qu’il appelle"
    further = [place.row(uses=False) for place in call_graph.callees(index, "price", depth=2).places]
    assert any(row.endswith(" items, which is 2 hops away") for row in further)
    assert [str(node) for node in call_graph.call_path(index, "checkout", "items")] == [
        "shop/web.py:4 checkout",
        "calls shop/cart.py:8 Cart.total",
        "calls shop/prices.py:4 price",
        "calls shop/items.py:1 amount_of",
        "uses shop/store.sql:1 items",
    ]
    assert [place.name for place in call_graph.callers(index, "items").places] == ["amount_of"]
    assert call_graph.call_path(index, "items", "checkout") == []


@pytest.mark.parametrize(
    "wrong",
    [lambda i: call_graph.call_path(i, "checkout", "nothing_here"), lambda i: call_graph.callers(i, "price", 9)],
)
def test_wrong_arguments_are_refused(shop, wrong):
    with pytest.raises(UsageError):
        wrong(shop.index)


@pytest.mark.parametrize(
    "question", ["How does checkout reach price?", "comment va-t-on de `checkout` jusqu'à `price` ?"]
)
async def test_a_question_about_a_call_path_is_answered_from_the_graph(shop, question):
    answer, _, _ = await traced(lambda step: explain(question, shop, step))
    assert answer.result.form == "call path"
    assert [place.symbol.rpartition(".")[2] for place in answer.evidence[:3]] == ["checkout", "total", "price"]


async def test_a_call_path_asks_no_model(shop):
    asked: list[str] = []
    model = answering(lambda prompt: asked.append(prompt) or "It asks the cart [1].")
    question = "How does checkout reach price?"
    answer, _, _ = await traced(lambda step: explain(question, replace(shop, model=model), step))
    heading, path = answer.result.lead.split("\n\n")[:2]
    numbers = [c.number for c in answer.citations]
    assert heading and numbers == list(range(1, len(numbers) + 1))
    assert path.splitlines() == [
        "1. `checkout` (`shop/web.py:4`) [1]",
        "2. calls `Cart.total` (`shop/cart.py:8`) [2]",
        "3. calls `price` (`shop/prices.py:1`) [3]",
    ]
    assert (answer.result.draft, asked) == ("", [])
    cited = next(c for c in answer.citations if c.symbol == "Cart.total")
    assert (cited.path, cited.start_line, cited.end_line, cited.supported) == ("shop/cart.py", 8, 9, True)


async def test_a_question_about_one_place_asks_for_no_call_path(shop):
    answer, _, _ = await traced(lambda step: explain("What does checkout do?", shop, step))
    assert answer.result.form != "call path"
