"""Where definitions are used: by whom, by which tests, and what a change leaves behind."""
