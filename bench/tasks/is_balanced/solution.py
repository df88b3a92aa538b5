def is_balanced(text: str) -> bool:
    """Return whether the brackets (), [] and {} in text are balanced and properly nested. Other characters are
    ignored.
    """
    raise NotImplementedError
