"""Reads what a task wants from a few telling words, and what it wants it of from the names that are in the code."""
