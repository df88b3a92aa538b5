def common_prefix(words: list[str]) -> str:
    """Return the longest prefix all words share; the empty text when there are no words."""
    raise NotImplementedError
