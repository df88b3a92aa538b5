"""Answers about the project as such: its dependencies, commands, lists, tests and history."""
