"""Where a repository comes from: URL or path, clone, what is worth reading, history."""
