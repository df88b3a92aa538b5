"""Rules written in ast-grep's YAML, and those on functions of languages other than Python."""

from repopilot.review.rules.polyglot import ast_grep, functions

RULES = (*ast_grep.built_in_rules(), *functions.RULES)
"""Every rule of this folder."""
