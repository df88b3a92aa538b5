"""Reports of test runners: recorded ones are read, and whatever is wrong is never taken for a pass."""

from __future__ import annotations

import json

import pytest

from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners import cargo_test, go_test, jest_json, node_test
from repopilot.sandbox.runners.runner_form import MOST_TESTS

TOP = "/sandbox/work/repo"
JEST = {
    "testResults": [
        {
            "name": f"{TOP}/a.test.ts",
            "status": "failed",
            "assertionResults": [
                {"ancestorTitles": ["add"], "title": "adds", "status": "passed", "duration": 3},
                {"ancestorTitles": ["add"], "title": "carries", "status": "pending"},
                {
                    "ancestorTitles": [],
                    "title": "fails",
                    "status": "failed",
                    "failureMessages": [f"Error: \x1b[31mno\x1b[0m\n    at Object.<anonymous> ({TOP}/a.ts:3:5)"],
                },
            ],
        },
        {"name": f"{TOP}/b.test.ts", "status": "failed", "message": "SyntaxError", "assertionResults": []},
    ]
}
NODE = """{"file": "/sandbox/work/repo/a.test.js", "name": "adds > one", "outcome": "passed", "seconds": 0.1}
{"file": "/sandbox/work/repo/a.test.js", "name": "fails", "outcome": "failed", "message": "1 !== 2", "stack": ""}
{"file": "/sandbox/work/repo/b.test.js", "name": "", "outcome": "failed", "message": "Error: boom", "stack": ""}
{"end": true}
"""
CARGO = """   Compiling shop v0.1.0 (/sandbox/work/repo)
     Running unittests src/lib.rs (/sandbox/work/target/debug/deps/shop-f47e503793a5f41b)

running 3 tests
test tests::adds ... ok
test tests::later ... ignored, not today
test tests::fails - should panic ... FAILED

failures:

---- tests::fails stdout ----

thread 'tests::fails' (49) panicked at src/lib.rs:3:85:
assertion `left == right` failed
test forged::inside_output ... ok

failures:
    tests::fails

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/whole.rs (/sandbox/work/target/debug/deps/t-6ebfc1d4a86f0bed)

running 1 test
test whole ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
GO = """{"Action":"start","Package":"example.org/shop"}
{"Action":"run","Package":"example.org/shop","Test":"TestAdd"}
{"Action":"output","Package":"example.org/shop","Test":"TestAdd","Output":"=== RUN   TestAdd\\n"}
{"Action":"output","Package":"example.org/shop","Test":"TestAdd","Output":"    shop_test.go:7: got 3\\n"}
{"Action":"output","Package":"example.org/shop","Test":"TestAdd","Output":"--- FAIL: TestAdd (0.00s)\\n"}
{"Action":"fail","Package":"example.org/shop","Test":"TestAdd","Elapsed":0}
{"Action":"pass","Package":"example.org/shop","Test":"TestSub/small","Elapsed":0.01}
{"Action":"skip","Package":"example.org/shop","Test":"TestLater","Elapsed":0}
{"Action":"fail","Package":"example.org/shop","Elapsed":0.002}
"""
GO_BROKEN = """# example.org/shop
./shop.go:3:9: undefined: y
{"Action":"output","Package":"example.org/shop","Output":"FAIL\\texample.org/shop [build failed]\\n"}
{"Action":"fail","Package":"example.org/shop","Elapsed":0}
"""
GO_BESIDE = """# example.org/other [example.org/other.test]
./other.go:3:9: undefined: z
{"Action":"output","Package":"example.org/other","Output":"FAIL\\texample.org/other [build failed]\\n"}
{"Action":"fail","Package":"example.org/other","Elapsed":0}
"""
GO_EVENTS = """{"ImportPath":"example.org/X [example.org/X.test]","Action":"build-output","Output":"# example.org/X\\n"}
{"ImportPath":"example.org/X [example.org/X.test]","Action":"build-output","Output":"./X.go:3:9: undefined: X\\n"}
{"ImportPath":"example.org/X [example.org/X.test]","Action":"build-fail"}
{"Action":"start","Package":"example.org/Y"}
{"Action":"output","Package":"example.org/Y","Output":"FAIL\\texample.org/Y [build failed]\\n"}
{"Action":"fail","Package":"example.org/Y","Elapsed":0,"FailedBuild":"example.org/X [example.org/X.test]"}
"""
GO_EXITS = """{"Action":"output","Package":"example.org/exits","Output":"no database\\n"}
{"Action":"fail","Package":"example.org/exits","Elapsed":0}
"""
GO_USES = """{"Action":"output","Package":"example.org/uses","Output":"FAIL\\texample.org/uses [build failed]\\n"}
{"Action":"fail","Package":"example.org/uses","Elapsed":0}
"""
RECORDED = {
    "jest": (
        jest_json.read,
        json.dumps(JEST),
        {
            "a.test.ts::add > adds": "passed",
            "a.test.ts::add > carries": "skipped",
            "a.test.ts::fails": "failed",
            "b.test.ts": "failed",
        },
    ),
    "node": (
        node_test.read,
        NODE,
        {"a.test.js::adds > one": "passed", "a.test.js::fails": "failed", "b.test.js": "failed"},
    ),
    "cargo": (
        cargo_test.read,
        CARGO,
        {
            "src/lib.rs::tests::adds": "passed",
            "src/lib.rs::tests::later": "skipped",
            "src/lib.rs::tests::fails": "failed",
            "tests/whole.rs::whole": "passed",
        },
    ),
    "go": (
        go_test.read,
        GO,
        {
            "example.org/shop::TestAdd": "failed",
            "example.org/shop::TestSub/small": "passed",
            "example.org/shop::TestLater": "skipped",
        },
    ),
    "go that does not compile": (go_test.read, GO_BROKEN, {"example.org/shop": "failed"}),
}
READERS = [jest_json.read, node_test.read, cargo_test.read, go_test.read]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_report(name):
    read, text, expected = RECORDED[name]
    report = read(text.encode(), TOP)
    assert {outcome.id: outcome.outcome for outcome in report.outcomes} == expected
    assert report.ended
    failed = next(outcome for outcome in report.outcomes if outcome.outcome == "failed")
    assert failed.message and "\x1b" not in failed.message + failed.text


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("events", [False, True])
def test_each_go_package_that_fails_without_a_test_says_why(turned, events):
    broken = [GO_BROKEN, GO_BESIDE]
    if events:
        broken = [
            GO_EVENTS.replace("X", "shop").replace("Y", "shop"),
            GO_EVENTS.replace("X", "z").replace("Y", "other"),
        ]
    parts = [GO.replace("/shop", "/red"), *broken, GO_EXITS, "" if events else GO_USES]
    report = go_test.read("".join(parts[::-1] if turned else parts).encode(), TOP)
    said = {outcome.id: outcome.message for outcome in report.outcomes if outcome.outcome == "failed"}
    assert report.ended and said.keys() - {"example.org/uses"} == {
        "example.org/red::TestAdd",
        "example.org/shop",
        "example.org/other",
        "example.org/exits",
    }
    shop, other = said["example.org/shop"], said["example.org/other"]
    assert ("undefined: shop" if events else "undefined: y") in shop and "undefined: z" not in shop
    assert "undefined: z" in other and "undefined: y" not in other and "undefined: shop" not in other
    assert said["example.org/exits"] == "no database\n"
    if not events and not turned:  # what it imports is broken, which older versions of Go don't name
        assert "undefined: y" in said["example.org/uses"]


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__module__.rpartition(".")[2])
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe\x00",
        b"null",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"testResults": 1, "stats": 2, "outcome": "passed"}',
        b'{"testResults": [{"assertionResults": [{"status": "passed", "title": {}, "duration": "x"}, 3]}, null]',
        b'{"Action": "pass", "Test": "x", "Elapsed": 1e999}',
        b"     Running unittests src/lib.rs (x)\ntest a ... ok\n",
    ],
    ids=range(9),
)
def test_a_broken_report_is_no_end(read, raw):
    assert not read(raw, TOP).ended


def test_a_report_is_bounded():
    many = b'{"file": "a", "name": "x", "outcome": "passed"}\n' * (MOST_TESTS + 5)
    assert not node_test.read(many + b'{"end": true}\n', TOP).ended
    long = json.dumps({"file": "a", "name": "t" * 9999, "outcome": "failed", "message": "m" * 99999})
    (outcome,) = node_test.read(long.encode(), TOP).outcomes
    assert len(outcome.id) < 1000 and len(outcome.message) < 5000


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdcs\x1b\\a\x9b31mb\x07\x08c\r\n\td", "abc\n\td"),
        ("\x1b]never ended", ""),
        ("a\u202eb", "ab"),
        (None, ""),
    ],
)
def test_no_terminal_escape_is_left(said, shown):
    assert plain(said) == shown
