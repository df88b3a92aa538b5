def gcd(a: int, b: int) -> int:
    """Return the greatest common divisor, never negative. The one of 0 and 0 is 0."""
    raise NotImplementedError
