def mask_email(address: str) -> str:
    """Hide the name of an e-mail address: keep the first character before the @ and replace each of the others
    before it by a star. Raise ValueError unless there is exactly one @ with something on both sides.
    """
    raise NotImplementedError
