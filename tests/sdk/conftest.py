"""Plugins in real child processes, with pipes to their standard streams."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import pytest

BOUND = 20.0  # seconds that a test waits for what should happen at once


def environment():
    """Ours, but with the usual buffering: prints made before run() wait for its end."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


class Child:
    """A plugin process, and the host's ends of its pipes."""

    def __init__(self, path, log, env):
        self._log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
                env=env,
                start_new_session=True,
            )
        self._buffer = b""
        self._id = 0

    @property
    def log(self):
        return self._log.read_text()

    def send(self, method, params=None):
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode() + b"\n")
        return self._id

    def notify(self, method, params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def receive(self):
        """The next line as JSON, or None at the end of the stream."""
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self.process.stdout], [], [], BOUND)
            assert readable, f"no line within {BOUND} s; stderr: {self.log}"
            data = self.process.stdout.read(65536)
            if not data:
                assert self._buffer == b""
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def call(self, method, params=None):
        id = self.send(method, params)
        reply = self.receive()
        assert reply["id"] == id
        return reply

    def tool(self, name, args=None):
        return self.call("tool/call", {"name": name, "args": args})["result"]

    def start_tool(self, name, args=None):
        return self.send("tool/call", {"name": name, "args": args})

    def wait_for_log(self, text):
        deadline = time.monotonic() + BOUND
        while text not in self.log:
            assert time.monotonic() < deadline, f"{text!r} is not in: {self.log}"
            time.sleep(0.01)

    def close_stdin(self):
        self.process.stdin.close()

    def wait(self):
        return self.process.wait(BOUND)

    def end(self):
        """Close stdin, and give the exit status."""
        self.close_stdin()
        return self.wait()

    def clean_up(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(BOUND)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture(name="environment")
def _environment():
    return environment()


@pytest.fixture
def start(tmp_path):
    """Start a plugin from the text of its program; initialized unless told otherwise."""
    children = []

    def start(text, *, initialize=True):
        number = len(children)
        path = tmp_path / f"plugin{number}.py"
        path.write_text("from tinyhost_sdk import *\n" + text)
        child = Child(path, tmp_path / f"stderr{number}", environment())
        children.append(child)
        if initialize:
            child.manifest = child.call("initialize", {"version": "1.0"})["result"]
        return child

    yield start
    for child in children:
        child.clean_up()
