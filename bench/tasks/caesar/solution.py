def caesar(text: str, shift: int) -> str:
    """Shift every English letter by shift places in the alphabet, around its end, keeping the case. Other characters
    stay.
    """
    raise NotImplementedError
