def to_base(number: int, base: int) -> str:
    """Write a number in a base from 2 to 16 with the digits 0-9 and a-f. A negative number begins with a minus sign.
    """
    raise NotImplementedError
