"""Which definition an occurrence of a name means, and where a definition is used: resolved, never by spelling alone."""
