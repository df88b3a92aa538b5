"""Questions to the user in the middle of an answer."""
