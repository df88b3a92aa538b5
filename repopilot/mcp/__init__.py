"""Repository tools for MCP clients."""
