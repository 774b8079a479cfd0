"""What plugins of all kinds say of themselves and answer: read, or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyhost import codec
from tinyhost.bingo.forms import read as read_bingo
from tinyhost.bingo.manifest import PluginManifest
from tinyhost.dialects import mcp_content, mcp_tools, native
from tinyhost.zuno.manifest import BadManifest
from tinyhost.zuno.manifest import read_manifest as read_zuno

SEEDS = [
    b'{"id":"p","version":"1","tools":[{"name":"t","description":"d","inputSchema":'
    b'{"type":"object","properties":{}},"permission":"bash"}],"hooks":["permission.ask"],'
    b'"protocol":{"concurrency":4,"cancel":true,"progress":true,"maxLineBytes":99}}',
    b'{"output":{"a":1}}',
    b'{"content":"x","isError":true}',
    b'{"content":[{"type":"text","text":"x"},{"type":"image","data":"AAAA","mimeType":"image/png"},'
    b'{"type":"resource","resource":{"uri":"a:b","text":"t"}}],"isError":false,"structuredContent":{}}',
    b'{"name":"p","version":"1","entry":{"command":"${PLUGIN_ROOT}/p","args":["a"],"env":{"A":"b"}}}',
    b'[{"name":"a.b","description":"d","inputSchema":{"type":"object"},"annotations":'
    b'{"readOnlyHint":true}},{"name":"a_b","inputSchema":{"type":"object","properties":{"x":{}}}}]',
    b'{"apiVersion":"zuno.plugin/1","id":"p","description":"d","runtime":{"command":["p"]},"tools":'
    b'[{"name":"t","description":"d","parameters":{"type":"object","properties":{}}}],"skills":[],'
    b'"agents":[{"name":"a","description":"d","prompt":"p"}],"workflows":[]}',
]


def check(data: bytes) -> None:
    """Decode it as one line of the wire would be, and read it as everything it could be."""
    try:
        read_zuno(data)
    except BadManifest as error:
        if not error.problems:
            raise
    try:
        value = codec.loads(data)
    except ValueError:
        return
    readers: list[Callable[[Any], Any]] = [
        lambda value: native.read_manifest("demo", value),
        native.decode_hook,
        native.decode_tool,
        lambda value: read_bingo(PluginManifest, value),
    ]
    if type(value) is dict:
        readers.append(mcp_content.tool_result)
    if type(value) is list:
        readers.append(lambda value: mcp_tools.read_tools("demo", value))
    for read in readers:
        try:
            read(value)
        except ValueError as error:
            if not str(error):
                raise


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
