"""RepoPilot beside other ways to search code, in one run: quality and time."""
