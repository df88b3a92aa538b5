"""Parameters that are added, removed, renamed, reordered and made required, with their callers."""
