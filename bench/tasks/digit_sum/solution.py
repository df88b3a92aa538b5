def digit_sum(number: int) -> int:
    """Return the sum of the decimal digits of a number; the sign is ignored."""
    raise NotImplementedError
