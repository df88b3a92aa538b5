"""Edits that need no model: the task says all of what is to be written, and code finds every place of it."""
