def primes_below(limit: int) -> list[int]:
    """Return all prime numbers smaller than limit, in ascending order."""
    raise NotImplementedError
