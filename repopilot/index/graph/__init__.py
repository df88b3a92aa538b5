"""The code graph of an index: opened on demand, and kept in a file."""
