"""The query sets made from public repositories: what is read from answers, commits and documentation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets import commits
from bench.datasets.__main__ import Source, make, read_names
from bench.datasets.docstrings import stripped, summary_of
from bench.datasets.functions import functions_in
from bench.datasets.questions import LONGEST_RANGE, named_places
from bench.datasets.repository import Change
from bench.datasets.tracebacks import tracebacks
from repopilot.retrieval.query.stack_frames import frames

CART = """class Cart:
    limit = 3

    def add(self, item):
        if len(self.items) >= self.limit:
            raise ValueError("the cart holds no more items")
        self.items.append(item)

    def total(self):
        return sum(item.price for item in self.items)
"""
FILES = {
    "shop/cart.py": CART,
    "shop/orders/cart.py": "x = 1\n" * 400,
    "shop/main.py": "from shop.cart import Cart\n" * 20,
}


def places(answer: str) -> tuple[list[list], list[str]]:
    return named_places(answer, sorted(FILES), lambda path: FILES[path].split("\n"))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("`Cart.add` (lines 4-7 in `shop/cart.py`) raises.", [["shop/cart.py", 4, 7]]),
        ("In `shop/cart.py` (lines 4–7), `add` raises at line 6.", [["shop/cart.py", 4, 7], ["shop/cart.py", 6, 6]]),
        ("See shop/cart.py:9-10 and shop/main.py:3.", [["shop/cart.py", 9, 10], ["shop/main.py", 3, 3]]),
        ("`main.py` uses it, see lines 2, 4 and 6-7", [["shop/main.py", n, m] for n, m in ((2, 2), (4, 4), (6, 7))]),
        ("```4:7:shop/cart.py\ndef add(self, item):\n```", [["shop/cart.py", 4, 7]]),
        ("**Line 9**: `total` in ./shop/cart.py", [["shop/cart.py", 9, 9]]),
        ("`shop/cart.py`: `total` (lines 900-910)", []),
        ("`cart.py` has `def total` at line 9", [["shop/cart.py", 9, 9]]),
        ("`shop/main.py` calls it; in `shop/cart.py` too. `main.py`: `total` (line 10)", [["shop/cart.py", 10, 10]]),
    ],
)
def test_an_answer_names_lines_of_files(answer: str, gold: list[list]) -> None:
    assert places(answer)[0] == gold


def test_a_name_around_the_lines_tells_the_file() -> None:
    assert places("`shop/main.py`, then `shop/cart.py`. In `main.py` `add` (line 5) checks")[0] == [
        ["shop/cart.py", 5, 5]
    ]


def test_an_ambiguous_file_name_names_no_file() -> None:
    assert places("see `cart.py`") == ([], [])
    assert places("`shop/orders/cart.py`; see `cart.py` line 3") == (
        [["shop/orders/cart.py", 3, 3]],
        ["shop/orders/cart.py"],
    )


@pytest.mark.slow
@given(st.text("`shop/cart.py lines 0123456789-,:()\n", max_size=200))
def test_every_named_range_lies_in_its_file(answer: str) -> None:
    for path, first, last in places(answer)[0]:
        assert 1 <= first <= last <= len(FILES[path].split("\n"))
        assert last - first < LONGEST_RANGE


def change(subject: str, body: str = "", author: str = "Ada", paths: tuple[str, ...] = ("shop/cart.py",)) -> Change:
    return Change("0" * 40, 0, author, subject, body, paths)


@pytest.mark.parametrize(
    ("subject", "author", "wanted"),
    [
        ("Refuse items beyond the limit", "Ada", True),
        ("Fix totals (#12)", "Ada", False),
        ('Revert "Refuse items beyond the limit"', "Ada", False),
        ("Bump version to 2.1", "Ada", False),
        ("v2.1.0 is out now", "Ada", False),
        ("chore(deps): update all of them", "Ada", False),
        ("Change the way it works", "renovate[bot]", False),
    ],
)
def test_a_task_says_what_it_does(subject: str, author: str, wanted: bool) -> None:
    assert commits.is_task(change(subject, author=author)) is wanted


def test_a_query_has_no_trailers_and_no_links() -> None:
    body = "The limit is new.\n\nFixes #12\nCo-authored-by: Bea <b@example.org>\nhttps://example.org/pull/3"
    assert commits.query_of(change("Refuse items (#12)", body)) == "Refuse items\n\nThe limit is new."


def test_only_sources_of_the_tree_are_gold() -> None:
    paths = ("shop/cart.py", "tests/test_cart.py", "CHANGES.rst", "poetry.lock", "shop/new.py")
    assert commits.gold_files(change("Refuse items", paths=paths), FILES) == ["shop/cart.py"]
    many = ("shop/cart.py", *(f"shop/{n}.py" for n in range(commits.MOST_FILES)))
    assert commits.gold_files(change("Refuse items", paths=many), FILES) == []


def test_an_insertion_names_the_lines_around_it() -> None:
    diff = "@@ -3,2 +3 @@ def add\n-a\n-b\n+c\n@@ -9,0 +9,4 @@\n+d\n@@ -20 +24 @@\n-e\n+f"
    assert list(commits.hunks(diff)) == [(3, 4), (9, 10), (20, 20)]


DOCUMENTED = {
    "a.py": 'def add(a, b):\n    """Adds two of the numbers\n    up."""\n    return a + b\n',
    "a.go": "package a\n\n// Add adds two of the numbers up.\n//\n// Never.\nfunc Add(a, b int) int {\n\treturn b\n}\n",
    "a.rs": "/// Adds two of the numbers up.\n#[inline]\nfn add(a: u8) -> u8 {\n    a\n}\n",
    "a.js": "/**\n * Adds two of the numbers up.\n * @param {number} a\n */\nfunction add(a) {\n  return a\n}\n",
    "a.rb": "# Adds two of the numbers up.\ndef add(a)\n  a # kept\nend\n",
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documentation_leaves_and_lines_stay(name: str) -> None:
    text = DOCUMENTED[name]
    bare, (described,) = stripped(text, name)
    assert described.docstring.lower() == "adds two of the numbers up."
    assert "numbers" not in bare and bare.count("\n") == text.count("\n")
    assert all(not line.strip() or line == kept for line, kept in zip(bare.split("\n"), text.split("\n"), strict=True))
    (function,) = functions_in(name, bare)
    assert (described.line, described.last) == (function.first, function.last)


def test_the_summary_ends_before_tags() -> None:
    assert (
        summary_of(["/// <summary>", "/// Adds <c>a</c> up.", "/// </summary>", "/// <param/>"], None) == "Adds a up."
    )


def commit(root: Path, subject: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", subject], cwd=root, check=True)


@pytest.mark.slow
def test_a_repository_becomes_query_sets_twice_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "WANTED_COMMITS", 1)
    monkeypatch.setattr(commits, "LEAST_TASKS", 1)
    root = tmp_path / "clone"
    (root / "shop").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "shop/cart.py").write_text(CART)
    commit(root, "Add a cart")
    (root / "shop/cart.py").write_text("# the cart\n" + CART.replace("no more", "only three"))
    commit(root, "Say how many items it holds")
    source = Source("train", "ada", "shop", "")
    counts = [make(source, root / ".git", tmp_path / name / "shop", None) for name in ("one", "two")]
    assert counts[0] == counts[1] == {"history": 1, "tasks": 1, "docstrings": 0, "tracebacks": 1}
    for name in ("tasks", "tracebacks", "history"):
        assert len({(tmp_path / run / f"shop/{name}.jsonl").read_text() for run in ("one", "two")}) == 1
    (task,) = [json.loads(line) for line in (tmp_path / "one/shop/tasks.jsonl").read_text().splitlines()]
    assert task["query"] == "Say how many items it holds"
    assert task["gold"] == [["shop/cart.py", 0, 0]] and task["ranges"] == [["shop/cart.py", 6, 6]]


def test_a_trace_is_read_back_with_the_frame_at_fault(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/cart.py").write_text(CART)
    (row,) = [row for row in tracebacks(tmp_path) if row["gold"] == [["shop/cart.py", 4, 7]]]
    assert "the cart holds no more items" in row["query"] and "ValueError" in row["query"]
    assert any(
        frame.path.replace("\\", "/").endswith("cart.py") and frame.function == "add" for frame in frames(row["query"])
    )


@pytest.mark.slow
def test_a_list_of_repositories_has_comments() -> None:
    (source,) = read_names("# set  owner/name  commit\ntrain  ada/shop  -  # small\n")
    assert source == Source("train", "ada", "shop", "")
