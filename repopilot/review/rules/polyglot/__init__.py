"""Rules for languages other than Python, most of them in ast-grep's YAML."""

from repopilot.review.rules.polyglot import ast_grep, doc_comments, functions, suspicious_conditions

RULES = (*ast_grep.built_in_rules(), *functions.RULES, *suspicious_conditions.RULES, *doc_comments.RULES)
"""Every built-in rule for languages other than Python."""
