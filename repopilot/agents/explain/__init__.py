"""Answer a question from excerpts, with citations that code has verified."""
