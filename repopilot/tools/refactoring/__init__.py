"""Edits that follow every use of a name: renames, moves, signatures, imports."""
