def chunks(items: list, size: int) -> list[list]:
    """Split items into consecutive lists of the given size; the last may be shorter. Raise ValueError when size < 1.
    """
    raise NotImplementedError
