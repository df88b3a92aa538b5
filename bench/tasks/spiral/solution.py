def spiral(rows: list[list[int]]) -> list[int]:
    """Return the numbers of a matrix in clockwise spiral order, beginning at the top left."""
    raise NotImplementedError
