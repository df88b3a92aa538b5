"""Signatures that are changed with their callers, and modules that are renamed with their imports."""

from __future__ import annotations

import re

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.python.named_receivers import is_named_after
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": 'from .net import Client as Client, fetch as fetch\nfrom . import net\n\n__all__ = ["net"]\n',
    "pkg/net.py": '''"""Net."""


def fetch(url, retries=3, *args, verbose=False, **options):
    """Fetch.

    :param url: where.
    :param retries: how often
        it is tried.
    """
    return url, retries


def idle(first, unused, last=1):
    """Idle.

    Args:
        first (int): one.
        unused (str): not
            used.
        last: the last.
    """
    return first + last


def named(width, height=1):
    return dict(locals())


class Client:
    def __init__(self, base, timeout=5):
        self.base = base
        self.timeout = timeout

    def get(self, path, raw=False):
        return self.send(path, raw=raw)

    def send(self, path, raw=False):
        return path, raw


class Slow(Client):
    def __init__(self, base):
        super().__init__(base, timeout=60)

    def get(self, path, raw=False):
        return super().get(path, raw=raw)
''',
    "pkg/use.py": """import pkg.net
from functools import partial

from pkg import Client, fetch
from pkg.net import fetch as f, idle


def main(opts):
    fetch("x", retries=2)
    f("x", 2)
    pkg.net.fetch(url="x", retries=1)
    partial(fetch, retries=9)
    fetch("x", **opts)
    idle(1, "b", last=2)
    idle(1, unused="b")
    idle(*opts)
    client = Client("x", timeout=1)
    client.get("p", raw=True)
    Client.get(client, "p", True)
    opts.make("x", retries=1)
""",
}
NET, USE = "pkg/net.py", "pkg/use.py"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("signatures"), FILES)


def test_a_parameter_is_renamed_with_keyword_arguments(repo: Workspace) -> None:
    outcome = edited(repo, "rename the parameter `retries` of fetch to `attempts` with its callers' keyword arguments")
    new = texts(outcome)
    net = new[NET]
    assert "def fetch(url, attempts=3, *args" in net and ":param attempts: how often" in net
    assert "return url, attempts" in net and "retries" not in net
    expected = FILES[USE].replace('x", retries=', 'x", attempts=').replace('make("x", attempts', 'make("x", retries')
    assert new[USE] == expected
    assert [o.text for o in outcome.open_references] == [
        "partial(fetch, retries=9)",
        'fetch("x", **opts)',
        'opts.make("x", retries=1)',
    ]


def test_a_parameter_is_renamed_in_overriding_methods(repo: Workspace) -> None:
    new = texts(edited(repo, "renomme le paramètre raw de Client.get en plain"))
    assert new[NET].count("def get(self, path, plain=False)") == 2
    assert "return self.send(path, raw=plain)" in new[NET] and "super().get(path, plain=plain)" in new[NET]
    assert 'client.get("p", plain=True)' in new[USE]


def test_a_parameter_of_a_constructor_is_renamed(repo: Workspace) -> None:
    new = texts(edited(repo, "rename parameter timeout of Client to limit"))
    assert "self.timeout = limit" in new[NET] and "super().__init__(base, limit=60)" in new[NET]
    assert 'Client("x", limit=1)' in new[USE]


@pytest.mark.parametrize(
    ("task", "old", "new"),
    [
        ("add a parameter `timeout=None` to fetch", "**options", "timeout=None, **options"),
        ("add an optional argument `timeout: float = 5` to fetch", "**options", "timeout: float = 5, **options"),
        ("add a `timeout` parameter with default None to idle", "last=1", "last=1, timeout=None"),
        ("ajoute le paramètre `timeout=None` à idle", "last=1", "last=1, timeout=None"),
    ],
)
def test_a_parameter_is_added(repo: Workspace, task: str, old: str, new: str) -> None:
    assert texts(edited(repo, task)) == {NET: FILES[NET].replace(old, new, 1)}


