def flatten(items: list) -> list:
    """Return the elements of arbitrarily nested lists as one flat list, in order. Tuples and strings are elements."""
    raise NotImplementedError
