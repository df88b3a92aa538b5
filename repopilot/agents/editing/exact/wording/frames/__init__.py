"""Frames: what a clause may ask for, by its verb; each takes the parts it understands."""
