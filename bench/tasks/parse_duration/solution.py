def parse_duration(text: str) -> int:
    """Return the seconds of a duration like "1h30m", "45s" or "2h5s": parts with the units h, m and s, each at most
    once and in this order. Raise ValueError for anything else, also for the empty text.
    """
    raise NotImplementedError
