"""A generation of an index on disk: its files, its database, its arrays."""
