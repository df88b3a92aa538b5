def invert(mapping: dict) -> dict:
    """Return a dictionary from each value to the sorted list of the keys that have it."""
    raise NotImplementedError
