"""Reads a run's output within bounds and without terminal escapes. Pure but for the clock."""
