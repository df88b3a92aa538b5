"""The review by a model that uses tools: what it reports, how that is proved, and in which order it counts."""

import json
import re
from dataclasses import replace

import pytest
from support.git_server import commit
from support.more_tests import MORE_TESTS
from support.shop_workspace import answering, offline, open_workspace, traced

from repopilot.agents.review.agent import report_json, report_markdown, report_sarif, review_snapshot
from repopilot.agents.review.findings import has_severe
from repopilot.agents.review.scope import EarlierReview
from repopilot.forge.review_comments import comment_text
from repopilot.repo.history import CommitRange

pytestmark = pytest.mark.slow

BEFORE = {
    "shop/__init__.py": "",
    "shop/prices.py": "def mean(prices):\n    if not prices:\n        return 0\n    return sum(prices) / len(prices)\n",
    "shop/report.py": "from shop.prices import mean\n\n\ndef line(prices):\n    return f'mean {mean(prices)}'\n",
    "tests/test_prices.py": "from shop.prices import mean\n\n\ndef test_mean():\n    assert mean([2, 4]) == 3\n",
}
AFTER = {
    "shop/prices.py": "def mean(prices):\n    return sum(prices) / len(prices)\n\n\n"
    "def spread(prices):\n    return max(prices) - prices[0]\n"
}
EMPTY = "from shop.prices import mean\n\n\ndef test_of_nothing():\n    assert mean([]) == 0\n" + MORE_TESTS
SPREAD = "def test_spread():\n    from shop.prices import spread\n\n    assert spread([2, 1, 4]) == 3\n"
NEITHER = "from shop.prices import mean\n\n\ndef test_mean_of_one():\n    assert mean([3]) == 3\n" + MORE_TESTS
OLD = "from shop.prices import mean\n\n\ndef test_median():\n    assert mean([1, 1, 4]) == 1\n"


