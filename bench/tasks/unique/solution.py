def unique(items: list) -> list:
    """Return the items without repetitions, each at the place of its first occurrence. The items need not be
    hashable.
    """
    raise NotImplementedError
