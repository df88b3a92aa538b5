def merge_intervals(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge overlapping or touching closed intervals (start, end). Return tuples sorted by start."""
    raise NotImplementedError
