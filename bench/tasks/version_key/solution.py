def compare_versions(one: str, other: str) -> int:
    """Compare version numbers like "1.2.10" part by part as numbers; missing parts count as 0. Return -1, 0 or 1 as
    one is older than, equal to or newer than the other.
    """
    raise NotImplementedError
