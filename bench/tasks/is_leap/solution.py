def is_leap(year: int) -> bool:
    """Return whether a year is a leap year in the Gregorian calendar."""
    raise NotImplementedError
