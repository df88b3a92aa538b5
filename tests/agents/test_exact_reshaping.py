"""How parameters are passed is changed with their callers; what isn't certain is left to the user."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import carried_out, changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.outcome import EditOutcome
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": "from .text import wrap as wrap\n",
    "pkg/text.py": """LIMIT = 3


def wrap(text, width=80, indent=LIMIT, *, fill=" "):
    return text, width, indent, fill


def join(first, second, third, *more):
    return first, second, third, more


def spread(
    text,
    width=1,  # in columns
): ...


class Box:
    def __init__(self, size, depth=0):
        self.size = size

    def put(self, item, where="top", force=False):
        return self.put(item, "low", True)


class Crate(Box):
    def put(self, item, where="top", force=False):
        return super().put(item, where, force=force)


class Bag(Box):
    def put(self, item):
        return item
""",
    "pkg/text.pyi": "def wrap(text: str, width: int = ..., indent: int = ..., *, fill: str = ...) -> tuple: ...\n",
    "pkg/use.py": """from pkg import wrap
from pkg.text import Box, Crate, join, spread


def use(values, options, crate: Crate):
    wrap("a")
    wrap("a", 3)
    wrap("a", 3, indent=2)
    wrap(width=1, text="b")
    wrap(wrap("a", 1), 2, 3)
    wrap(*values)
    wrap("a", **options)
    map(wrap, values)
    join(1, 2, 3)
    join(1, 2, 3, 4)
    spread(
        "x",
        2,
    )
    Box(1, 2)
    crate.put(1, "low")
    crate.put(1, force=True)
