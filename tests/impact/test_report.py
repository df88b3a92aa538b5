"""The report over a real index: what is reached, what covers it, how risky it is, and what is not known."""

import pytest
from support.git_server import git
from support.impact_case import SHOP
from support.shop_workspace import traced

from repopilot.agents.impact.change import changes_of_diffs
from repopilot.agents.impact.impact_report import impact_json, impact_report
from repopilot.agents.impact.render import impact_markdown, impact_sections
from repopilot.errors import SourceError, UsageError
from repopilot.repo.patches.patch import FileDiff
from repopilot.results import ImpactReport
from repopilot.workspace import Workspace


async def _report(workspace: Workspace, *targets: str, **options: str) -> ImpactReport:
    return (await traced(lambda step: impact_report(workspace, step, targets, **options)))[0]


def _places(items) -> list[tuple[str, str, int]]:
    return [(i.path, i.symbol, i.distance) for i in items if i.symbol]


@pytest.mark.slow
async def test_a_symbol_reaches_its_callers_by_hops(shop):
    report = await _report(shop, "shop/prices.py:price")
    assert _places(report.affected) == [("shop/cart.py", "Cart.total", 1), ("shop/web.py", "checkout", 2)]
    assert [(t.path, t.tests, t.distance) for t in report.covering_tests] == [
        ("tests/test_cart.py", ("test_total",), 2)]  # fmt: skip
    assert report.ranked[0].path in ("shop/cart.py", "tests/test_cart.py")
    assert {r.path for r in report.ranked[:4]} >= {"shop/cart.py", "tests/test_cart.py", "shop/web.py"}
    assert all(r.reasons and 0 < r.score <= 1 for r in report.ranked)
    assert "shop/prices.py" not in {r.path for r in report.ranked}


CENTRAL = (
    "class Engine:\n    def turn(self):\n        return 1\n\n    def run(self):\n        return self.turn()\n"
    "\n    def stop(self):\n        return self.turn()\n\n\ndef drive():\n    return Engine().run()\n"
)


@pytest.mark.slow
async def test_dependents_in_the_same_file_count(repository):
    report = await _report(repository({"engine.py": CENTRAL}), "engine.py:Engine.turn")
    assert _places(report.affected) == [
        ("engine.py", "Engine.run", 1), ("engine.py", "Engine.stop", 1), ("engine.py", "drive", 2)]  # fmt: skip
    assert "engine.py" not in {r.path for r in report.ranked}
    text = impact_markdown(report)
    assert text.startswith("`Engine.turn` in `engine.py`: used at 2 places in 1 file.")


@pytest.mark.slow
async def test_callers_come_first_then_tests_then_the_risk(repository):
    others = {
        "examples/demo.py": "from prices import price\n\n\ndef demo():\n    return price(1)\n",
        "web.py": "from prices import price\n\nHANDLERS = [price]\n\n\ndef show():\n    return price(2)\n",
        "prices.py": "def price(item):\n    return item\n",
        "tests/test_prices.py": "from prices import price\n\n\ndef test_price():\n    assert price(1) == 1\n",
    }
    report = await _report(repository(others), "price")
    assert next((a.path, a.symbol) for a in report.affected) == ("web.py", "show")
    text = impact_markdown(report)
    order = [text.index(f"### {heading}") for heading in ("Used directly by", "Tests that cover it", "Risks")]
    assert order == sorted(order)
    assert "(A1" not in text and "T1" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "points"),
    [("from .core import work\n", 2), ("from .core import *\n", 2), ("from .core import other\n", 1)],
)
async def test_what_a_package_exports_weighs_more(repository, package, points):
    core = "def work():\n    return 1\n\n\ndef other():\n    return work()\n"
    report = await _report(repository({"app/__init__.py": package, "app/core.py": core}), "app/core.py:work")
    assert [r.points for r in report.risks if "interface" in getattr(r.text, "key", "")] == [points]


@pytest.mark.slow
async def test_rust_tests_beside_the_code_are_tests(repository):
    code = (
        "pub fn add(a: u32) -> u32 {\n    a\n}\n\npub fn twice(a: u32) -> u32 {\n    add(a)\n}\n\n"
        "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() {\n        add(1);\n    }\n}\n"
    )
    report = await _report(repository({"src/lib.rs": code}), "src/lib.rs:add")
    assert _places(report.affected) == [("src/lib.rs", "twice", 1)]
    assert [(t.path, t.tests) for t in report.covering_tests] == [("src/lib.rs", ("tests.adds",))]
    assert not any("No test" in r.text for r in report.risks)


@pytest.mark.slow
async def test_a_name_of_the_code_is_not_one_of_its_tests(repository):
    both = {"app.py": "def same():\n    pass\n", "tests/test_app.py": "def same():\n    pass\n"}
    report = await _report(repository(both), "same")
    assert [c.path for c in report.changed] == ["app.py"]


