"""Review: what is wrong with code, found by tools and checks."""
