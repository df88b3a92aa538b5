"""Checks of a working copy's edits: meanings, linters, type checkers, the repository's own commands."""
