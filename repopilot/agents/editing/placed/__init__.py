"""Edits of one place, of which the model writes only the lines that are new."""
