"""The review rules, collected from the tuple `RULES` of every module of rules.

To add a rule:

1. Describe the fault in the YAML file under `rules/polyglot` that fits; `polyglot/ast_grep.py` says how. For what
   ast-grep can't describe, write a function and a `Rule` that names it, in a module with a tuple `RULES`.
2. Add its message to `[rules]` in `i18n/en.toml` and `i18n/fr.toml`, under the rule's id or the key that it names.
3. Run `pytest tests/review/test_rules.py`: the rule has to find its fault in its `bad` example and nothing in `good`.

A new module of rules is added to `_MODULES` below. Importing a module registers nothing by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from repopilot.agents.review.rules import workflows
from repopilot.agents.review.rules.polyglot import ast_grep
from repopilot.agents.review.rules.rule import Rule
from repopilot.code.file_version import Code
from repopilot.code.languages import is_test_path
from repopilot.types import Finding

_MODULES = (ast_grep, workflows)

RULES: tuple[Rule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
"""Every built-in rule, in the order of the modules."""


def find(codes: Sequence[Code], domain: str) -> list[Finding]:
    """The findings of one domain in some files. Security rules skip tests, which use invalid keys and hostile input on
    purpose.

    Args:
        codes: the files; those in a language without rules are passed over.
        domain: `security`, `performance` or `style`.

    Returns:
        Findings file by file, in the order of the rules.
    """
    searched = [code for code in codes if domain != "security" or not is_test_path(code.path)]
    return [f for code in searched for rule in rules_for(code.language, domain) for f in rule.findings(code)]


@cache
def rules_for(language: str, domain: str) -> tuple[Rule, ...]:
    """The rules of one domain that apply to a language."""
    return tuple(rule for rule in RULES if rule.domain == domain and language in rule.languages)
