"""Which agent a question goes to."""