@pytest.mark.slow
async def test_a_file_that_nothing_ties_to_the_change_is_listed_as_such(repository):
    far = {f"other/{name}.py": f"def {name}(x):\n    return x\n" for name in ("north", "south")}
    report = await _report(repository(SHOP | far | {"other/lone.py": "z = 9\n" * 40}), "shop/prices.py:price")
    said = {r.path: r.reasons for r in report.ranked}
    assert said["other/lone.py"] == ("no direct dependency found: ranked mostly by its size",)
    assert all(reasons for reasons in said.values())
    assert not any("no direct dependency" in reason for reason in said["shop/cart.py"])


@pytest.mark.slow
async def test_tests_that_reach_the_change_come_before_those_of_the_rest_of_the_file(repository):
    both = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    files = {
        "app/core.py": both,
        "tests/test_a.py": "from app import core\n\n\ndef test_first():\n    assert core.two() == 2\n",
        "tests/test_z.py": "from app.core import one\n\n\ndef test_last():\n    assert one() == 1\n",
    }
    report = await _report(repository(files), "app/core.py:one")
    assert [(t.path, t.tests) for t in report.covering_tests] == [
        ("tests/test_z.py", ("test_last",)), ("tests/test_a.py", ())]  # fmt: skip


@pytest.mark.slow
async def test_a_test_of_the_same_file_is_no_test_of_the_change(repository):
    files = {
        "app/core.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
        "tests/test_core.py": "from app import core\n\n\ndef test_first():\n    assert core.two() == 2\n",
    }
    report = await _report(repository(files), "app/core.py:one")
    assert [t.path for t in report.covering_tests] == ["tests/test_core.py"]
    assert "No test was found that reaches the changed code." in [r.text for r in report.risks]
    assert any("Write a test" in r.text for r in report.recommendations)


@pytest.mark.slow
async def test_calls_that_may_mean_the_change_are_said_with_their_places(repository):
    files = {
        "a.py": "class A:\n    def render(self):\n        return 1\n",
        "b.py": "class B:\n    def render(self):\n        return 2\n",
        "use.py": "def go(x):\n    x.render()\n    return x.render()\n",
    }
    report = await _report(repository(files), "a.py:A.render")
    assert report.risk != "LOW"
    assert any("used most in use.py" in gap for gap in report.completeness.gaps)


@pytest.mark.slow
async def test_shared_words_are_shown_as_they_are_written(repository):
    text = "def pausing_chains(resuming):\n    # resuming pausing chains politely\n    return resuming\n" * 3
    rest = {f"other/f{n}.py": f"def thing{n}():\n    return {n}\n" for n in range(6)}
    report = await _report(repository(rest | {"a/one.py": text, "b/two.py": text}), "a/one.py")
    (said,) = [r.reasons for r in report.ranked if r.path == "b/two.py"]
    (alike,) = [reason for reason in said if "shares some words" in reason]
    assert set(alike.rpartition("(")[2].rstrip(")").split(", ")) <= {
        "pausing",
        "chains",
        "resuming",
        "politely",
        "pausing_chains",
    }


async def test_files_that_changed_together_are_counted(shop):
    report = await _report(shop, "shop/prices.py")
    assert [(c.path, c.together, c.of) for c in report.co_changed] == [("shop/lonely.py", 2, 2)]
    assert report.completeness.history_commits == 3
    said = {r.path: " ".join(r.reasons) for r in report.ranked}
    assert "co-changed in 2 of 2 commits" in said["shop/lonely.py"]
    assert not any("1 of" in reasons for reasons in said.values())


@pytest.mark.slow
async def test_one_commit_is_no_history_of_changes(repository):
    report = await _report(repository(SHOP), "shop/prices.py")
    assert report.co_changed == ()
    assert not any("co-changed" in reason for r in report.ranked for reason in r.reasons)


@pytest.mark.slow
async def test_a_short_history_is_missing_evidence_and_never_low(repository):
    files = {"a.py": "def alone():\n    return 1\n", "test_a.py": "from a import alone\n\n\ndef test():\n    alone()\n"}
    report = await _report(repository(files), "a.py:alone")
    assert report.risk == "UNKNOWN" and "too short" in report.completeness.gaps[0]


async def test_a_new_definition_breaks_nobody(shop):
    new = SHOP["shop/cart.py"].rstrip() + "\n\n    def clear(self):\n        self.items = []\n"
    _edit(shop, "shop/cart.py", new)
    report = await _report(shop, patch=_patch(shop))
    assert [i.how for i in report.changed[0].interface] == ["added"]
    assert not any("interface" in r.text for r in report.risks)


