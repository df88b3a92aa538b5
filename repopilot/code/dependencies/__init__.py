"""Reads what a Python project declares: its requirements, those of its tests, its metadata. Pure."""
