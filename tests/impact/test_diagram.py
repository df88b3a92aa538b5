"""Diagrams of the code graph: around a definition, and of the folders."""

import pytest
from support import git_server
from support.shop_workspace import offline, open_workspace

from repopilot.agents.impact.diagram import ROWS, call_diagram, impact_diagram
from repopilot.results import AffectedPlace, ChangedFile, ImpactReport
from repopilot.ui.answer.diagram_panel import chart_props, diagram_props

FILES = {
    "shop/core/prices.py": "def price(n):\n    return rate() * n\n\n\ndef rate():\n    return 2\n",
    "shop/web/page.py": "from shop.core.prices import price\n\n\ndef page():\n    return price(1)\n",
    "shop/web/cart.py": "from shop.core.prices import price\n\n\ndef total():\n    return price(2)\n",
    "tests/test_prices.py": "from shop.core.prices import price\n\n\ndef test_price():\n    assert price(1)\n",
}


@pytest.fixture
def index(tmp_path):
    git_server.commit(tmp_path / "shop", FILES)
    return open_workspace(tmp_path / "shop", offline(tmp_path / "home")).index


@pytest.mark.slow
def test_what_uses_a_definition_is_left_of_it_and_what_it_uses_right(index):
    drawn = call_diagram(index, "shop/core/prices.py:price")
    assert drawn.boxes[0].label == "price" and drawn.boxes[0].line == 1
    columns = {box.label: box.column for box in drawn.boxes}
    assert columns["page"] == columns["total"] == columns["test_price"] == 0 and columns["rate"] == 2
    assert [box.label for box in drawn.boxes if box.column == 0][-1] == "test_price", "tests come last"
    props = diagram_props(drawn, "shop/core/prices.py:price", "en")
    assert len({(box["x"], box["y"]) for box in props["boxes"]}) == len(props["boxes"])


@pytest.mark.slow
def test_many_callers_are_counted(tmp_path):
    many = "from a import f\n" + "".join(f"\n\ndef g{n}():\n    return f()\n" for n in range(ROWS + 5))
    git_server.commit(tmp_path / "r", {"a.py": "def f():\n    return 1\n", "b.py": many})
    drawn = call_diagram(open_workspace(tmp_path / "r", offline(tmp_path / "home")).index, "a.py:f")
    assert drawn.left_out[0] >= 5 and len(drawn.boxes) == ROWS + 1


def test_what_a_change_affects_stands_in_columns_by_distance():
    near = [AffectedPlace(f"A{n}", f"near{n}.py", via="a.py") for n in range(ROWS + 5)]
    far = AffectedPlace("B", "far.py", via="near0.py", distance=9)
    report = ImpactReport("LOW", affected=(*near, far), changed=(ChangedFile("M1", "a.py"),))
    drawn = impact_diagram(report)
    columns = {box.path: box.column for box in drawn.boxes}
    assert (columns["a.py"], columns["near0.py"], columns["far.py"], drawn.left_out) == (0, 1, 3, (0, 5, 0, 0))
    joined = [(drawn.boxes[a].path, drawn.boxes[b].path) for a, b, _ in drawn.lines]
    assert ("a.py", "near0.py") in joined and ("near0.py", "far.py") in joined
    assert chart_props(drawn, {0: "changes"}, "en", subjects=1)["boxes"][0]["subject"]
    assert impact_diagram(ImpactReport("UNKNOWN")).boxes == ()