@pytest.mark.slow
async def test_nothing_depends_on_it_and_all_is_known(repository):
    files = {"a.py": "def alone():\n    return 1\n", "test_a.py": "from a import alone\n\n\ndef test():\n    alone()\n"}
    past = [{"a.py": files["a.py"] + "\n" * (number % 2)} for number in range(1, 12)]
    report = await _report(repository(files, *past), "a.py:alone")
    assert (report.risk, report.completeness.gaps, report.risks) == ("LOW", (), ())
    assert report.recommendations[0].text == "Run test_a.py."


@pytest.mark.slow
async def test_lists_count_what_they_list(repository):
    report = await _report(repository({"alone.py": "def alone():\n    return 1\n"}), "alone.py:alone")
    lists = {heading: (rows, total) for heading, rows, total in impact_sections(report, {}, "en")[0]}
    assert lists["Tests that cover it"] == (("None found.",), 0)
    assert [total for _, total in lists.values() if not total] == [0, 0]  # nothing uses it, either


@pytest.mark.slow
async def test_without_history_low_becomes_unknown(repository):
    files = {"a.py": "def alone():\n    return 1\n", "test_a.py": "from a import alone\n\n\ndef test():\n    alone()\n"}
    report = await _report(repository(plain=files), "a.py:alone")
    assert report.risk == "UNKNOWN"
    assert any("no history" in gap for gap in report.completeness.gaps)


async def test_a_table_is_schema(shop):
    report = await _report(shop, "shop/models.py")
    assert [t.name for t in report.changed[0].tables] == ["order"]
    assert any("schema" in r.text and r.evidence == ("S1",) for r in report.risks)
    assert report.risk in ("MEDIUM", "HIGH")


@pytest.mark.slow
async def test_syntax_errors_are_a_gap(repository):
    report = await _report(repository({"a.py": "def f(:\n    x =\n", "b.py": ""}, {"b.py": "\n"}), "a.py")
    assert any("only be parsed in part" in gap for gap in report.completeness.gaps)
    assert report.risk != "LOW"


@pytest.mark.slow
async def test_a_repository_without_python(repository):
    go = {"go.mod": "module x.y/z\n", "a.go": "package z\n\nfunc A() int { return 1 }\n",
          "b.go": "package z\n\nfunc B() int { return A() }\n"}  # fmt: skip
    report = await _report(repository(go), "a.go:A")
    assert _places(report.affected) == [("b.go", "B", 1)]


@pytest.mark.slow
async def test_a_cycle_of_imports_ends(repository):
    files = {"a.py": "import b\n\n\ndef f():\n    b.g()\n", "b.py": "import a\n\n\ndef g():\n    a.f()\n"}
    report = await _report(repository(files), "a.py")
    assert {a.path for a in report.affected} == {"b.py"}


@pytest.mark.slow
async def test_a_symbol_defined_five_times_says_which(repository):
    report = await _report(repository({f"m{i}.py": "def same():\n    pass\n" for i in range(5)}), "same")
    assert [t.path for t in report.completeness.targets] == [f"m{i}.py" for i in range(5)]
    assert len(report.changed) == 5


@pytest.mark.parametrize("target", ["nowhere.py", "nowhere.py:price", "Cart.nothing", "", "../etc/passwd"])
async def test_unknown_targets_are_refused(shop, target):
    with pytest.raises(UsageError, match="neither a file nor a symbol"):
        await _report(shop, target)


async def test_a_symbol_its_file_does_not_define_is_a_gap(shop):
    report = await _report(shop, "shop/prices.py:nothing", "shop/prices.py:price")
    assert report.changed[0].symbols == ("price",)
    alone = await _report(shop, "shop/prices.py:nothing")
    assert alone.changed[0].whole
    assert "shop/prices.py: defines no nothing" in alone.completeness.gaps


async def test_a_misspelt_target_gets_a_suggestion(shop):
    with pytest.raises(UsageError, match=r"shop/prices\.py"):
        await _report(shop, "shop/price.py")


async def test_a_folder_means_its_files(shop):
    report = await _report(shop, "shop")
    assert {c.path for c in report.changed} == {p for p in SHOP if p.startswith("shop/") and SHOP[p]}


def _edit(workspace: Workspace, path: str, text: str | None) -> None:
    assert workspace.snapshot.root is not None
    target = workspace.snapshot.root / path
    target.unlink() if text is None else target.write_text(text)


def _patch(workspace: Workspace) -> str:
    assert workspace.snapshot.root is not None
    return git(workspace.snapshot.root, "diff", "-U1") + "\n"