def _call(name: str, /, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def _report(line: int, failure: str, severity: str = "high", **more: object) -> str:
    return _call("report", path="shop/prices.py", line=line, failure=failure, severity=severity, **more)


DONE = _call("finish", summary="Reviewed.")
STANDS = _call("finish", refuted=False, why="Nothing handles it.")
REFUTED = _call("finish", refuted=True, why="The caller checks it.")


@pytest.fixture
def reviewed(tmp_path):
    """Reviews the change with a model that gives some replies in turn, and others when asked to refute."""

    async def run(
        *replies: str, second=(), settings=None, after=AFTER, walk="", way="agent", before=BEFORE, earlier=None
    ):
        """Reviews two commits; `earlier`: the files of a third after a review of these two, and what that posted."""
        folder = tmp_path / "repo"
        folder.mkdir()
        base = commit(folder, before, "before")
        seen = commit(folder, after, "Compute the spread of prices\n\nNo change of mean.")
        if earlier:
            commit(folder, earlier[0], "Go on")
            earlier = EarlierReview(seen, earlier[1])
        left, looks, prompts = list(replies), list(second), list[str]()

        def reply(prompt: str) -> str:
            prompts.append(prompt)
            if "Try to refute it" in prompt:
                return looks.pop(0)
            if walk and "Finally, say what the change does" in prompt:
                return _call("finish", summary=walk)
            return left.pop(0) if left else DONE

        shop = open_workspace(folder, (settings or (lambda s: s))(offline(tmp_path / "home")))
        agent = replace(shop, model=replace(answering(reply, context_window=32_768), way=way))
        report, outline, _ = await traced(
            lambda step: review_snapshot(agent, step, CommitRange(base, "HEAD"), earlier=earlier)
        )
        return report, prompts, outline

    return run


def _by_model(report):
    return [finding for finding in report.findings if finding.source == "model"]


async def test_a_regression_is_proved_by_a_test_that_passes_before_and_fails_after(reviewed):
    report, prompts, _ = await reviewed(
        _call("prove", test=EMPTY), _report(2, "mean([]) divides by zero.", proof="p1", suggestion="Return 0."), DONE
    )
    [found] = _by_model(report)
    assert (found.rule, found.domain, found.failure) == ("regression", "correctness", "mean([]) divides by zero.")
    assert (found.proof.kind, found.proof.before, found.proof.after) == ("proved", "passed", "failed")
    assert report_json(report)["scores"]["correctness"] == 90 and "correctness 90" in report_markdown(report)
    facts = report_json(report)["findings"][0]
    assert facts["failure"] == found.failure
    assert facts["proof"] == {
        "kind": "proved", "path": "tests/test_prices_review.py", "test": EMPTY, "before": "passed", "after": "failed",
        "outside": False,
    }  # fmt: skip
    assert report_sarif(report)["runs"][0]["results"][0]["properties"]["proof"] == facts["proof"]
    assert 'put at "tests/test_prices_review.py"' in prompts[0]
    assert "ZeroDivisionError" in prompts[1] and "::test_of_nothing. Report" in prompts[1]
    for language, said in (("en", "1 proved by a test"), ("fr", "1 prouvé par un test")):
        text = report_markdown(report, language=language)
        assert said in text and "assert mean([]) == 0" in text
    comment = comment_text(found, "0" * 16, "en")
    assert "<details><summary>Proved" in comment and "assert mean([]) == 0" in comment
    assert has_severe(report.findings, "high") and not has_severe(report.findings, "critical")


@pytest.mark.thorough
async def test_a_test_runs_outside_a_configuration_under_which_none_runs(reviewed):
    before = {**BEFORE, "tests/conftest.py": "def pytest_configure(config):\n    config.no_such_thing\n"}
    told = _report(2, "mean([]) divides by zero.", proof="p1")
    report, prompts, _ = await reviewed(_call("prove", test=EMPTY), told, DONE, before=before)
    [found] = _by_model(report)
    proof = found.proof
    assert (proof.kind, proof.path, proof.outside) == ("proved", "tests/test_prices_review.py", True), prompts[1]
    assert "outside the project's test configuration" in report_markdown(report)
    assert "hors de la configuration" in report_markdown(report, language="fr")
    assert "A test that you write may still run" in prompts[0] and "go on without it" not in prompts[0]


async def test_what_the_change_adds_is_shown_by_a_test_that_fails_on_it(reviewed):
    report, _, _ = await reviewed(
        _call("prove", test=SPREAD), _report(6, "The first price isn't the least.", "medium", proof="p1"), DONE
    )
    [found] = _by_model(report)
    assert (found.rule, found.proof.kind, found.proof.after) == ("defect", "shown", "failed")


@pytest.mark.parametrize("test", [NEITHER, OLD])
@pytest.mark.sampled(1)
async def test_a_test_that_does_not_tell_the_states_apart_proves_nothing(reviewed, test):
    report, prompts, _ = await reviewed(_call("prove", test=test), _report(2, "It fails.", proof="p1"), DONE)
    assert not _by_model(report) and not report.folded
    assert "p1: no proof" in prompts[1] and "proves nothing" in prompts[2]


_NEW = "    from shop.prices import spread\n"
OWN_FAULTS = {
    "import": f"def test_x():\n{_NEW}    from shop.none import nothing\n\n    assert spread([1]) == nothing\n",
    "name": f"def test_x():\n{_NEW}\n    assert spread(prices) == 3\n",
    "call": f"def test_x():\n{_NEW}\n    assert spread() == 3\n",
    "attribute": f"def test_x():\n{_NEW}\n    assert spread([2, 1]).size == 3\n",
    "fixture": f"def test_x(no_such_fixture):\n{_NEW}\n    assert spread([2, 1]) == 1\n",
    "syntax": f"def test_x(:\n{_NEW}",
    "package": f"def test_x():\n{_NEW}    import no_such_package\n\n    assert spread([2, 1]) == 1\n",
    "same before": "def test_spread():\n    assert 1 == 2\n",
}
RAISING = "def test_x():\n    from shop.prices import spread\n\n    assert spread([]) == 0\n"
UNRAISED = (
    "import pytest\n\n\ndef test_x():\n    from shop.prices import spread\n\n    with pytest.raises(TypeError):\n"
)
UNRAISED += "        spread([1])\n"


@pytest.mark.parametrize("kind", OWN_FAULTS)
@pytest.mark.sampled(2)
async def test_a_test_that_fails_by_itself_shows_nothing(reviewed, kind):
    _, prompts, _ = await reviewed(_call("prove", test=OWN_FAULTS[kind]), DONE)
    assert "p1: no proof" in prompts[1], prompts[1].rpartition("data ")[2]
    if kind not in ("fixture", "syntax", "same before"):
        assert "The test itself fails" in prompts[1]


@pytest.mark.parametrize("test", [RAISING, UNRAISED])
@pytest.mark.thorough
async def test_an_exception_of_the_code_or_one_that_is_missing_shows_a_defect(reviewed, test):
    _, prompts, _ = await reviewed(_call("prove", test=test), DONE)
    assert "p1: shown" in prompts[1], prompts[1].rpartition("data ")[2]


@pytest.mark.thorough
async def test_a_parameter_by_a_name_that_stood_elsewhere_is_new_where_calls_of_it_failed_before(reviewed):
    """What is new is told by what failed before, not by words alone: `kwargs` stands in the file already."""
    before = {"shop/calls.py": "def log(**kwargs):\n    print(kwargs)\n\n\ndef call(f, *args):\n    return f(*args)\n"}
    wrong = before["shop/calls.py"].replace(
        "*args):\n    return f(*args)", "*args, **kwargs):\n    return f(*args, *kwargs, **kwargs)"
    )
    test = "from shop.calls import call\n\n\ndef test_x():\n    assert call(dict, size=2) == {'size': 2}\n"
    _, prompts, _ = await reviewed(
        _call("prove", test=test), DONE, before={**BEFORE, **before}, after={"shop/calls.py": wrong}
    )
    assert "p1: shown" in prompts[1], prompts[1].rpartition("data ")[2]


@pytest.mark.thorough
async def test_a_private_name_that_is_gone_proves_nothing_and_a_public_one_does(reviewed):
    old = {**BEFORE, "shop/old.py": "def _part():\n    return 1\n\n\ndef whole():\n    return _part()\n"}
    tests = (
        f"def test_x():\n    from shop import old\n\n    assert old.{name}() == 1\n" for name in ("_part", "whole")
    )
    calls = [_call("prove", test=test) for test in tests]
    _, prompts, _ = await reviewed(*calls, DONE, before=old, after={"shop/old.py": "def other():\n    return 1\n"})
    assert "p1: no proof" in prompts[1] and "p2: proved" in prompts[2]


@pytest.mark.parametrize(("waits", "told"), [("", "p1: proved"), ("    time.sleep(2.5)\n", "p1: no proof")])
@pytest.mark.thorough
async def test_code_that_no_longer_comes_to_an_end_is_proved_unless_the_test_is_slow_anyway(reviewed, waits, told):
    after = {"shop/prices.py": "def mean(prices):\n    while not prices: pass\n    return sum(prices) / len(prices)\n"}
    short = {"settings": lambda s: s.model_copy(update={"test_timeout_s": 6.0})}
    test = f"import time\n\n{EMPTY}".replace("    assert", f"{waits}    assert", 1)
    _, prompts, _ = await reviewed(_call("prove", test=test), DONE, after=after, **short)
    assert told in prompts[1], prompts[1].rpartition("data ")[2]


async def test_reports_without_a_failure_a_place_or_their_proof_are_refused(reviewed):
    report, prompts, _ = await reviewed(
        _report(2, "  "), _report(99, "It fails."), _report(2, "It fails.", proof="p7"),
        _call("report", path="shop/none.py", line=1, failure="It fails.", severity="high"), DONE,
    )  # fmt: skip
    assert not _by_model(report)
    for n, said in enumerate(("`failure` is empty", "Line 99 doesn't exist", "called p7", "shop/none.py"), 1):
        assert said in prompts[n].rpartition("Error: ")[2]


async def test_opinions_come_last_and_only_those_that_stand_up_to_a_second_look(reviewed):
    lines = [_report(n, f"Opinion {n}.", "critical" if n == 2 else "medium") for n in (1, 2, 4, 5)]
    low = _report(6, "Opinion 6.", "low")
    report, _, outline = await reviewed(
        *lines,
        low,
        _call("prove", test=EMPTY),
        _report(2, "Opinion 2.", proof="p1"),
        DONE,
        second=[REFUTED, STANDS, DONE],
    )
    assert [(f.rule, f.failure) for f in _by_model(report)] == [("regression", "Opinion 2."), ("opinion", "Opinion 4.")]
    assert [f.failure for f in report.folded] == ["Opinion 1.", "Opinion 5.", "Opinion 6."]
    assert outline.count("second look") == 3
    assert "### 3 remarks not counted" in report_markdown(report) and len(report_json(report)["folded"]) == 3


async def test_both_states_are_looked_at(reviewed):
    _, prompts, _ = await reviewed(
        _call("symbol", name="mean", at="base"), _call("read", path="shop/prices.py", at="base"),
        _call("references", name="mean", at="base"), _call("symbol", name="spread"),
        _call("symbol", name="spread", at="base"), _call("callers", name="mean", at="base"), DONE,
    )  # fmt: skip
    results = [prompt.rpartition("data ")[2] for prompt in prompts]
    assert "return 0" in results[1] and "return 0" in results[2] and "shop/report.py" in results[3]
    assert "max(prices)" in results[4] and "Error" in results[5] and "Error" in results[6]
    given = prompts[0]
    for told in (
        "No change of mean.",
        "-        return 0",
        "mean before the change",
        "shop/report.py",
        "1 test passes",
    ):
        assert told in given


async def test_each_definition_is_told_once(reviewed):
    rows = "".join(f"    def other{number}(self):\n        return {number}\n\n" for number in range(3))
    old = f"class Shop:\n    limit = 1\n\n{rows}    def sell(self):\n        def priced(x):\n            return x\n\n"
    old += "        return priced(1)\n"
    new = old.replace("return x", "return x + 1").replace("limit = 1", "limit = 2").replace("priced(1)", "priced(2)")
    new = new.replace("    def sell", "    def buy(self):\n        return 1\n\n    def sell")
    before = {**BEFORE, "shop/shop.py": old}
    _, prompts, _ = await reviewed(DONE, before=before, after={"shop/shop.py": new})
    headings = re.findall(r"^## shop/shop.py:(.+) before the change", prompts[0], re.M)
    assert headings == ["Shop.limit", "Shop.sell"]
    assert "return 2" not in prompts[0].partition("## shop/shop.py:")[2].partition("## Uses")[0]


async def test_of_overloads_the_one_that_changed_is_told_in_both_states(reviewed):
    heads = "export function add(a: string): string;\nexport function add(a: number): number;\n"
    old = f"{heads}export function add(a: any): any {{\n  if (!a) return 0;\n  return a + a;\n}}\n"
    java = "class A {\n  int f(int a) {\n    return a;\n  }\n\n  int f(String a) {\n    return 1;\n  }\n}\n"
    new = java.replace("return 1;", "return 2;").replace(
        "class A {\n", "class A {\n  int f(long a) {\n    return 3;\n  }\n\n"
    )
    before = {**BEFORE, "src/add.ts": old, "src/A.java": java}
    after = {
        "src/add.ts": old.replace("  if (!a) return 0;\n", "").replace("(a: any)", "(a: unknown)"),
        "src/A.java": new,
    }
    _, prompts, _ = await reviewed(DONE, before=before, after=after)
    told = {
        heading: text.partition("\n## ")[0]
        for heading, _, text in (part.partition("\n") for part in prompts[0].split("\n## ")[1:])
    }
    assert "if (!a)" in told["src/add.ts:add before the change"]
    assert "return a + a" in told["src/add.ts:add after the change"]
    assert (
        "return 1" in told["src/A.java:A.f before the change"] and "String" in told["src/A.java:A.f after the change"]
    )
    assert "return 3" not in "".join(text for heading, text in told.items() if "A.java:A.f" in heading)


async def test_a_model_is_asked_for_each_way_that_the_change_gives_reason_for(reviewed):
    _, prompts, outline = await reviewed()
    [asked] = [each for prompt in prompts if "once more" in (each := prompt.rpartition("[user]")[2])]
    assert outline.count("look again") == 1 and asked.count("\n- ") >= 4
    assert "callers and overriders" in asked and "concurrency" not in asked


async def test_where_no_test_can_run_that_is_said_and_nothing_is_proved(reviewed):
    report, prompts, _ = await reviewed(
        _call("prove", test=EMPTY), _report(2, "mean([]) divides by zero."), DONE,
        second=[STANDS], settings=lambda s: s.model_copy(update={"sandbox": "off"}),
    )  # fmt: skip
    assert [f.rule for f in _by_model(report)] == ["opinion"]
    assert any("No tests can run here" in str(note) for note in report.notes)
    assert "prove" in prompts[1].rpartition("Error: ")[2] and "you can't prove anything" in prompts[0]


async def test_the_walkthrough_is_the_models_where_its_names_exist_and_computed_elsewhere(reviewed):
    after = {**AFTER, "README.md": "# Shop\n", "tests/test_prices.py": BEFORE["tests/test_prices.py"] + "\n\nX = 1\n"}
    told = "- `shop/prices.py`: Adds `spread`.\n- tests/test_prices.py: Tests `no_such_name`."
    report, _, _ = await reviewed(walk=told, after=after)
    rows = {row["path"]: row for row in report_json(report)["walkthrough"]}
    assert list(rows) == ["shop/prices.py", "tests/test_prices.py", "README.md"]
    assert rows["shop/prices.py"] == {"path": "shop/prices.py", "text": "Adds `spread`.", "by_model": True}
    assert not rows["tests/test_prices.py"]["by_model"] and rows["README.md"]["text"] == "+1 −0 lines"
    assert "Adds `spread`." in report_markdown(report).partition("Health")[0]


@pytest.mark.parametrize("path", ["logo.png", ".env"])
@pytest.mark.sampled(1)
async def test_a_sentence_on_a_file_that_cannot_be_read_does_not_end_the_review(reviewed, path):
    told = f"- {path}: Goes with `spread`."
    report, prompts, _ = await reviewed(
        _report(2, "It fails."), DONE, second=[STANDS], walk=told, after={**AFTER, path: "a\0b"}
    )
    assert [f.failure for f in _by_model(report)] == ["It fails."]
    assert "Goes with `spread`." in [row.text for row in report.walkthrough]
    asked = next(prompt for prompt in prompts if "Finally, say what the change does" in prompt)
    assert re.search(rf"^data (\w{{8}})\n(.+\n)*{re.escape(path)}\n(.+\n)*end \1$", asked, re.M)


async def test_without_a_model_the_walkthrough_is_computed(reviewed):
    report, _, _ = await reviewed(way="small")
    assert [str(row.text) for row in report.walkthrough] == ["adds `spread`; changes `mean`; +4 −2 lines"]
    assert "Ce que fait la modification" in report_markdown(report, language="fr")


async def test_a_regression_is_proved_by_the_runner_of_another_language(reviewed):
    head = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { mean } from '../src/mean.js';\n"
    body = "  return xs.reduce((a, b) => a + b, 0) / xs.length;\n}\n"
    before = {
        "package.json": '{"name": "a", "type": "module", "scripts": {"test": "node --test"}}',
        "src/mean.js": "export function mean(xs) {\n  if (!xs.length) return 0;\n" + body,
        "test/mean.test.js": head + "test('mean', () => { assert.equal(mean([1, 3]), 2); });\n",
    }
    empty = head + "test('of nothing', () => { assert.equal(mean([]), 0); });\n"
    told = _call("report", path="src/mean.js", line=2, failure="mean([]) is NaN.", severity="high", proof="p1")
    after = {"src/mean.js": "export function mean(xs) {\n" + body}
    report, _, _ = await reviewed(_call("prove", test=empty), told, DONE, before=before, after=after)
    [found] = _by_model(report)
    assert (found.proof.kind, found.proof.path) == ("proved", "test/mean_review.test.js")


async def test_where_the_runner_is_not_known_a_test_of_the_review_runs_with_node(reviewed):
    body = "  return xs.reduce((a, b) => a + b, 0) / xs.length;\n}\n"
    karma = {"name": "a", "type": "module", "scripts": {"test": "karma start"}, "devDependencies": {"karma": "^6.0.0"}}
    head = "import { mean } from '../src/mean.js';\n"
    before = {
        "package.json": json.dumps(karma),
        "src/mean.js": "export function mean(xs) {\n  if (!xs.length) return 0;\n" + body,
        "test/mean.test.ts": f"{head}it('takes the mean', () => mean([1]));\n",
    }
    empty = f"import test from 'node:test';\nimport assert from 'node:assert';\n{head}"
    empty += "test('of nothing', () => { assert.equal(mean([]), 0); });\n"
    told = _call("report", path="src/mean.js", line=2, failure="mean([]) is NaN.", severity="high", proof="p1")
    after = {"src/mean.js": "export function mean(xs) {\n" + body}
    report, prompts, _ = await reviewed(_call("prove", test=empty), told, DONE, before=before, after=after)
    [found] = _by_model(report)
    assert (found.proof.kind, found.proof.path) == ("proved", "test/mean_review.test.ts"), prompts[1]
    assert found.proof.outside and "node:test" in prompts[0] and "karma" in prompts[0]


@pytest.mark.thorough
async def test_a_regression_in_c_is_proved_by_a_program_that_is_compiled_alone(reviewed):
    before = {
        "include/mean.h": "int mean(const int *xs, int n);\n",
        "src/mean.c": '#include "mean.h"\nint mean(const int *xs, int n) {\n  if (n == 0) return 0;\n'
        "  int s = 0;\n  for (int i = 0; i < n; i++) s += xs[i];\n  return s / n;\n}\n",
    }
    after = {"src/mean.c": before["src/mean.c"].replace("  if (n == 0) return 0;\n", "")}
    head = '#include <assert.h>\n#include "../src/mean.c"\n'
    broken = _call("prove", test=head + "int main(void) { return none(); }\n")
    empty = _call("prove", test=head + "int main(void) { assert(mean(0, 0) == 0); return 0; }\n")
    told = _call("report", path="src/mean.c", line=2, failure="mean of 0 divides by zero.", severity="high", proof="p2")
    report, prompts, _ = await reviewed(broken, empty, told, DONE, before=before, after=after)
    assert "Before the change the test: not run; after it: not run." in prompts[1], prompts[1]
    [found] = _by_model(report)
    assert (found.proof.kind, found.proof.path) == ("proved", "tests/review_2.c"), prompts[2]


@pytest.mark.thorough
async def test_a_regression_in_a_header_of_cpp_is_proved_too(reviewed):
    body = "inline int half(int n) {\n  if (n < 0) return 0;\n  return n / 2;\n}\n"
    after = {"include/half.hpp": body.replace("  if (n < 0) return 0;\n", "")}
    test = '#include <cassert>\n#include "half.hpp"\nint main() { assert(half(-4) == 0); }\n'
    told = _call("report", path="include/half.hpp", line=2, failure="half(-4) is -2.", severity="high", proof="p1")
    calls = told, _call("prove", test=test), told, DONE
    report, prompts, _ = await reviewed(*calls, before={"include/half.hpp": body}, after=after)
    [found] = _by_model(report)
    assert "No run of `prove` is called p1" in prompts[1]
    assert (found.proof.kind, found.proof.path) == ("proved", "tests/review_1.cpp"), prompts[2]


@pytest.mark.thorough
async def test_what_git_tracks_against_its_ignore_file_is_there_in_both_states(reviewed):
    before = {**BEFORE, ".gitignore": "*.dat\n", "shop/unit.dat": "3"}
    test = EMPTY.replace("mean([]) == 0", "mean([2, 4]) == int(open('shop/unit.dat').read())")
    _, prompts, _ = await reviewed(_call("prove", test=test), before=before)
    assert "Before the change the test: passed; after it: passed." in prompts[1], prompts[1]


POSTED = ("shop/prices.py:2: **high** mean([]) divides by zero.",)


async def test_after_a_push_a_model_reads_only_what_came_after_its_review(reviewed):
    later = {"shop/report.py": BEFORE["shop/report.py"].replace("mean {", "average {")}
    report, prompts, _ = await reviewed(DONE, earlier=(later, POSTED))
    assert "Diff of shop/report.py" in prompts[0] and "Diff of shop/prices.py" not in prompts[0]
    assert "Posted by earlier reviews, not to be reported again" in prompts[0] and POSTED[0] in prompts[0]
    assert report.by_model and [note.path for note in report.walkthrough] == ["shop/prices.py", "shop/report.py"]


async def test_what_a_model_has_read_to_its_end_is_not_read_again(reviewed):
    report, prompts, _ = await reviewed(earlier=({}, POSTED))
    assert report.by_model and not prompts


async def test_a_suggestion_of_whole_lines_is_a_replacement_that_can_be_read(reviewed):
    lines = "def mean(prices):\n    return sum(prices) / len(prices) if prices else 0"
    one = _report(1, "mean([]) divides by zero.", suggestion=f"{lines}\n", last_line=2)
    wrong = [
        _report(1, "F.", suggestion="def mean(prices:", last_line=2),
        _report(1, "F.", suggestion="x", last_line=99),
    ]
    report, prompts, _ = await reviewed(*wrong, one, _report(6, "G.", suggestion="Use  min."), second=[STANDS, STANDS])
    first, second = _by_model(report)
    old = "\n".join(AFTER["shop/prices.py"].split("\n")[:2])
    assert (first.replacement.first, first.replacement.last, first.replacement.new) == (1, 2, lines)
    assert (
        first.replacement.old == old and first.message == first.failure and f"+{lines[:8]}" in report_markdown(report)
    )
    assert report_json(report)["findings"][0]["message"] == f"{first.failure} Suggestion: {lines}"
    assert second.replacement is None and "Use min." in second.message
    assert "the file can't be read" in prompts[1] and "Line 99 doesn't exist" in prompts[2]
