"""The echo tool as a server made with the reference MCP SDK, over standard input and output."""

from mcp.server.mcpserver import MCPServer

# No log lines and no second, structured copy of each result: both would cost it time.
server = MCPServer("bench", log_level="ERROR")


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Give the text back."""
    return text


if __name__ == "__main__":
    server.run("stdio")
