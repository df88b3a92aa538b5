"""Which paths of a repository count, and how patterns and rules name them."""