def test_a_parameter_is_removed_with_its_arguments(repo: Workspace) -> None:
    outcome = edited(repo, "remove the parameter unused from idle")
    new = texts(outcome)
    assert "def idle(first, last=1):" in new[NET]
    assert "        first (int): one.\n        last: the last.\n" in new[NET]
    assert "    idle(1, last=2)\n    idle(1)\n    idle(*opts)\n" in new[USE]
    assert [o.text for o in outcome.open_references] == ["idle(*opts)"]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("rename the parameter retry of fetch to attempts", "retries"),
        ("rename the parameter retries of fetch to url", "url"),
        ("add a parameter `url=None` to fetch", "already"),
        ("remove the parameter nothing from idle", "unused"),
        ("rename pkg/net.py to use.py", "exists"),
    ],
)
def test_what_cannot_be_done_says_why(repo: Workspace, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        exact_edit(task, repo)


@pytest.mark.parametrize(
    "task",
    [
        "remove the parameter retries from fetch",  # the body uses it
        "add a parameter `key` to fetch",  # what callers pass isn't said
        "remove the parameter height from named",  # it reads its names
        "add a verbose parameter to fetch that prints each step",
    ],
)
def test_what_needs_thought_is_left_to_the_model(repo: Workspace, task: str) -> None:
    assert exact_edit(task, repo) is None


def test_a_module_is_renamed_with_its_imports(repo: Workspace) -> None:
    outcome = edited(repo, "rename pkg/net.py to pkg/network.py")
    new = texts(outcome)
    assert [(c.path, c.change) for c in outcome.changes if c.change != "modified"] == [
        ("pkg/net.py", "deleted"),
        ("pkg/network.py", "added"),
    ]
    assert new["pkg/network.py"] == FILES[NET]
    assert new["pkg/__init__.py"] == FILES["pkg/__init__.py"].replace("net", "network")
    assert new[USE] == FILES[USE].replace("pkg.net", "pkg.network")


DOCUMENTED = {
    "pkg/__init__.py": "",
    "pkg/zip.py": """class Zipper:
    \"\"\"Zips.

    Args:
        level: how hard.
        size: from which.
    \"\"\"

    def __init__(self, app, level=9, size=500):
        self.size = size
        self.made = app, level


def log(text, level="info"):
    return text, level
""",
    "docs/zip.md": """# Zipper

    Middleware(Zipper, size=10, level=9)
    Zipper(app, level=9); print("a", level="b")

* `level` - how hard; `levels` is something else.

# Logging

`log` has a `level`, too.
""",
    "CHANGES.md": "Zipper(app, level=1) is new.\n",
}


def test_a_renamed_parameter_is_renamed_where_it_is_documented(tmp_path):
    outcome = edited(workspace_of(tmp_path, DOCUMENTED), "rename the parameter `level` of `Zipper` to `effort`")
    found = texts(outcome)
    assert "effort: how hard." in found["pkg/zip.py"] and 'def log(text, level="info")' in found["pkg/zip.py"]
    assert found["docs/zip.md"].splitlines()[2:6] == [
        "    Middleware(Zipper, size=10, effort=9)",
        '    Zipper(app, effort=9); print("a", level="b")',
        "",
        "* `effort` - how hard; `levels` is something else.",
    ]
    assert "`log` has a `level`, too." in found["docs/zip.md"]
    assert "CHANGES.md" not in found


def test_a_parameter_stays_in_a_section_about_another_function_with_it(tmp_path):
    files = {**DOCUMENTED, "docs/both.md": "# Zipper and log\n\n`log` and `Zipper` have a `level`.\n"}
    outcome = edited(workspace_of(tmp_path, files), "rename the parameter `level` of `Zipper` to `effort`")
    assert "docs/both.md" not in texts(outcome)
    assert "`log` and `Zipper` have a `level`." in [r.text for r in outcome.open_references]


def test_a_removed_parameter_goes_from_the_docstring_of_the_class(tmp_path):
    files = {"pkg/__init__.py": "", "pkg/zip.py": DOCUMENTED["pkg/zip.py"].replace("app, level\n", "app\n")}
    outcome = edited(workspace_of(tmp_path, files), "remove the unused parameter `level` of `Zipper`")
    assert "how hard" not in texts(outcome)["pkg/zip.py"]


OUTDATED = """import warnings
import zlib


class Zipper:
    def __init__(self, level=3, speed=None, fast=False):
        \"\"\"A zipper.

        :param level: how hard.
        :param speed: deprecated.

            .. deprecated:: 2
        \"\"\"
        if speed is not None:
            warnings.warn("speed is deprecated", DeprecationWarning)
            level = 9 - speed

        if fast:
            level = 1
        elif level > 9:
            level = 9
        self.level = level
"""


@pytest.mark.parametrize(
    "task", ["drop the deprecated speed parameter from Zipper", "remove the argument speed of Zipper"]
)
def test_what_only_runs_where_a_removed_parameter_is_given_goes_with_it(tmp_path, task: str) -> None:
    workspace = workspace_of(tmp_path, {"zip.py": OUTDATED})
    after = texts(edited(workspace, task))["zip.py"]
    head, _, tail = OUTDATED.partition("        if speed is not None:")
    head = (
        head.replace("import warnings\n", "")
        .replace(", speed=None", "")
        .replace("        :param speed: deprecated.\n\n            .. deprecated:: 2\n", "")
    )
    assert after == head + "        if fast:" + tail.partition("        if fast:")[2]


def test_a_removed_parameter_with_another_branch_is_left_to_the_model(tmp_path) -> None:
    workspace = workspace_of(tmp_path, {"zip.py": OUTDATED})
    assert exact_edit("remove the parameter fast of Zipper", workspace) is None


RECEIVERS = {
    "pkg/__init__.py": "",
    "pkg/stores.py": """class JobStore:
    def add(self, job, replace=False):
        return job, replace
""",
    "pkg/run.py": """def run(job_store, box, jobs):
    job_store.add(1, True)
    box.store.add(2, True)
    jobs.add(3, True)
    box.add(4, True)
    box.add(5)
    box.add(6, False, None)
    box.add(7, size=True)
""",
}


def test_a_call_follows_on_an_object_named_after_the_class(tmp_path):
    outcome = edited(workspace_of(tmp_path, RECEIVERS), "make replace of JobStore.add keyword-only")
    lines = texts(outcome)["pkg/run.py"].splitlines()
    assert [line.strip() for line in lines[1:]] == [
        "job_store.add(1, replace=True)",
        "box.store.add(2, replace=True)",
        "jobs.add(3, True)",
        "box.add(4, True)",
        "box.add(5)",
        "box.add(6, False, None)",
        "box.add(7, size=True)",
    ]
    assert [reference.text for reference in outcome.open_references] == ["jobs.add(3, True)", "box.add(4, True)"]
    assert any("box.store" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("task", "parameters", "left"),
    [
        ("make replace of JobStore.add required", "job, replace=None", ["box.add(5)"]),
        ("put replace of JobStore.add before job", "job, replace", ["jobs.add(3, True)", "box.add(4, True)"]),
        ("remove the parameter replace from JobStore.add", "job, replace", ["jobs.add(3, True)", "box.add(4, True)"]),
    ],
)
def test_calls_on_something_unknown_are_listed_where_they_would_change(tmp_path, task, parameters, left):
    store = f"class JobStore:\n    def add(self, {parameters}):\n        return job\n"
    runs = RECEIVERS["pkg/run.py"] if "required" in task else RECEIVERS["pkg/run.py"].replace("    box.add(5)\n", "")
    outcome = edited(workspace_of(tmp_path, {**RECEIVERS, "pkg/stores.py": store, "pkg/run.py": runs}), task)
    assert [reference.text for reference in outcome.open_references] == left


def test_an_object_that_may_be_of_another_class_is_left_open(tmp_path):
    files = {**RECEIVERS, "pkg/books.py": "class BookStore:\n    def add(self, book, replace):\n        return book\n"}
    outcome = edited(workspace_of(tmp_path, files), "make replace of JobStore.add keyword-only")
    assert "box.store.add(2, True)" in texts(outcome)["pkg/run.py"]
    assert "box.store.add(2, True)" in [reference.text for reference in outcome.open_references]


@pytest.mark.parametrize(
    ("receiver", "named"),
    [
        ("broker", True),
        ("self._broker", True),
        ("stubBroker", True),
        ("STUB_BROKER", True),
        ("brokers", False),
        ("ker", False),
        ("", False),
        ("stub", False),
    ],
)
def test_an_object_is_named_after_the_last_words_of_its_class(receiver, named):
    assert is_named_after(receiver, ["StubBroker"], []) is named
    assert not is_named_after(receiver, ["StubBroker"], ["Broker", "StubBroker"])


ELEMENTS = """from pkg.boxes import Box


class Shelf:
    def __init__(self, names, spare: list[Box], by_name: dict[str, Box]):
        self._all = tuple(Box() for name in names)
        self.spare = spare
        self.by_name = by_name

    def fill(self, n):
        one = self._all[n]
        one.put(1, True)
        for two in self.spare:
            two.put(2, True)
        for three in sorted(self._all):
            three.put(3, True)
        self.by_name["a"].put(4, True)
        for five in self.by_name.values():
            five.put(5, True)
        for key in self.by_name:
            key.put(6, True)
        self._all[1:].put(7, True)


FIRST = [Box(), Box()]
[each.put(8, True) for each in FIRST]
MIXED = [Box(), None, "b"]
[each.put(9, True) for each in MIXED]
"""


def test_calls_on_elements_of_a_collection_follow(tmp_path):
    boxes, other = (f"class {name}:\n    def put(self, x, hard):\n        return x\n" for name in ("Box", "Bag"))
    files = {"pkg/__init__.py": "", "pkg/boxes.py": boxes, "pkg/bags.py": other, "pkg/shelf.py": ELEMENTS}
    outcome = edited(workspace_of(tmp_path, files), "make hard of Box.put keyword-only")
    changed = re.findall(r"put\((\d), hard=True\)", texts(outcome)["pkg/shelf.py"])
    assert changed == ["1", "2", "3", "4", "5", "8"]
    assert [re.findall(r"\d", reference.text)[-1] for reference in outcome.open_references] == ["6", "7", "9"]
