def group_anagrams(words: list[str]) -> list[list[str]]:
    """Group words that are anagrams of each other. Groups stand in the order of their first word, words in the order
    given.
    """
    raise NotImplementedError
