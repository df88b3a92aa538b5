"""Edits of options that programs declare for their command line."""
