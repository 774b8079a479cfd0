"""Packages for the tests, written from what is known of the format."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

AddPackage = Callable[..., Path]

# What a package's program begins with: words to misbehave with.
WORDS = """\
import json, os, signal, subprocess, sys, time

def recv():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else None

def raw(data):
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

def reply(request, result):
    message = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    raw(json.dumps(message, ensure_ascii=False) + "\\n")

def fail(request, message, code=-32000, **more):
    error = {"code": code, "message": message, **more}
    raw(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}) + "\\n")

def log(text):
    sys.stderr.write(text)
    sys.stderr.flush()

def start():
    request = recv()
    reply(request, {"protocolVersion": "zuno.plugin/1"})
    return request

def answer(output="done", **more):
    return {"title": "t", "output": output, **more}

def serve(call=lambda params: answer()):
    while (request := recv()) is not None:
        if request["method"] == "shutdown":
            reply(request, {})
            return
        reply(request, call(request["params"]))
"""


def manifest(name: str, **changes: Any) -> dict[str, Any]:
    """A process package's manifest. Changes replace keys; None leaves one out."""
    value = {
        "apiVersion": "zuno.extension/v1",
        "id": name,
        "description": "A package for a test.",
        "runtime": {
            "kind": "process",
            "command": sys.executable,
            "args": ["plugin.py"],
            "capabilities": ["host.full"],
        },
        "tools": {"t": {"description": "A tool.", "parameters": {"type": "object"}}},
        **changes,
    }
    return {key: entry for key, entry in value.items() if entry is not None}


def write_package(folder: Path, body: str = "start()\nserve()", **changes: Any) -> Path:
    """Write a package's folder; the body is Python that has WORDS."""
    folder.mkdir(parents=True)
    (folder / "extension.json").write_text(json.dumps(manifest(folder.name, **changes)))
    (folder / "plugin.py").write_text(WORDS + textwrap.dedent(body))
    return folder


@pytest.fixture
def add_package(home: Path) -> AddPackage:
    """add_package(id, body, **changes): put a package into the person's extension folder."""

    def add(id: str, body: str = "start()\nserve()", **changes: Any) -> Path:
        return write_package(home / "config" / "extensions" / id, body, **changes)

    return add


@pytest.fixture
def make_package() -> AddPackage:
    """make_package(folder, body, **changes): write a package anywhere."""
    return write_package
