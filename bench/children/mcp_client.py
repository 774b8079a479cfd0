"""Call the echo tool through the reference MCP SDK's client, and take the times.

Reads a number of calls per line and answers with the median of their times in nanoseconds.
The text to be sent is the first argument.
"""

import asyncio
import os
import statistics
import sys
from time import perf_counter_ns

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import TextContent


async def _time_calls(session: ClientSession, count: int, text: str) -> int:
    times = []
    for _ in range(count):
        began = perf_counter_ns()
        result = await session.call_tool("echo", {"text": text})
        times.append(perf_counter_ns() - began)
        content = result.content[0]
        if not isinstance(content, TextContent) or content.text != text:
            raise SystemExit(f"the MCP server answered something else: {result}")
    return int(statistics.median(times))


async def _main(text: str) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "bench_children.mcp_server"],
        env={"PYTHONPATH": os.environ["PYTHONPATH"]},
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        # Nothing else runs between the rounds, so nothing is held up by a blocking read.
        for line in sys.stdin:
            print(await _time_calls(session, int(line), text), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
