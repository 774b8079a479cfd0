"""What a plugin says of itself and answers: read, or refused with ValueError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyhost import codec
from tinyhost.dialects import mcp_content, native

SEEDS = [
    b'{"id":"p","version":"1","tools":[{"name":"t","description":"d","inputSchema":'
    b'{"type":"object","properties":{}},"permission":"bash"}],"hooks":["permission.ask"],'
    b'"protocol":{"concurrency":4,"cancel":true,"progress":true,"maxLineBytes":99}}',
    b'{"output":{"a":1}}',
    b'{"content":"x","isError":true}',
    b'{"content":[{"type":"text","text":"x"},{"type":"image","data":"AAAA","mimeType":"image/png"},'
    b'{"type":"resource","resource":{"uri":"a:b","text":"t"}}],"isError":false,"structuredContent":{}}',
]


def check(data: bytes) -> None:
    """Decode it as one line of the wire would be, and read it as everything it could be."""
    try:
        value = codec.loads(data)
    except ValueError:
        return
    readers: list[Callable[[Any], Any]] = [
        lambda value: native.read_manifest("demo", value),
        native.decode_hook,
        native.decode_tool,
    ]
    if type(value) is dict:
        readers.append(mcp_content.tool_result)
    for read in readers:
        try:
            read(value)
        except ValueError as error:
            if not str(error):
                raise


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
