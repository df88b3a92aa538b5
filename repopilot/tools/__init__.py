"""Tools with typed arguments that the agents' loop, MCP, the HTTP API and typed commands share."""
