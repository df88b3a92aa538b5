def is_palindrome(text: str) -> bool:
    """Return whether text reads the same backwards, looking only at letters and digits and ignoring case."""
    raise NotImplementedError
