"""Changes as values: hunks, patches, merging, and writing them to disk."""
