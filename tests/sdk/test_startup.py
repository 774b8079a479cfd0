"""What a plugin may import before it has answered its first request."""

import subprocess
import sys

import pytest

SLOW = (
    "json re typing enum functools dataclasses threading inspect types collections contextlib abc"
)
# abc and its kind are there in a bare interpreter; the comparison takes them out.
SCRIPT = """
import sys
before = set(sys.modules)
from tinyhost_sdk import Hooks, Plugin, Tool, run

plugin = Plugin("p", hooks=Hooks(permission_ask=lambda event: True))

@plugin.tool
def greet(name: str, times: int | None = None, *, context) -> str:
    return name

@plugin.hook("dispose")
def bye():
    print(*sorted(set(sys.modules) - before))

run(plugin)
"""
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"options":{"a":1}}}\n'
CALLS = (
    b'{"jsonrpc":"2.0","id":2,"method":"tool/call","params":{"name":"greet","args":{"name":"x"}}}\n'
    b'{"jsonrpc":"2.0","id":3,"method":"hook/invoke","params":{"name":"permission.ask","input":{}}}\n'
)


@pytest.mark.parametrize("requests", [INITIALIZE, INITIALIZE + CALLS])
def test_a_plugin_starts_and_answers_with_nothing_but_the_sdk(tmp_path, requests):
    path = tmp_path / "plugin.py"
    path.write_text(SCRIPT)
    result = subprocess.run(
        [sys.executable, "-I", str(path)], input=requests, capture_output=True, check=True
    )
    assert result.stdout.count(b"\n") == requests.count(b"\n")
    assert b'"error"' not in result.stdout
    imported = set(result.stderr.decode().split())
    assert not imported & set(SLOW.split())
    other = {name for name in imported if not name.startswith("tinyhost_sdk")}
    assert other <= {"_json", "_thread", "time"}


def test_the_wire_alone_imports_no_third_party_package(tmp_path):
    script = (
        "import sys; import tinyhost_sdk.wire, tinyhost_sdk.testing\n"
        "print(*sys.modules.keys() & {'trio', 'attrs', 'attr', 'cattrs', 'click', 'msgspec'})"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
