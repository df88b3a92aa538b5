"""Definitions are moved between Python modules with their imports and those of their users."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import carried_out, texts, workspace_of

from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": 'from .tools import Reader as Reader, load\n\n__all__ = ["Reader", "load"]\n',
    "pkg/tools.py": '''"""Tools."""

from __future__ import annotations

import json
import os.path
from typing import TYPE_CHECKING

from . import paths
from .base import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .other import Thing

__all__ = ["Reader", "load", "stay"]

LIMIT = 3


# Loads.
def load(path: str) -> Iterator[Thing]:
    """Load with :func:`load`."""
    return json.loads(paths.read(os.path.join(path)))


class Reader(Base):
    def read(self):
        return stay(LIMIT)


def stay(count):
    return [json, count]


def alone():
    return os.path.join("a")
''',
    "pkg/base.py": "import re\n\n\nclass Base:\n    word = re.compile('x')\n",
    "pkg/paths.py": "__all__ = ['read']\n\n\ndef read(path): ...\n",
    "pkg/other.py": "from pkg import tools\nfrom pkg.tools import alone as lone, stay\n\n\nclass Thing:\n"
    "    def go(self):\n        return tools.load('x'), lone(), stay(1)\n\n\n"
    'if __name__ == "__main__":\n    Thing().go()\n',
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "import pkg.tools\n\n\ndef deep():\n    from ..tools import load, stay\n\n"
    "    return load, stay, pkg.tools.alone()\n",
    "tests/test_tools.py": "from unittest import mock\n\nfrom pkg.tools import alone, stay\n\n\n"
    '@mock.patch("pkg.tools.alone")\ndef test_alone(fake):\n    assert alone() and stay(1)\n',
    "docs/api.rst": ".. autofunction:: pkg.tools.alone\n\nSee :func:`pkg.tools.alone`.\n",
    "a.py": "def two(): ...\n\n\nSIZE = 1\n",
    "b.py": "import a\n\ntwo = 1\n\n\ndef grow():\n    a.SIZE = 2\n",
    "win.py": "import sys\n\nassert sys.platform == 'win32'\n",
    "types.py": "from b import grow as TracebackType\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("move"), FILES)


def test_a_function_is_moved_with_what_it_needs(repo: Workspace) -> None:
    new = texts(carried_out(repo, "move", "load", new="pkg/paths.py"))
    assert new["pkg/paths.py"] == (
        "from __future__ import annotations\n\nimport json\nimport os.path\nfrom typing import TYPE_CHECKING\n"
        "\nif TYPE_CHECKING:\n    from collections.abc import Iterator\n    from .other import Thing\n\n"
        "__all__ = ['read', 'load']\n\n\ndef read(path): ...\n\n\n# Loads.\ndef load(path: str) -> Iterator[Thing]:\n"
        '    """Load with :func:`load`."""\n'
        "    return json.loads(read(os.path.join(path)))\n"
    )
    assert new["pkg/__init__.py"].startswith("from .paths import load\nfrom .tools import Reader as Reader\n")
    assert "import os.path" in new["pkg/tools.py"] and "import json" in new["pkg/tools.py"]
    assert "TYPE_CHECKING" not in new["pkg/tools.py"]
    assert '"load"' not in new["pkg/tools.py"] and "from . import paths" not in new["pkg/tools.py"]
    assert "from pkg import paths\nfrom pkg.tools import" in new["pkg/other.py"]
    assert "return paths.load('x'), lone()" in new["pkg/other.py"]
    assert "    from ..paths import load\n    from ..tools import stay\n" in new["pkg/sub/deep.py"]


def test_all_users_follow_also_tests_and_documents(repo: Workspace) -> None:
    new = texts(carried_out(repo, "move", "alone", new="pkg.other"))
    assert new["pkg/other.py"] == FILES["pkg/other.py"].replace(
        "from pkg import tools\nfrom pkg.tools import alone as lone, stay\n",
        "import os.path\n\nfrom pkg import tools\nfrom pkg.tools import stay\n",
    ).replace("lone()", "alone()").replace("if __name__", 'def alone():\n    return os.path.join("a")\n\n\nif __name__')
    assert new["tests/test_tools.py"] == FILES["tests/test_tools.py"].replace(
        "from pkg.tools import alone, stay\n", "from pkg.other import alone\nfrom pkg.tools import stay\n"
    ).replace('"pkg.tools.alone"', '"pkg.other.alone"')
    assert new["docs/api.rst"] == FILES["docs/api.rst"].replace("pkg.tools.alone", "pkg.other.alone")
    assert new["pkg/sub/deep.py"].startswith("import pkg.other\n\n\n")
    assert "pkg.other.alone()" in new["pkg/sub/deep.py"]
    assert new["pkg/tools.py"] == FILES["pkg/tools.py"].replace('\n\ndef alone():\n    return os.path.join("a")\n', "")


def test_a_new_module_gets_the_imports(repo: Workspace) -> None:
    new = texts(carried_out(repo, "move", "stay, LIMIT", new="pkg/limits.py", create="yes"))
    assert new["pkg/limits.py"] == (
        "from __future__ import annotations\n\nimport json\n\nLIMIT = 3\n\n\n"
        "def stay(count):\n    return [json, count]\n"
    )
    assert "from .limits import LIMIT, stay\n" in new["pkg/tools.py"]
    new = texts(carried_out(repo, "move", "alone", new="pkg/lone.py", create="yes", reexport="yes"))
    assert set(new) == {
        "pkg/lone.py",
        "pkg/tools.py",
        "pkg/other.py",
        "pkg/sub/deep.py",
        "tests/test_tools.py",
        "docs/api.rst",
    }
    assert "from .lone import alone as alone\n" in new["pkg/tools.py"]


@pytest.mark.parametrize(
    ("name", "new", "said"),
    [
        ("load", "pkg/nothing.py", "no file"),
        ("load", "pkg/tools.py", "already"),
        ("a.two", "b.py", "already means"),
        ("SIZE", "types.py", "b.py:7"),
        ("a.two", "win.py", "line 3"),
    ],
)
def test_what_could_not_be_imported_is_refused(repo: Workspace, name: str, new: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        carried_out(repo, "move", name, new=new)


def test_imports_that_others_use_stay(tmp_path: Path) -> None:
    text = (
        '"""Uses json."""\n\nimport json\nimport os\nimport sys\nfrom typing import TYPE_CHECKING\n\n'
        "if TYPE_CHECKING:\n    if sys.version_info > (3, 12):\n        from a import B\n"
        "    # Or else:\n    from c import D\n"
        "\n\ndef f():\n    return json, os\n\n\ndef g(b: 'B', d: 'D'): ...\n"
    )
    files: dict[str, str | bytes] = {"m.py": text, "n.py": "x = 1\n", "o.py": "import m\n\nm.os.path\n"}
    new = texts(carried_out(workspace_of(tmp_path, files), "move", "f", new="n.py"))["m.py"]
    assert new == text.replace("import json\n", "").replace("def f():\n    return json, os\n\n\n", "")


def test_a_module_that_sets_the_condition_for_type_checkers_itself_needs_no_import_of_it(tmp_path: Path) -> None:
    head = "from __future__ import annotations\n\nTYPE_CHECKING = False\n\nif TYPE_CHECKING:\n"
    files: dict[str, str | bytes] = {
        "m.py": f"{head}    from collections.abc import Sequence\n\n\ndef f(b: Sequence):\n    return b\n",
        "n.py": f"{head}    from collections.abc import Mapping\n\n\ndef g(b: Mapping):\n    return b\n",
    }
    new = texts(carried_out(workspace_of(tmp_path, files), "move", "f", new="n.py"))["n.py"]
    assert new.startswith(
        f"{head}    from collections.abc import Mapping\n    from collections.abc import Sequence\n\n\ndef g"
    )
    assert "from typing" not in new


def test_a_circle_through_a_module_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "p/__init__.py": "from . import one\n",
        "p/one.py": "FLAG = 1\n\n\ndef pipe(): ...\n",
        "p/two.py": "from . import one\n\n\nclass Two:\n    made = one.pipe()\n",
        "p/three.py": "from .two import Two\n",
        "p/four.py": "from . import two\n\n\ndef size():\n    return LIMIT\n\n\nLIMIT = 1\n",
        "tests/test_four.py": "from p import four\n\n\ndef test_four():\n    four.LIMIT = 2\n",
    }
    repo = workspace_of(tmp_path, files)
    with pytest.raises(GenerationFailed, match="circular"):
        carried_out(repo, "move", "FLAG", new="p/three.py", reexport="yes")
    assert "p/three.py" in texts(carried_out(repo, "move", "FLAG", new="p/three.py"))
    with pytest.raises(GenerationFailed, match="test_four"):
        carried_out(repo, "move", "size", new="p/three.py")


def test_a_circle_is_refused(repo: Workspace) -> None:
    assert "circular" not in texts(carried_out(repo, "move", "Reader", new="pkg/base.py"))
    with pytest.raises(GenerationFailed, match="circular"):
        carried_out(repo, "move", "Reader", new="pkg/base.py", reexport="yes")


def test_line_ends_stay(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.py": b"import re\r\n\r\n\r\ndef f():\r\n    return re\r\n",
        "b.py": b"x = 1\r\n",
    }
    new = texts(carried_out(workspace_of(tmp_path, files), "move", "f", new="b.py"))
    assert new == {"a.py": "", "b.py": "import re\r\n\r\nx = 1\r\n\r\n\r\ndef f():\r\n    return re\r\n"}


SHOWN = """Use it so::

    >>> from pkg.tools import load
    >>> from pkg.tools import load, stay
    >>> from elsewhere import load
    >>> from pkg.tools import stay
