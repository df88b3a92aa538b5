"""What agents and MCP clients may look up in an index and its code graph."""
