"""Rules for languages other than Python, most of them in ast-grep's YAML."""

from repopilot.review.rules.polyglot import ast_grep, functions

RULES = (*ast_grep.built_in_rules(), *functions.RULES)
"""Every built-in rule for languages other than Python."""
