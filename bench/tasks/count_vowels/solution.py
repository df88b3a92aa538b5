def count_vowels(text: str) -> int:
    """Return how many of the letters a, e, i, o, u are in text, in upper or lower case. The letter y does not count.
    """
    raise NotImplementedError
