"""Names, imports and classes of Python files, resolved across a repository as far as that is certain."""
