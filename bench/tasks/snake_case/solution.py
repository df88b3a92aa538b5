def snake_case(name: str) -> str:
    """Turn a CamelCase or camelCase name into snake_case: each upper-case letter becomes an underscore and the
    letter in lower case, with no underscore at the beginning.
    """
    raise NotImplementedError
