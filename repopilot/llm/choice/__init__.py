"""Which models answer: found, chosen, loaded, and shown."""
