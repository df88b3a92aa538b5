def word_counts(text: str) -> dict[str, int]:
    """Return how often each word occurs. Words are separated by white space, compared in lower case, and stripped of
    the punctuation marks . , ! ? at both ends. Empty words do not count.
    """
    raise NotImplementedError
