"""Tools that change a definition and what depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.shop_workspace import offline, open_workspace
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


@pytest.fixture
def app(tmp_path: Path):
    for path, text in FILES.items():
        target = tmp_path / "app" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return open_workspace(tmp_path / "app", offline(tmp_path / "home"))


def text(tools: Toolbox, path: str) -> str:
    return tools.copy.text(path) or ""


async def test_a_method_is_renamed_in_its_hierarchy_and_documents_are_listed(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="Base.run", new_name="start")
        assert "def start(self, x)" in text(tools, "app/base.py")
        assert "def start" in text(tools, "app/child.py") and "super().start(x)" in text(tools, "app/child.py")
        assert "Child().start(price(" in text(tools, "app/use.py")
        assert [row["path"] for row in done.data["unsure"]] == ["app/other.py", "README.md"]


async def test_a_file_that_does_not_parse_is_named_and_left(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="price", new_name="cost", path="app/prices.py")
        assert done.data["unread"] == ["app/broken.py"] and "broken.py has a syntax error" in done.text
        assert "import cost" in text(tools, "app/use.py") and "cost(2, scale=3)" in text(tools, "app/use.py")


async def test_a_function_is_moved_and_imports_follow(app):
    async with opened(app) as tools:
        done = await tools("move_symbol", name="price", to_path="app/money.py", path="app/prices.py")
        assert "def price" in text(tools, "app/money.py") and "def price" not in text(tools, "app/prices.py")
        assert "app.money" in text(tools, "app/use.py")
        assert set(done.data["files"]) == {"app/money.py", "app/prices.py", "app/use.py"}
        assert (await tools("undo")).data == {"undone": 1} and not tools.copy.changes()


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
        assert "price(2, 3)" in text(tools, "app/use.py")
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


async def test_a_name_of_another_language_is_renamed_where_it_is_sure(app):
    async with opened(app) as tools:
        done = await tools("rename_symbol", name="total", new_name="sum_up")
        assert "function sum_up(" in text(tools, "web/cart.ts")
        assert "import { sum_up, MAX }" in text(tools, "web/page.ts") and "sum_up(MAX)" in text(tools, "web/page.ts")
        assert {row["line"] for row in done.data["unsure"]} == {2, 3}


async def test_imports_are_sorted_and_unused_ones_removed(app):
    async with opened(app) as tools:
        await tools("create_file", path="app/messy.py", content="import sys\nimport os\n\nprint(os.sep)\n")
        await tools("organize_imports", path="app/messy.py")
        assert text(tools, "app/messy.py") == "import os\n\nprint(os.sep)\n"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("rename_symbol", {"name": "run", "new_name": "go"}, "app/base.py:Base.run"),
        ("rename_symbol", {"name": "Base.run", "new_name": "close"}, "already"),
        ("rename_symbol", {"name": "Base.run", "new_name": "class"}, "can't be a name"),
        ("rename_symbol", {"name": "pirce", "new_name": "x"}, "price"),
        ("rename_symbol", {"name": "price", "new_name": "x", "path": "app/broken.py"}, "broken.py"),
        ("move_symbol", {"name": "Base.run", "to_path": "app/x.py"}, "top of a module"),
        ("move_symbol", {"name": "total", "to_path": "web/x.ts"}, "Python only"),
        ("change_signature", {"name": "price", "path": "app/prices.py", "remove": ["y"]}, "x, scale"),
        ("change_signature", {"name": "price", "path": "app/prices.py"}, "which parameters"),
        ("set_value", {"name": "name", "value": "x"}, "several".capitalize()),
        ("set_value", {"name": "NOPE", "value": "x"}, "Nothing here is called NOPE"),
        ("set_value", {"name": "RATE", "value": "(1"}, "not parse"),
        ("organize_imports", {"path": "README.md"}, "no Python file"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_nothing_changes(app, name, arguments, said):
    async with opened(app) as tools:
        assert said in await refusal(tools, name, **arguments)
        assert not tools.copy.changes()
