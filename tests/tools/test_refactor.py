"""Tools that change a definition and what depends on it."""

from __future__ import annotations

from typing import Any

import pytest
from support.shop_workspace import workspace_of
from tools.test_tools import Toolbox, opened, refusal

FILES = {
    "app/__init__.py": "",
    "app/base.py": "class Base:\n    def run(self, x):\n        return x\n\n    def close(self):\n        pass\n",
    "app/child.py": (
        "from app.base import Base\n\n\nclass Child(Base):\n    def run(self, x):\n        return super().run(x) + 1\n"
    ),
    "app/use.py": (
        "from app.child import Child\nfrom app.prices import price\n\nLIMIT = 3\n\n\n"
        "def use():\n    return Child().run(price(2, scale=3))\n"
    ),
    "app/prices.py": (
        'MODE = "fast"\nRATE: int = 2\n\n\ndef price(x, scale=1):\n    limit = x\n    return limit * scale\n'
    ),
    "app/other.py": "def go(job):\n    job.run(1)\n",
    "app/broken.py": "def price(:\n",
    "README.md": "Call `price` and `Base.run`.\n",
    "pyproject.toml": '[project]\nname = "app"\nversion = "1.0"\n\n[tool.x]\nlevel = 3\n',
    "config.yaml": "server:\n  port: 80\n  name: 'web'\n",
    "package.json": '{"name": "web", "scripts": {"test": "jest"}}\n',
    "web/cart.ts": "export const MAX = 3;\nexport function total(a: number) { return a * MAX; }\n",
    "web/page.ts": "import { total, MAX } from './cart';\nconst o = { total };\nconsole.log(total(MAX), o.total);\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory):
    return workspace_of(tmp_path_factory.mktemp("app"), FILES)


def text(tools: Toolbox, path: str) -> str:
    return tools.copy.text(path) or ""


@pytest.mark.slow
async def test_a_method_is_renamed_in_its_hierarchy_and_documents_are_listed(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="Base.run", new_name="start")
        assert "def start(self, x)" in text(tools, "app/base.py")
        assert "def start" in text(tools, "app/child.py") and "super().start(x)" in text(tools, "app/child.py")
        assert "Child().start(price(" in text(tools, "app/use.py")
        assert [row["path"] for row in done.data["unsure"]] == ["app/other.py", "README.md"]


@pytest.mark.slow
async def test_a_file_that_does_not_parse_is_named_and_left(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="price", new_name="cost", path="app/prices.py")
        assert done.data["unread"] == ["app/broken.py"] and "broken.py can't be read" in done.text
        assert "import cost" in text(tools, "app/use.py") and "cost(2, scale=3)" in text(tools, "app/use.py")


@pytest.mark.slow
async def test_a_function_is_moved_and_imports_follow(app):
    async with opened(app) as tools:
        done = await tools("move_symbol", name="price", to_path="app/money.py", path="app/prices.py")
        assert "def price" in text(tools, "app/money.py") and "def price" not in text(tools, "app/prices.py")
        assert "app.money" in text(tools, "app/use.py")
        assert set(done.data["files"]) == {"app/money.py", "app/prices.py", "app/use.py"}
        assert (await tools("undo")).data == {"undone": 1} and not tools.copy.changes()


@pytest.mark.slow
async def test_parameters_are_renamed_removed_and_added_and_callers_follow(app):
    async with opened(app) as tools:
        await tools(
            "change_signature",
            name="price",
            path="app/prices.py",
            rename={"scale": "factor"},
            add=[{"name": "tax", "default": "0"}],
        )
        assert "def price(x, factor=1, tax=0):" in text(tools, "app/prices.py")
        assert "return limit * factor" in text(tools, "app/prices.py")
        assert "price(2, factor=3)" in text(tools, "app/use.py")
        used = await refusal(tools, "change_signature", name="price", path="app/prices.py", remove=["factor"])
        assert "app/prices.py:7" in used
        await tools("replace_text", path="app/prices.py", old="return limit * factor", new="return limit")
        await tools("change_signature", name="price", path="app/prices.py", remove=["factor"])
        assert "def price(x, tax=0):" in text(tools, "app/prices.py") and "price(2)" in text(tools, "app/use.py")
        await tools("undo")
        assert "factor" in text(tools, "app/prices.py")


@pytest.mark.parametrize(
    ("arguments", "path", "written"),
    [
        ({"name": "MODE", "value": "slow"}, "app/prices.py", 'MODE = "slow"'),
        ({"name": "RATE", "value": "5"}, "app/prices.py", "RATE: int = 5"),
        ({"name": "price.scale", "value": "4"}, "app/prices.py", "scale=4"),
        ({"name": "LIMIT", "value": "30"}, "app/use.py", "LIMIT = 30"),
        ({"name": "tool.x.level", "value": "4"}, "pyproject.toml", "level = 4"),
        ({"name": "project.version", "value": "1.1"}, "pyproject.toml", 'version = "1.1"'),
        ({"name": "server.port", "value": "8080"}, "config.yaml", "port: 8080"),
        ({"name": "server.name", "value": "api"}, "config.yaml", "name: 'api'"),
        ({"name": "scripts.test", "value": "vitest"}, "package.json", '"test": "vitest"'),
        ({"name": "MAX", "value": "9"}, "web/cart.ts", "MAX = 9;"),
    ],
)
async def test_a_value_is_set_where_it_is_defined(app, arguments: dict[str, Any], path: str, written: str):
    async with opened(app) as tools:
        await tools("set_value", **arguments)
        assert written in text(tools, path)
        assert [change.path for change in tools.copy.changes()] == [path]


@pytest.mark.slow
async def test_a_name_of_another_language_is_renamed_where_it_is_sure(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="total", new_name="sum_up")
        assert "function sum_up(" in text(tools, "web/cart.ts")
        assert "import { sum_up, MAX }" in text(tools, "web/page.ts") and "sum_up(MAX)" in text(tools, "web/page.ts")
        assert "const o = { total: sum_up };" in text(tools, "web/page.ts") and "o.total" in text(tools, "web/page.ts")
        assert done.data["unsure"] == [] and done.data["done"]


@pytest.mark.slow
async def test_imports_are_sorted_and_unused_ones_removed(app):
    async with opened(app) as tools:
        await tools("create_file", path="app/messy.py", content="import sys\nimport os\n\nprint(os.sep)\n")
        await tools("organize_imports", path="app/messy.py")
        assert text(tools, "app/messy.py") == "import os\n\nprint(os.sep)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("rename_symbol", {"name": "run", "new_name": "go"}, "app/base.py:Base.run"),
        ("rename_symbol", {"name": "Base.run", "new_name": "close"}, "already"),
        ("rename_symbol", {"name": "Base.run", "new_name": "class"}, "is not a valid identifier"),
        ("rename_symbol", {"name": "pirce", "new_name": "x"}, "price"),
        ("rename_symbol", {"name": "price", "new_name": "x", "path": "app/broken.py"}, "broken.py"),
        ("move_symbol", {"name": "Base.run", "to_path": "app/x.py"}, "top of a module"),
        ("move_symbol", {"name": "total", "to_path": "web/x.ts"}, "Python only"),
        ("change_signature", {"name": "price", "path": "app/prices.py", "remove": ["y"]}, "x, scale"),
        ("change_signature", {"name": "price", "path": "app/prices.py"}, "which parameters"),
        ("change_signature", {"name": "price", "path": "app/prices.py", "order": ["x", "x"]}, "only one way"),
        (
            "change_signature",
            {"name": "price", "path": "app/prices.py", "rename": {"x": "y"}, "remove": ["x"]},
            "one way",
        ),
        ("set_value", {"name": "name", "value": "x"}, "several".capitalize()),
        ("set_value", {"name": "NOPE", "value": "x"}, "No constant, default or key here is called NOPE"),
        ("set_value", {"name": "RATE", "value": "(1"}, "no longer parse"),
        ("organize_imports", {"path": "README.md"}, "not a Python file"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_nothing_changes(app, name, arguments, said):
    async with opened(app) as tools:
        assert said in await refusal(tools, name, **arguments)
        assert not tools.copy.changes()


PACKAGES = {
    "src/app/__init__.py": "from .core.tools import hammer\n",
    "src/app/core/__init__.py": "",
    "src/app/core/tools.py": (
        "from __future__ import annotations\n\nimport os\nfrom typing import Any, Dict\n\nfrom . import nails\n\n"
        '__all__ = ["hammer", "saw"]\n\nDEPTH = 3\n\n\n# Hits.\ndef hammer(what: Dict[str, int], /, hard: bool = True, '
        "*, times: int = 1) -> None:  # on the head\n    return nails.drive(what, os.sep, hard, times)\n\n\n"
        "def saw(x: Any) -> None:\n    return x\n"
    ),
    "src/app/core/nails.py": "def drive(*args):\n    return args\n",
    "src/app/use.py": (
        "from app.core import tools\nfrom app.core.tools import (\n    hammer,\n    saw,\n)\n\n\ndef go():\n"
        "    saw(1)\n    tools.hammer({}, False, times=2)\n    return hammer({}, hard=False)\n"
    ),
    "tests/test_use.py": (
        "from unittest import mock\n\nfrom app.core import tools\n\n\ndef test_go():\n"
        '    with mock.patch("app.core.tools.hammer"):\n        tools.hammer({}, *[True])\n'
    ),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory):
    return workspace_of(tmp_path_factory.mktemp("packages"), PACKAGES)


@pytest.mark.slow
async def test_a_move_changes_nothing_but_what_it_asks_for(packages):
    async with opened(packages) as tools:
        await tools("move_symbol", name="hammer", to_path="src/app/core/nails.py", path="src/app/core/tools.py")
        assert text(tools, "src/app/core/tools.py").startswith(
            "from __future__ import annotations\n\nfrom typing import Any\n\n\n"
            '__all__ = ["saw"]\n\nDEPTH = 3\n\n\ndef saw(x: Any) -> None:'
        )
        nails = text(tools, "src/app/core/nails.py")
        assert nails.startswith("import os\nfrom typing import Dict\nfrom . import nails\n")
        assert nails.index("def drive") < nails.index("# Hits.\ndef hammer(what: Dict[str, int], /, hard")
        use = text(tools, "src/app/use.py")
        assert "from app.core.tools import (\n    saw,\n)\nfrom app.core.nails import hammer\n" in use
        assert "    nails.hammer({}, False, times=2)\n" in use  # a test patches it in its module
        assert text(tools, "src/app/__init__.py") == "from .core.nails import hammer\n"
        assert 'mock.patch("app.core.nails.hammer")' in text(tools, "tests/test_use.py")


@pytest.mark.slow
async def test_a_constant_moves_and_what_would_import_in_a_circle_does_not(packages):
    async with opened(packages) as tools:
        await tools("move_symbol", name="DEPTH", to_path="src/app/depths.py", path="src/app/core/tools.py")
        assert text(tools, "src/app/depths.py") == "DEPTH = 3\n"
        await tools("create_file", path="src/app/a.py", content="X = 1\n\n\ndef f():\n    return X\n\n\nY = f()\n")
        assert "uses X from src/app/a.py" in await refusal(
            tools, "move_symbol", name="f", to_path="src/app/b.py", path="src/app/a.py"
        )


@pytest.mark.slow
@pytest.mark.parametrize("new", ["src/app/core/kit.py", "src/app/kit.py"])
async def test_imports_follow_a_module_to_its_new_path(packages, new):
    async with opened(packages) as tools:
        await tools("move_file", path="src/app/core/tools.py", new_path=new)
        module = new.removeprefix("src/").removesuffix(".py").replace("/", ".")
        assert text(tools, "src/app/__init__.py") == f"from .{module.removeprefix('app.')} import hammer\n"
        assert f"from {module} import (\n    hammer," in text(tools, "src/app/use.py")
        assert "    kit.hammer({}, False" in text(tools, "src/app/use.py")
        assert f'mock.patch("{module}.hammer")' in text(tools, "tests/test_use.py")
        assert f"from {module.rpartition('.')[0]} import kit\n" in text(tools, "tests/test_use.py")
        assert ("from . import nails" in text(tools, new)) == ("core" in new)


@pytest.mark.slow
async def test_a_signature_changes_in_place_and_calls_that_are_not_sure_are_listed(packages):
    async with opened(packages) as tools:
        await tools("replace_text", path="src/app/core/tools.py", old="os.sep, hard, times", new="os.sep, times")
        done = await tools("change_signature", name="hammer", remove=["hard"], add=[{"name": "softly", "default": "0"}])
        head = "def hammer(what: Dict[str, int], /, *, times: int = 1, softly=0) -> None:  # on the head"
        assert head in text(tools, "src/app/core/tools.py")
        assert "tools.hammer({}, times=2)" in text(tools, "src/app/use.py")
        assert "return hammer({})" in text(tools, "src/app/use.py")
        assert [row["path"] for row in done.data["unsure"]] == ["tests/test_use.py"]


@pytest.mark.slow
async def test_parameters_change_places_with_their_arguments(app):
    async with opened(app) as tools:
        await tools(
            "create_file", path="app/pair.py", content="def pair(a, b=1, c=2):\n    return a, b, c\n\n\npair(1, 2)\n"
        )
        await tools("change_signature", name="pair", order=["c", "b"])
        assert text(tools, "app/pair.py") == "def pair(a, c=2, b=1):\n    return a, b, c\n\n\npair(1, b=2)\n"


@pytest.mark.slow
async def test_a_name_is_changed_everywhere_when_that_is_asked_for(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="Base.run", new_name="start", everywhere=True)
        assert text(tools, "README.md") == "Call `price` and `Base.start`.\n" and not done.data["unsure"]
        assert "job.start(1)" in text(tools, "app/other.py")


@pytest.mark.slow
async def test_overloads_change_together_and_reexports_stay_explicit(app):
    async with opened(app) as tools:
        code = (
            "from __future__ import annotations\n\nfrom typing import overload\n\n\n@overload\n"
            "def pick(a: int, sep: str) -> int: ...\n@overload\ndef pick(a: str, sep: str) -> str: ...\n"
            "def pick(a, sep):\n    return sep\n\n\nclass Kept:\n    pass\n"
        )
        await tools("create_file", path="app/kit.py", content=code)
        await tools("create_file", path="app/public.py", content="from app.kit import Kept as Kept\n")
        await tools("create_file", path="app/star.py", content="from app.kit import *\n\nprint(Kept)\n")
        await tools("create_file", path="app/test_kit.py", content='CODE = """\nfrom app.kit import pick\n"""\n')
        done = await tools("change_signature", name="pick", path="app/kit.py", rename={"sep": "glue"})
        assert text(tools, "app/kit.py").count("glue: str") == 2 and "return glue" in text(tools, "app/kit.py")
        await tools("move_symbol", name="Kept", to_path="app/kept.py", path="app/kit.py")
        assert text(tools, "app/public.py") == "from app.kept import Kept as Kept\n"
        assert "from app.kept import Kept\n" in text(tools, "app/star.py")
        assert text(tools, "app/kept.py") == "from __future__ import annotations\n\n\nclass Kept:\n    pass\n"
        done = await tools("rename_symbol", name="pick", new_name="choose", path="app/kit.py")
        assert [row["path"] for row in done.data["unsure"]] == ["app/test_kit.py"]
