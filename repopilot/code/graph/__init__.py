"""The code graph: what declares, imports, calls, inherits from, uses or tests what."""
