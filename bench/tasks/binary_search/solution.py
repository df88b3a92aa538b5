def binary_search(items: list[int], wanted: int) -> int:
    """Return the index of the first occurrence of wanted in a sorted list, or -1."""
    raise NotImplementedError
