def run_length(text: str) -> str:
    """Compress text by writing every run of the same character as the character followed by the length of the run."""
    raise NotImplementedError
