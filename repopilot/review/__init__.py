"""Review: what is wrong with code, found by tools and checks, and by a model only where its finding survives."""