"""


def test_imports_shown_in_documents_follow(tmp_path):
    files = {
        "pkg/__init__.py": "",
        "pkg/tools.py": "def load():\n    return 1\n\n\ndef stay():\n    return 2\n",
        "pkg/other.py": "LIMIT = 1\n",
        "docs/use.rst": SHOWN,
        "CHANGES.rst": "Added ``from pkg.tools import load``:\n\n    from pkg.tools import load\n",
    }
    outcome = carried_out(workspace_of(tmp_path, files), "move", "load", new="pkg/other.py")
    assert texts(outcome)["docs/use.rst"].splitlines()[2:] == [
        "    >>> from pkg.other import load",
        "    >>> from pkg.tools import stay",
        "    >>> from pkg.other import load",
        "    >>> from elsewhere import load",
        "    >>> from pkg.tools import stay",
    ]
    assert "CHANGES.rst" not in texts(outcome)


LAZY = {
    "pkg/__init__.py": """from typing import TYPE_CHECKING

from .lazy import lazy_import

__all__ = ["Reader", "Writer"]

if TYPE_CHECKING:
    from .tools import Reader, Writer
else:
    lazy_import(
        globals(),
        aliases={
            "Reader": ".tools",
            "Writer": ".tools",
        },
        groups={"tools": ["Reader", "Writer"]},
        titles={"Reader": "one that reads"},
    )
