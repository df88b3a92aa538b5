"""Every rule of the registry, by its own examples; and what holds of all of them."""

from __future__ import annotations

import re

import pytest

from repopilot import i18n
from repopilot.agents.review.findings import DOMAINS, WEIGHTS
from repopilot.agents.review.rules.registry import RULES, rules_for
from repopilot.agents.review.rules.rule import Rule
from repopilot.code.file_version import Code, code


def example(rule: Rule, text: str) -> Code:
    return code("pkg/example", text, rule.languages[0])


def names(rule: Rule) -> str:
    return f"{rule.id}-{rule.languages[0]}"


@pytest.mark.parametrize("rule", RULES, ids=names)
def test_a_rule_finds_its_bad_example_and_not_its_good_one(rule: Rule) -> None:
    bad = rule.findings(example(rule, rule.bad))
    assert bad and {(f.rule, f.domain) for f in bad} == {(rule.id, rule.domain)}
    assert rule.findings(example(rule, rule.good)) == []


@pytest.mark.parametrize("rule", RULES, ids=names)
def test_a_rule_is_complete(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", rule.id)
    assert rule.domain in DOMAINS and rule.severity in WEIGHTS and rule.languages
    assert rule.cwe is None or rule.cwe > 0


@pytest.mark.parametrize("rule", RULES, ids=names)
def test_a_message_is_in_the_catalogue_in_both_languages(rule: Rule) -> None:
    for finding in rule.findings(example(rule, rule.bad)):
        assert isinstance(finding.message, i18n.Message)
        assert i18n.translated(finding.message, "fr") != finding.message


@pytest.mark.parametrize("rule", RULES, ids=names)
def test_a_rule_has_a_message_in_the_catalogue(rule: Rule) -> None:
    key = (rule.key or f"rules.{rule.id}").removeprefix("rules.")
    assert any(known == key or known.startswith(f"{key}.") for known in i18n.section("rules", "en"))


def test_every_message_belongs_to_a_rule() -> None:
    """A message whose rule is gone, or whose id is spelt otherwise, is an error."""
    keys = {rule.key or f"rules.{rule.id}" for rule in RULES}
    for key in i18n.section("rules", "en"):
        assert {f"rules.{key}", f"rules.{key}".rpartition(".")[0]} & keys, key


def test_rules_of_one_id_agree() -> None:
    """The same fault in another language is of the same domain, and the same weakness."""
    facts: dict[str, tuple[str, int | None]] = {}
    for rule in RULES:
        assert facts.setdefault(rule.id, (rule.domain, rule.cwe)) == (rule.domain, rule.cwe)


def test_rules_are_chosen_by_language_and_domain() -> None:
    assert all("python" in r.languages and r.domain == "style" for r in rules_for("python", "style"))
    assert rules_for("no-such-language", "style") == ()
