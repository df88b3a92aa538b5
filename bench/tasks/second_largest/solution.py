def second_largest(numbers: list[int]) -> int | None:
    """Return the second largest distinct number, or None when there are fewer than two distinct numbers."""
    raise NotImplementedError
