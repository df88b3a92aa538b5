"""The review rules: every module of rules has a tuple `RULES`, and this is where they come together.

To add a rule:

1. Write a function that finds the fault and a `Rule` that names it, in the module under `rules/` that fits, and put the
   `Rule` into that module's `RULES`. A rule on Python's syntax tree uses `on_tree` (`rules/python/tree.py`).
2. Add its message to `[rules]` in `i18n/en.toml` and `i18n/fr.toml`, under the rule's id.
3. Run `pytest tests/review/test_rules.py`: the rule has to find its fault in its `bad` example and nothing in `good`.

A new module of rules is added to `_MODULES` below. Importing a module registers nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from repopilot.review.code import Code
from repopilot.review.rules import polyglot, workflows
from repopilot.review.rules.python import orm_queries, piped_downloads, secret_handling, speed
from repopilot.review.rules.rule import Rule
from repopilot.types import Finding

_MODULES = (secret_handling, orm_queries, speed, piped_downloads, polyglot, workflows)

RULES: tuple[Rule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
"""Every built-in rule, in the order of the modules."""


def find(codes: Sequence[Code], domain: str, rules: Iterable[Rule] | None = None) -> list[Finding]:
    """The findings of one domain in some files.

    Args:
        codes: the files; those in a language without rules are passed over.
        domain: `security`, `performance` or `style`.
        rules: the rules to apply, the built-in ones by default.

    Returns:
        Findings file by file, in the order of the rules.
    """
    if rules is not None:
        chosen = tuple(rules)
        return [f for code in codes for rule in _applicable(chosen, code.language, domain) for f in rule.findings(code)]
    return [f for code in codes for rule in rules_for(code.language, domain) for f in rule.findings(code)]


@cache
def rules_for(language: str, domain: str) -> tuple[Rule, ...]:
    """The built-in rules of one domain that apply to a language."""
    return tuple(_applicable(RULES, language, domain))


def _applicable(rules: Iterable[Rule], language: str, domain: str) -> list[Rule]:
    return [rule for rule in rules if rule.domain == domain and language in rule.languages]
