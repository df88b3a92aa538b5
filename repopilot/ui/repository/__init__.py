"""Opening a repository in the chat."""
