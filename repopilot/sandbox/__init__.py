"""Runs code that nobody has read: isolation levels, and the verdict on test runs."""
