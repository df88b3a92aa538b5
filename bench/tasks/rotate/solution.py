def rotate(items: list, steps: int) -> list:
    """Return a new list with the items moved to the right by steps places, around the end. Negative steps move to
    the left. The given list is not changed.
    """
    raise NotImplementedError
