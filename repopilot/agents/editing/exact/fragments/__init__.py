"""Pieces of code that a task quotes: finding them by their tokens, and putting others in their place."""
