"""Mutation testing: copies of Python code with one deliberate fault, which a good test notices. Pure."""
