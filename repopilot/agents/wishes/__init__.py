"""Which places of the code a task or wish would change."""
