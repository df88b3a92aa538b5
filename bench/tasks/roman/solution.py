def roman(number: int) -> str:
    """Return the Roman numeral of a number from 1 to 3999."""
    raise NotImplementedError
