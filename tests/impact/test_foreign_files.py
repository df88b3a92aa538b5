"""Files that the repository's attributes mark as generated or vendored are neither tests of a change nor its code."""

from __future__ import annotations

import pytest
from support.impact_case import SHOP

from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import Change
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import lines_for_model
from repopilot.resolve.uses.covering_tests import all_tests, covering_tests

USING = "from shop.prices import price\n\n\ndef {name}():\n    return price(None)\n"
MARKED = {
    ".gitattributes": "made/** linguist-generated\nlibs/** linguist-vendored\n",
    "made/main.py": USING.format(name="main"),
    "libs/tests/test_prices.py": USING.format(name="test_price"),
    "tests/test_prices.py": USING.format(name="test_price"),
}
CHANGE = [Change("shop/prices.py", ("price",))]


@pytest.mark.slow
def test_marked_files_come_last_and_are_no_tests(repository):
    index = repository(SHOP | MARKED).index
    report = assess(index, CHANGE)
    assert "libs/tests/test_prices.py" not in {test.path for test in report.covering_tests}
    assert report.covering_tests[0].path == "tests/test_prices.py"
    paths = [file.path for file in report.ranked]
    assert not {"made/main.py", "libs/tests/test_prices.py"} & set(paths[:3]) and "shop/cart.py" in paths[:3]
    assert all(not path.startswith("libs/") for path in (*covering_tests(index, "shop/prices.py"), *all_tests(index)))
    places = [place.path for place in report.affected]
    assert places.index("made/main.py") > places.index("shop/cart.py"), "it uses the definition all the same"


@pytest.mark.slow
def test_an_overview_leaves_marked_files_out(repository):
    said = lines_for_model(overview_of(repository(SHOP | MARKED).index))
    assert "shop" in said and "made" not in said and "libs" not in said


def test_files_that_are_not_marked_count(repository):
    index = repository(SHOP | MARKED | {".gitattributes": ""}).index
    assert "libs/tests/test_prices.py" in {test.path for test in assess(index, CHANGE).covering_tests}


@pytest.mark.slow
def test_files_that_are_marked_as_their_own_count(repository):
    said = "made/** linguist-generated\nlibs/** -linguist-vendored\nmade/main.py -linguist-generated\n"
    index = repository(SHOP | MARKED | {".gitattributes": said}).index
    assert not index.is_foreign("made/main.py") and not index.is_foreign("libs/tests/test_prices.py")