""",
    "pkg/lazy.py": "def lazy_import(names, aliases, groups, titles):\n    return names\n",
    "pkg/tools.py": "class Reader:\n    pass\n\n\nclass Writer:\n    pass\n",
    "pkg/other.py": "LIMIT = 1\n",
}


def test_names_in_a_table_of_modules_are_renamed(tmp_path):
    outcome = carried_out(workspace_of(tmp_path, LAZY), "rename", "Reader", new="Scanner")
    text = texts(outcome)["pkg/__init__.py"]
    assert '"Scanner": ".tools"' in text and '"tools": ["Scanner", "Writer"]' in text
    assert '"Reader": "one that reads"' in text
    assert [r.text for r in outcome.open_references] == ['titles={"Reader": "one that reads"},']


def test_a_moved_definition_has_its_new_module_in_the_table(tmp_path):
    outcome = carried_out(workspace_of(tmp_path, LAZY), "move", "Reader", new="pkg/other.py")
    text = texts(outcome)["pkg/__init__.py"]
    assert '"Reader": ".other"' in text and '"Writer": ".tools"' in text
    assert 'groups={"tools": ["Reader", "Writer"]},' in [r.text for r in outcome.open_references]


def test_neighbours_that_share_one_blank_line_are_moved_together(tmp_path):
    neighbours = "A =    1, 2\nB = A + (3,)\n\ndef one():\n    return A\n\ndef two():\n    return B\n"
    files = {
        "pkg/__init__.py": "",
        "pkg/tools.py": f'"""Tools."""\n\n{neighbours}\n\ndef stay():\n    return 3\n',
    }
    outcome = carried_out(workspace_of(tmp_path, files), "move", "A, B, one, two", new="pkg/new.py", create="yes")
    assert texts(outcome)["pkg/tools.py"] == '"""Tools."""\n\n\ndef stay():\n    return 3\n'
    compile(texts(outcome)["pkg/new.py"], "new.py", "exec")
