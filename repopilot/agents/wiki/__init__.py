"""A wiki of a repository as Markdown, computed from its index without a model, and kept true."""
