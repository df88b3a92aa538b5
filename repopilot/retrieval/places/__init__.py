"""Prepares hits for display: joins neighbouring passages, finds definitions, and the lines and words that matter."""
