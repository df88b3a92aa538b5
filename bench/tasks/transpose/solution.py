def transpose(rows: list[list]) -> list[list]:
    """Return the transposed matrix as a list of lists. The transposed empty matrix is []."""
    raise NotImplementedError
