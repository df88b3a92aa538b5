"""Past commits: their search index, and the file they are kept in."""
