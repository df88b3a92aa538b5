import json
from pathlib import Path

import pytest
from support.shop_workspace import shop_workspace

from bench.edit_checks import Tools, changed_lines, checked, patched_paths, reference_changes
from bench.edit_scores import grouped, scored, summary
from bench.edits import attempted, meant_place
from repopilot.types import FileChange

DATA = Path(__file__).parents[2] / "bench" / "data" / "edits"
PATCH = """diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,2 @@
-PRICE = 1
+PRICE = 2
 OTHER = 3
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+A = 1
"""
TASK = {
    "files": ["shop.py", "new*"],
    "tests": ["test_shop.py"],
    "interpreter": "plain",
    "check": "import shop\nassert shop.PRICE == 2",
    "reference": PATCH,
}
TOOLS = Tools(("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis"))
DONE = {
    "changed": ["a.py"],
    "genuine": True,
    "asked": False,
    "parses": True,
    "elsewhere": [],
    "right": True,
    "tests_pass": True,
}


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "shop.py").write_text("PRICE = 1\nOTHER = 3\n")
    (tree / "test_shop.py").write_text("import shop\n\n\ndef test_other():\n    assert shop.OTHER == 3\n")
    return tree


def _changed(text, path="shop.py"):
    return FileChange(path, "modified", "", text)


@pytest.mark.slow
def test_check_tells_the_reference_from_the_unchanged_tree(tree):
    assert patched_paths(PATCH) == ["shop.py", "new.py"]
    assert changed_lines(PATCH, "shop.py") == [1, 1]
    assert not checked(TASK, (), tree, TOOLS).right
    changes = reference_changes(TASK, tree)
    assert [(c.path, c.change) for c in changes] == [("shop.py", "modified"), ("new.py", "added")]
    assert checked(TASK, changes, tree, TOOLS).resolved
    assert (tree / "shop.py").read_text() == "PRICE = 1\nOTHER = 3\n"


@pytest.mark.slow
@pytest.mark.thorough
def test_what_breaks_something_else_is_not_resolved(tree):
    assert not checked(TASK, (_changed("PRICE = 2\nOTHER = 4\n"),), tree, TOOLS).tests_pass
    assert not checked(TASK, (_changed("PRICE = 2\nOTHER = 3\nx = (\n"),), tree, TOOLS).parses
    right = _changed("PRICE = 2\nOTHER = 3\n")
    assert checked(TASK, (right, _changed("B = 1\n", "other.py")), tree, TOOLS).elsewhere == ("other.py",)
    broken_tests = _changed("def test_other():\n    pass\n", "test_shop.py")
    wrong = _changed("PRICE = 2\nOTHER = 4\n")
    assert not checked(TASK, (wrong, broken_tests), tree, TOOLS).tests_pass


def test_check_that_does_not_end_fails(tree, monkeypatch):
    monkeypatch.setattr("bench.edit_checks.CHECK_S", 0.3)
    endless = TASK | {"check": "import time\ntime.sleep(60)"}
    found = checked(endless, (), tree, TOOLS)
    assert not found.right and "stopped" in found.output


@pytest.mark.slow
def test_failing_test_decides_where_there_is_no_check(tree):
    grown = (
        PATCH
        + """diff --git a/test_shop.py b/test_shop.py
--- a/test_shop.py
+++ b/test_shop.py
@@ -3,3 +3,7 @@

 def test_other():
     assert shop.OTHER == 3
+
+
+def test_price():
+    assert shop.PRICE == 2
"""
    )
    mined = TASK | {"check": "", "failing": "test_shop.py::test_price", "reference": grown}
    assert not checked(mined, (), tree, TOOLS).right
    assert checked(mined, (_changed("PRICE = 2\nOTHER = 3\n"),), tree, TOOLS).resolved


@pytest.mark.slow
async def test_attempt_ends_with_its_first_diff(tmp_path):
    workspace = shop_workspace(tmp_path, {"shop/limits.py": "MOST_ITEMS = 20\n"})
    made = await attempted("set MOST_ITEMS to 30", workspace, "diff")
    assert [c.content for c in made.changes] == ["MOST_ITEMS = 30\n"]
    assert made.by_code and made.diff_s is not None and made.verdict_s is None
    nothing = await attempted("Add a method that knows the weather", workspace, "diff")
    assert not nothing.changes and nothing.diff_s is None and nothing.why


@pytest.mark.slow
def test_place_that_the_reference_changes(tmp_path):
    workspace = shop_workspace(tmp_path, {"shop/limits.py": "def f():\n    return 1\n\n\ndef g():\n    return 1\n"})
    patch = "--- a/shop/limits.py\n+++ b/shop/limits.py\n@@ -6 +6 @@\n-    return 1\n+    return 2\n"
    assert meant_place(("shop/limits.py:f", "shop/limits.py:g"), patch, workspace) == "shop/limits.py:g"
    assert meant_place(("shop/limits.py:f",), patch, workspace) == ""


def test_scores():
    assert scored(DONE) == {
        "resolved": True,
        "no_diff": False,
        "parses": True,
        "wrong": False,
        "wrong_verified": False,
        "asked": False,
    }
    wrong = scored(DONE | {"right": False})
    assert wrong["wrong"] and wrong["wrong_verified"] and not wrong["resolved"]
    assert scored(DONE | {"elsewhere": ["b.py"]})["wrong"]
    nothing = scored(DONE | {"changed": []})
    assert nothing["no_diff"] and not (nothing["resolved"] or nothing["parses"] or nothing["wrong_verified"])


def test_summary_by_group():
    rows = [
        {**scored(DONE), "diff_s": 1.0, "verdict_s": None, "kind": "rename"},
        {**scored(DONE | {"changed": []}), "diff_s": None, "verdict_s": None, "kind": "text"},
    ]
    found = summary(rows)
    assert (found["resolved"], found["no_diff"], found["wrong_verified"]) == (0.5, 0.5, 0)
    assert (found["diff_s_median"], found["verdict_s_p90"]) == (1.0, None)
    assert dict(grouped(rows, lambda row: row["kind"]))["rename"]["resolved"] == 1.0


def test_open_tasks_are_well_formed():
    """Only the open half: nobody reads the closed one."""
    found = [json.loads(line) for file in (DATA / "open").glob("*.jsonl") for line in file.read_text().splitlines()]
    assert len({task["id"] for task in found}) == len(found) > 0
    known = {line.split("\t")[0] for line in (DATA / "repositories.tsv").read_text().splitlines()}
    for task in found:
        assert task["id"].rsplit("-", 1)[0] in known and task["task"].strip()
        assert task["check"] or task["failing"]
        compile(task["check"] if task["interpreter"] != "node" else "", task["id"], "exec")
        assert patched_paths(task["reference"]) and task["files"]
