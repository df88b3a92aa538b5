def title_case(text: str) -> str:
    """Write the first letter of each word in upper case and the others in lower case, except the words a, an, the,
    of and in, which are in lower case unless they come first. Words are separated by single spaces.
    """
    raise NotImplementedError
