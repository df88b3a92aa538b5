"""Definitions and modules that move, with everything that imports them."""
