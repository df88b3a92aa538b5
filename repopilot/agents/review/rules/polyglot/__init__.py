"""Rules written in ast-grep's YAML."""

from repopilot.agents.review.rules.polyglot import ast_grep

RULES = ast_grep.built_in_rules()
"""Every rule of this folder."""
