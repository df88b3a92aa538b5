"""Where conversations are stored, and who opened what: a file, or a server."""
