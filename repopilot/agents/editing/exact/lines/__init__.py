"""Lines in files that are no code: lists of patterns, change logs, comments above definitions; and sorting."""
