"""The function of a stack frame in an index: moved files, lines that changed since, libraries, files of one name."""

import pytest
from support.index_case import instant_index, settings, snapshot, write

from repopilot.retrieval.query.frame_places import rows_of
from repopilot.retrieval.query.stack_frames import Frame


def _function(name, lines=30, indent=""):
    body = "\n".join(f"{indent}    {name}_{n} = compute({n})" for n in range(lines))
    return f"{indent}def {name}(self):\n{body}\n"


FILES = {
    "src/shop/cart.py": f"{_function('add')}\n\n{_function('total')}\n\n{_function('long', 200)}",
    "src/shop/util.py": _function("pay"),
    "src/stock/util.py": _function("count"),
    "src/shop/__init__.py": _function("create"),
    "src/stock/__init__.py": _function("start"),
    "tests/threading.py": _function("run"),
    "src/models.py": "\n\n".join(f"class {name}:\n{_function('save', indent='    ')}" for name in ("Box", "Bag")),
    "web/lib/router/index.js": "function route() {\n  throw new Error('no')\n}\n\nmodule.exports = route\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("shop"), FILES)
    return instant_index(snapshot(root), settings(tmp_path_factory.mktemp("home")))


def found(index, *frames):
    rows = rows_of([Frame(*frame) for frame in frames], index.lexical, index.chunks)
    return [(index.chunks[row].path, index.chunks[row].symbol) for row in rows]


CART = "src/shop/cart.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        pytest.param(("/srv/src/shop/cart.py", 40, "total"), (CART, "total"), id="as it is"),
        pytest.param(("C:\\work\\src\\shop\\cart.py", 40, "total"), (CART, "total"), id="on Windows"),
        pytest.param(("/srv/legacy/shop/cart.py", 40, "total"), (CART, "total"), id="moved"),
        pytest.param(("/srv/src/shop/cart.py", 33, "total"), (CART, "total"), id="between two functions"),
        pytest.param(("/srv/src/shop/cart.py", 31, "total"), (CART, "total"), id="at the end of the one before"),
        pytest.param(("/srv/src/shop/cart.py", 5000, "total"), (CART, "total"), id="beyond the end"),
        pytest.param(("/srv/src/shop/cart.py", 40, "<lambda>"), (CART, "total"), id="a function without a name"),
        pytest.param(("/srv/src/shop/cart.py", 40, "inner"), (CART, "total"), id="a function that has no definition"),
        pytest.param(("/srv/src/shop/cart.py", 200, "long"), (CART, "long"), id="a later part of a long function"),
        pytest.param(
            ("/srv/util.py", 5, "count"), ("src/stock/util.py", "count"), id="of several files by its function"
        ),
        pytest.param(("/srv/old/shop/util.py", 5, "gone"), ("src/shop/util.py", "pay"), id="of several by its folder"),
        pytest.param(("/srv/models.py", 900, "Bag.save"), ("src/models.py", "Bag"), id="of two methods by the class"),
        pytest.param(
            ("/usr/lib/python3/dist-packages/shop/cart.py", 40, "total"),
            (CART, "total"),
            id="the repository, installed",
        ),
        pytest.param(
            ("/x/node_modules/web/lib/router/index.js", 2, "route"),
            ("web/lib/router/index.js", "route"),
            id="as a module",
        ),
        pytest.param(("/srv/vendor/shop/cart.py", 40, "total"), (CART, "total"), id="copied into another"),
    ],
)
def test_a_frame_leads_to_its_function(index, frame, expected):
    assert found(index, frame) == [expected]


@pytest.mark.parametrize(
    "frame",
    [
        ("/usr/lib/python3.11/threading.py", 12, "handle"),
        ("/usr/lib/python3.11/site-packages/other/cart.py", 40, "total"),
        ("/srv/node_modules/koa-compose/index.js", 2, "route"),
        ("/srv/other/__init__.py", 3, "nothing"),
        ("/srv/nowhere.py", 3, "total"),
        ("/srv/src/shop/cart.py", 5000, "nothing"),
    ],
)
def test_frames_of_other_code_lead_nowhere(index, frame):
    assert found(index, frame) == []


def test_installed_packages_come_after_the_repository(index):
    installed = ("/usr/lib/python3.11/site-packages/tests/threading.py", 3, "run")
    own = ("/srv/src/shop/cart.py", 40, "total")
    assert found(index, installed, own) == [(CART, "total"), ("tests/threading.py", "run")]


def test_the_order_is_that_of_the_frames_and_each_comes_once(index):
    frames = [("/srv/src/shop/util.py", 3, "pay"), ("/srv/src/shop/cart.py", 40, "total")]
    assert found(index, *frames, *frames) == [("src/shop/util.py", "pay"), (CART, "total")]