""",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("reshape"), FILES)


def task(kind: str, name: str, place: str, **parts: str) -> tuple[tuple[str, str, str], dict[str, str]]:
    return (kind, name, place), parts


def done(repo: Workspace, wanted: tuple[tuple[str, str, str], dict[str, str]]) -> EditOutcome:
    return carried_out(repo, *wanted[0], **wanted[1])


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        (
            task("keyword_only", "indent", "wrap"),
            [
                'def wrap(text, width=80, *, indent=LIMIT, fill=" "):',
                'wrap(wrap("a", 1), 2, indent=3)',
                "def wrap(text: str, width: int = ..., *, indent: int = ..., fill: str = ...) -> tuple: ...",
            ],
        ),
        (
            task("keyword_only", "width, indent", "wrap"),
            [
                'def wrap(text, *, width=80, indent=LIMIT, fill=" "):',
                'wrap("a", width=3)',
                'wrap("a", width=3, indent=2)',
                'wrap(wrap("a", width=1), width=2, indent=3)',
                "def wrap(text: str, *, width: int = ..., indent: int = ..., fill: str = ...) -> tuple: ...",
            ],
        ),
        (
            task("keyword_only", "where", "Box.put"),
            [
                'def put(self, item, force=False, *, where="top"):',
                'return self.put(item, where="low", force=True)',
                'def put(self, item, force=False, *, where="top"):',
                "return super().put(item, where=where, force=force)",
                'crate.put(1, where="low")',
            ],
        ),
        (task("keyword_only", "depth", "Box"), ["def __init__(self, size, *, depth=0):", "Box(1, depth=2)"]),
        (task("keyword_only", "width", "spread"), ["*,", "width=2,"]),
        (
            task("positional_only", "text and width", "wrap"),
            [
                'def wrap(text, width=80, /, indent=LIMIT, *, fill=" "):',
                'wrap("b", 1)',
                "def wrap(text: str, width: int = ..., /, indent: int = ..., *, fill: str = ...) -> tuple: ...",
            ],
        ),
        (
            task("require_parameter", "width", "wrap", new="72"),
            [
                'def wrap(text, width, indent=LIMIT, *, fill=" "):',
                'wrap("a", width=72)',
                "def wrap(text: str, width: int, indent: int = ..., *, fill: str = ...) -> tuple: ...",
            ],
        ),
        (
            task("require_parameter", "fill", "wrap", new="FILL"),
            [
                "def wrap(text, width=80, indent=LIMIT, *, fill):",
                'wrap("a", fill=FILL)',
                'wrap("a", 3, fill=FILL)',
                'wrap("a", 3, indent=2, fill=FILL)',
                'wrap(width=1, text="b", fill=FILL)',
                'wrap(wrap("a", 1, fill=FILL), 2, 3, fill=FILL)',
                "def wrap(text: str, width: int = ..., indent: int = ..., *, fill: str) -> tuple: ...",
            ],
        ),
        (
            task("reorder_parameter", "indent", "wrap", position="before:width"),
            [
                'def wrap(text, indent=LIMIT, width=80, *, fill=" "):',
                'wrap("a", width=3)',
                'wrap("a", width=3, indent=2)',
                'wrap(wrap("a", width=1), 3, 2)',
                "def wrap(text: str, indent: int = ..., width: int = ..., *, fill: str = ...) -> tuple: ...",
            ],
        ),
        (
            task("reorder_parameter", "third", "join", position="first"),
            ["def join(third, first, second, *more):", "join(3, 1, 2)", "join(3, 1, 2, 4)"],
        ),
        (
            task("reorder_parameter", "where", "Crate.put", position="last"),
            [
                'def put(self, item, force=False, where="top"):',
                'return self.put(item, True, "low")',
                'def put(self, item, force=False, where="top"):',
                "return super().put(item, where=where, force=force)",
                'crate.put(1, where="low")',
            ],
        ),
    ],
)
def test_callers_are_adapted(repo: Workspace, wanted: tuple, lines: list[str]) -> None:
    assert sorted(line[1:] for line in changed_lines(done(repo, wanted)) if line[0] == "+") == sorted(lines)


def test_what_is_not_certain_is_left_open(repo: Workspace) -> None:
    open_ = [o.text for o in done(repo, task("keyword_only", "indent", "wrap")).open_references]
    assert open_ == ["wrap(*values)", "map(wrap, values)"]
    open_ = [o.text for o in done(repo, task("require_parameter", "width", "wrap", new="1")).open_references]
    assert open_ == ["wrap(*values)", 'wrap("a", **options)', "map(wrap, values)"]
    open_ = [o.text for o in done(repo, task("keyword_only", "force", "Box.put")).open_references]
    assert open_ == ["def put(self, item):"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (task("keyword_only", "wide", "wrap"), "width"),
        (task("keyword_only", "fill", "wrap"), "passed so already"),
        (task("positional_only", "fill", "wrap"), "only be passed by name"),
        (task("require_parameter", "indent", "wrap", new="1"), "width"),
        (task("reorder_parameter", "width", "wrap", position="first"), "can't stand there"),
        (task("reorder_parameter", "width", "wrap", position="after:nothing"), "nothing"),
    ],
)
def test_what_cannot_be_called_is_refused(repo: Workspace, wanted: tuple, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        done(repo, wanted)


def test_an_old_default_that_means_nothing_to_callers_is_asked_for(tmp_path: Path) -> None:
    files = {"a.py": "WIDE = 3\n\n\ndef fit(text, width=WIDE): ...\n", "b.py": "from a import fit\n\nfit('x')\n"}
    repo = workspace_of(tmp_path, files)
    with pytest.raises(GenerationFailed, match="WIDE"):
        done(repo, task("require_parameter", "width", "fit"))


def test_all_parameters_in_a_listed_order(tmp_path):
    files = {
        "a.py": "def build_path(user, word, host, port, quote=False):\n    return host\n",
        "b.py": "from a import build_path\n\nbuild_path('u', 'w', 'h', 1)\nbuild_path('u', 'w', port=1, host='h')\n",
    }
    task = "refactor: reorder parameters of build_path\n\nNew order: host, port, user, word, quote. Callers follow."
    new = texts(edited(workspace_of(tmp_path, files), task))
    assert "def build_path(host, port, user, word, quote=False):" in new["a.py"]
    assert "build_path('h', 1, 'u', 'w')\nbuild_path(" in new["b.py"]
    assert "user='u', word='w', port=1, host='h'" in new["b.py"]
