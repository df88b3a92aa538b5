"""Imports in order: what nothing uses goes, unless somebody needs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import workspace_of
from tools.test_tools import opened, refusal

PURE = (
    "import os\nfrom dataclasses import dataclass\n\nLIMIT = 3\n\n\n@dataclass\nclass Box:\n    size: int\n"
    "\n\ndef one():\n    return os.sep\n\n\ndef two():\n    return 2\n"
)
REGISTER = "from registry import register\n\n\n@register\ndef plugin():\n    return 1\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("import sys\nimport os\n\nprint(os.sep)\n", "import os\n\nprint(os.sep)\n"),
        ("import os, sys\n\nprint(os.sep)\n", "import os\n\nprint(os.sep)\n"),
        ("from pure import (\n    one,\n    two,\n)\n\none()\n", "from pure import (\n    one,\n)\n\none()\n"),
        ("from pure import one\n\nx = 1\n", "x = 1\n"),
        ("import pure\n\nx = 1\n", "x = 1\n"),
        ("from outside import one, two\n\none()\n", "from outside import one\n\none()\n"),
        ("def f():\n    import re\n    return 1\n", "def f():\n    return 1\n"),
        ("def f():\n    import re\n", "def f():\n    pass\n"),
        (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pure import Box\n"
            "    from models import Gone\n\n\n"
            "def f(x: 'Box') -> None: ...\n",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pure import Box\n\n\n"
            "def f(x: 'Box') -> None: ...\n",
        ),
        (
            "import sys\n\nfrom pure import one, two\n\n__all__ = ['one']\n",
            "from pure import one\n\n__all__ = ['one']\n",
        ),
        (
            "from plugins import plugin, other\nimport sys\n\nplugin()\n",
            "from plugins import plugin\n\nplugin()\n",
        ),
    ],
)
@pytest.mark.sampled(4)
async def test_what_nobody_needs_goes(tmp_path: Path, text: str, after: str):
    files = {"a.py": text, "pure.py": PURE, "plugins.py": REGISTER, "models.py": "class Gone:\n    pass\n"}
    async with opened(workspace_of(tmp_path, files)) as tools:
        await tools("organize_imports", path="a.py")
        assert tools.copy.text("a.py") == after


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "others", "why"),
    [
        ("import plugins", {}, "plugins may have side effects"),
        ("from plugins import plugin", {}, "plugins may have side effects"),
        ("import loads", {"loads.py": "import plugins\n"}, "loads may have side effects"),
        ("import outside", {}, "outside may have side effects"),
        (
            "import models",
            {"models.py": "from base import Base\n\n\nclass User(Base):\n    pass\n"},
            "may have side effects",
        ),
        ("import pathed", {"pathed.py": "import sys\n\nsys.path[0] = 'x'\n"}, "may have side effects"),
        ("import pure  # registers the shapes", {}, "comment"),
        ("from pure import one", {"b.py": "from a import one\n\none()\n"}, "b.py:1 imports it"),
        ("from pure import one", {"b.py": "import a\n\na.one()\n"}, "b.py:3 imports it"),
        (
            "from fixtures import ledger",
            {"fixtures.py": "import pytest\n\n\n@pytest.fixture\ndef ledger():\n    return []\n"},
            "as a fixture",
        ),
    ],
)
@pytest.mark.sampled(4)
async def test_what_somebody_needs_stays_and_it_is_said_why(
    tmp_path: Path, line: str, others: dict[str, str], why: str
):
    files = {"a.py": f"import sys\n{line}\n\nprint(1)\n", "pure.py": PURE, "plugins.py": REGISTER, **others}
    async with opened(workspace_of(tmp_path, files)) as tools:
        done = await tools("organize_imports", path="a.py")
        assert (tools.copy.text("a.py") or "").strip() == f"{line}\n\nprint(1)"
        assert why in done.text
        assert line.split()[1].split(",")[0] in done.text or "from" in line


async def test_what_is_silenced_is_not_even_said(tmp_path: Path):
    text = "import readline  # noqa: F401\n\nprint(1)\n"
    async with opened(workspace_of(tmp_path, {"a.py": text})) as tools:
        await refusal(tools, "organize_imports", path="a.py")
        assert tools.copy.text("a.py") == text
