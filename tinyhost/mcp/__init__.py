"""MCP servers beside their wire: how they are found and started, and those behind HTTP."""
