def moving_average(numbers: list[float], size: int) -> list[float]:
    """Return the averages of every window of size consecutive numbers; an empty list when there are fewer numbers
    than size.
    """
    raise NotImplementedError
