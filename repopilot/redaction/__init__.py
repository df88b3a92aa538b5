"""Secrets: which files are never read, and which values in text are replaced by `[REDACTED:rule]`."""
