"""What a question mentions with @ is evidence, in front of what the search finds."""

import pytest
from support import git_server
from support.shop_workspace import offline, open_workspace

from repopilot import trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.mentioned import MOST_MENTIONS, mentioned_places, with_chips

FILES = {
    "shop/prices.py": (
        "RATE = 2\n\n\ndef price(count):\n    return count * RATE\n\n\ndef tax(count):\n    return count\n"
    ),
    "shop/cart.py": "class Cart:\n    def add(self, item):\n        return item\n",
    "README.md": "# Shop\n",
}


@pytest.fixture
def folder(tmp_path):
    git_server.commit(tmp_path / "shop", FILES)
    git_server.commit(
        tmp_path / "shop", {"shop/cart.py": FILES["shop/cart.py"].replace("return item", "return [item]")}
    )
    (tmp_path / "shop/shop/prices.py").write_text(FILES["shop/prices.py"].replace("count * RATE", "count * RATE + 1"))
    return tmp_path / "shop"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("what is @shop/prices.py:price for?", [("shop/prices.py", 4, 5)]),
        ("does @shop/cart.py:Cart.add change @shop/prices.py?", [("shop/cart.py", 2, 3), ("shop/prices.py", 1, 10)]),
        ("why @shop/prices.py:4-5 and @shop/cart.py:2?", [("shop/prices.py", 4, 5), ("shop/cart.py", 2, 2)]),
        ("@shop/prices.py:99-100 @shop/prices.py:5-999999", [("shop/prices.py", 5, 10)]),
        ("what does @diff do?", [("shop/prices.py", 2, 8)]),
        ("explain @commit, please", [("shop/cart.py", 1, 3)]),
        ("mail me@shop/prices.py or @nobody, @shop/gone.py", []),
        ("@README.md " * 30, [("README.md", 1, 2)]),
    ],
)
def test_mentions_are_places(folder, tmp_path, question, places):
    found, _ = mentioned_places(question, open_workspace(folder, offline(tmp_path / "home")), 1)
    assert [(each.path, each.start_line, each.end_line) for each in found] == places
    assert [each.number for each in found] == list(range(1, len(found) + 1))


def test_mentions_are_marked_in_the_message():
    assert with_chips("what is @a/b.py:f for, me@a.b?") == "what is `@a/b.py:f` for, me@a.b?"
    assert with_chips("`@a.py`") == "`@a.py`"


@pytest.mark.slow
def test_what_is_mentioned_in_vain_is_said(tmp_path):
    folder = tmp_path / "alone"
    git_server.commit(folder, FILES)  # its only commit has none before it
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    many = " ".join(f"@gone/{number}.py" for number in range(MOST_MENTIONS))
    found, problems = mentioned_places(f"@commit {many} @README.md", workspace, 1)
    assert found == [] and len(problems) == MOST_MENTIONS + 1
    assert "@commit can't be read" in problems[0] and "2 mentions were left out" in problems[-1]


@pytest.mark.slow
async def test_the_answer_begins_with_what_was_mentioned_and_says_what_is_gone(folder, tmp_path):
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    events: list[trace.Event] = []
    async with trace.root(events.append, "explain") as step:
        answer = await explain("how does @shop/cart.py:Cart.add relate to @shop/gone.py?", workspace, step)
    assert (answer.evidence[0].path, answer.evidence[0].symbol) == ("shop/cart.py", "Cart.add")
    assert "shop/gone.py is not a file of this repository" in str(events)
