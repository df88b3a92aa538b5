"""Worker processes for the heavy part of indexing."""
