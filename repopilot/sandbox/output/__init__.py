"""Reads what a run wrote: within bounds, and without what a terminal would obey. Pure but for the clock."""
