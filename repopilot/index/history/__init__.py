"""Past commits: their search index, the tree of their paths, and the file they are kept in."""