@pytest.mark.slow
async def test_a_patch_names_the_functions_it_touches_and_what_of_the_interface(repository):
    shop = repository(SHOP)
    _edit(shop, "shop/prices.py", SHOP["shop/prices.py"].replace("price(item)", "price(item, tax)"))
    report = await _report(shop, patch=_patch(shop))
    (changed,) = report.changed
    assert changed.symbols == ("price",)
    assert [(i.symbol, i.how, i.after) for i in changed.interface] == [
        ("price", "signature", "def price(item, tax)")]  # fmt: skip
    assert any(r.points == 1 and "I1" in r.evidence and "A1" in r.evidence for r in report.risks)


@pytest.mark.slow
async def test_a_private_change_is_no_interface(repository):
    shop = repository(SHOP)
    _edit(shop, "shop/prices.py", SHOP["shop/prices.py"].replace("_round(value)", "_round(value, places=2)"))
    report = await _report(shop, patch=_patch(shop))
    assert report.changed[0].interface == ()
    assert report.changed[0].symbols == ("_round",)


@pytest.mark.slow
async def test_a_range_whose_end_is_indexed(shop):
    report = await _report(shop, diff="HEAD~1..HEAD")
    assert {c.path for c in report.changed} == {"shop/prices.py", "shop/web.py", "shop/lonely.py"}
    lonely = next(c for c in report.changed if c.path == "shop/lonely.py")
    assert [(i.symbol, i.how) for i in lonely.interface] == [("nobody_calls_this", "added")]


@pytest.mark.slow
async def test_a_renamed_file_keeps_its_dependents(repository):
    moved = {"shop/prices.py": None, "shop/costs.py": SHOP["shop/prices.py"] + "\n\nX = 1\n",
             "shop/cart.py": SHOP["shop/cart.py"].replace("prices", "costs")}  # fmt: skip
    report = await _report(repository(SHOP, moved), diff="HEAD~1..HEAD")
    changed = next(c for c in report.changed if c.path == "shop/costs.py")
    assert (changed.status, changed.old_path) == ("renamed", "shop/prices.py")


@pytest.mark.slow
async def test_a_deleted_file_is_still_missed_by_its_users(repository):
    report = await _report(repository(SHOP, {"shop/prices.py": None}), diff="HEAD~1..HEAD")
    assert report.changed[0].status == "deleted"
    assert ("shop/cart.py", "Cart.total", 1) in _places(report.affected)
    assert any("removed" in r.text for r in report.risks)
    assert report.risk == "HIGH"
    assert any("no longer in the index" in gap for gap in report.completeness.gaps)


async def test_a_patch_that_does_not_fit_takes_the_whole_file_and_says_so(shop):
    patch = "--- a/shop/prices.py\n+++ b/shop/prices.py\n@@ -1,2 +1,2 @@\n-def other():\n+def another():\n     pass\n"
    report = await _report(shop, patch=patch)
    assert report.changed[0].whole
    assert any("doesn't fit" in gap for gap in report.completeness.gaps)


async def test_a_binary_diff_and_a_new_file(shop):
    patch = (
        "diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n"
        "diff --git a/shop/new.py b/shop/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/shop/new.py\n"
        "@@ -0,0 +1,2 @@\n+def fresh():\n+    return 1\n"
    )
    report = await _report(shop, patch=patch)
    assert {(c.path, c.status) for c in report.changed} == {("logo.png", "modified"), ("shop/new.py", "added")}
    assert any("binary" in gap for gap in report.completeness.gaps)


async def test_a_file_too_large_to_be_read_counts_as_changed_in_full(shop):
    [found] = changes_of_diffs([FileDiff("large.py", "large.py", "added", left_out=True)], shop.index)
    assert found.whole and "too large" in str(found.problems) and "clone" not in str(found.problems)


@pytest.mark.parametrize("options", [{"diff": "HEAD..HEAD"}, {"patch": ""}, {"patch": "no diff at all"}])
async def test_an_empty_diff_is_said(shop, options):
    with pytest.raises((UsageError, SourceError), match=r"it changes no file|Nothing changed"):
        await _report(shop, **options)


async def test_unknown_refs(shop):
    with pytest.raises(SourceError):
        await _report(shop, diff="nowhere..HEAD")
    with pytest.raises(UsageError, match="not a range"):
        await _report(shop, diff="..main")


@pytest.mark.slow
async def test_markdown_and_json_hold_the_report(shop):
    report = await _report(shop, "shop/prices.py:price")
    text = impact_markdown(report)
    assert text.startswith("`price` in `shop/prices.py`: used at 1 place in 1 file. Its tests: 1 test file. **Risk: ")
    assert "`Cart.total` in `shop/cart.py`:9: calls price" in text
    assert "tests/test_cart.py" in text
    assert "**Risque" in impact_markdown(report, language="fr")
    assert set(impact_json(report)) >= {"risk", "ranked", "affected", "covering_tests", "co_changed", "risks",
                                       "recommendations", "completeness"}  # fmt: skip
