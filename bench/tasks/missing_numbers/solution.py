def missing_numbers(numbers: list[int]) -> list[int]:
    """Return, in ascending order, the whole numbers between the smallest and the largest of numbers that are not
    among them.
    """
    raise NotImplementedError
