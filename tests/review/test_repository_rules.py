"""Rules that a repository brings: read only if allowed, bounded, marked, and never fatal."""

from __future__ import annotations

import time

import pytest

from repopilot.review.code import code
from repopilot.review.rules.polyglot import repository_rules
from repopilot.review.rules.polyglot.repository_rules import parse

RULE = """id: no-fetch
language: JavaScript
severity: warning
message: Use our client, not fetch.
metadata: {domain: security}
rule: {pattern: fetch($$$ARGS)}
"""
FILE = code("a.js", "f();\nfetch(url);\n", "javascript")


def test_a_rule_of_the_repository_finds_and_is_marked() -> None:
    rules = parse([(".repopilot/rules/a.yml", RULE.encode())])
    (finding,) = rules.find([FILE, code("a.py", "fetch(url)\n", "python")])
    assert (finding.path, finding.line, finding.severity, finding.domain) == ("a.js", 2, "high", "security")
    assert (finding.rule, finding.source) == ("repository/no-fetch", "repository")
    assert finding.message == "Use our client, not fetch."
    assert rules.notes == []


BROKEN = {
    "not YAML": b"id: [",
    "not UTF-8": b"\xff\xfe\x00",
    "no mapping": b"- 1\n",
    "no rule": b"id: a\nlanguage: go\n",
    "no id": b"language: go\nrule: {kind: identifier}\n",
    "an id with markup": b"id: '<b>'\nlanguage: go\nrule: {kind: identifier}\n",
    "an unknown language": b"id: a\nlanguage: cobol\nrule: {kind: identifier}\n",
    "an unknown severity": b"id: a\nlanguage: go\nseverity: worst\nrule: {kind: identifier}\n",
    "a large file": b"#" * 40_000,
    "deep nesting": b"id: a\nlanguage: go\nrule: " + b"{not: " * 40 + b"{kind: a}" + b"}" * 40,
    "extremely deep nesting": b"[" * 10_000,
    "many parts": b"id: a\nlanguage: go\nrule: {any: [" + b"{kind: identifier}," * 300 + b"]}",
    "a long pattern": b"id: a\nlanguage: go\nrule: {regex: '" + b"a" * 600 + b"'}",
    "aliases": b"a: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "an object": b"!!python/object/apply:os.system ['true']\n",
    "a date": b"id: a\nlanguage: go\nrule: {kind: 2001-01-01}\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_said_and_the_others_count(name: str) -> None:
    rules = parse([(".repopilot/rules/bad.yml", BROKEN[name]), (".repopilot/rules/good.yml", RULE.encode())])
    assert [rule.id for rule in rules.rules] == ["repository/no-fetch"]
    (note,) = rules.notes
    assert ".repopilot/rules/bad.yml" in note


def test_a_rule_ast_grep_refuses_is_said() -> None:
    refused = RULE.replace("no-fetch", "refused").replace("pattern: fetch($$$ARGS)", "kind: no_such_kind")
    rules = parse([("a.yml", f"{refused}---\n{RULE}".encode())])
    assert [f.rule for f in rules.find([FILE])] == ["repository/no-fetch"]
    (note,) = rules.notes
    assert "repository/refused" in note


@pytest.mark.slow
def test_files_and_rules_are_bounded_in_number() -> None:
    rules = parse([(f"{n}.yml", RULE.encode()) for n in range(100)])
    assert len(rules.rules) == 32 and "32" in rules.notes[0]
    rules = parse([("a.yml", "---\n".join([RULE] * 100).encode())])
    assert len(rules.rules) == 64 and "64" in rules.notes[0]


@pytest.mark.slow
def test_a_rule_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_rules, "_SECONDS", 8.0)
    endless = "".join("{stopBy: end, has: " for _ in range(6)) + "{regex: zz, stopBy: end}" + "}" * 6
    slow = RULE.replace("{pattern: fetch($$$ARGS)}", f"{{has: {endless}}}").replace("no-fetch", "slow")
    nested = code("b.js", "x = " + "[" * 400 + "1" + "]" * 400 + ";\n" * 50, "javascript")
    rules = parse([("a.yml", f"{RULE}---\n{slow}".encode())])
    began = time.monotonic()
    found = rules.find([FILE, nested])
    assert time.monotonic() - began < 30
    assert "repository/no-fetch" in {f.rule for f in found}
    assert any("stopped" in note for note in rules.notes)


def test_a_message_cannot_bring_markup_into_the_report() -> None:
    hostile = RULE.replace("Use our client, not fetch.", '"<script>x</script> [a](http://b)\\n\\n# Head | \\u202e" ')
    (finding,) = parse([("a.yml", hostile.encode())]).find([FILE])
    assert not set(finding.message) & set("<>[]|\n\u202e")


def test_a_rule_cannot_pass_for_a_built_in_one() -> None:
    (finding,) = parse([("a.yml", RULE.replace("no-fetch", "tls-off").encode())]).find([FILE])
    assert finding.rule == "repository/tls-off"
