"""Isolation levels with a command of their own, and the machine's state that no run may see."""
