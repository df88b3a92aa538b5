def calculate(expression: str) -> int:
    """Evaluate an expression in reverse Polish notation of whole numbers and + - *, separated by spaces. Raise
    ValueError when it is malformed.
    """
    raise NotImplementedError
