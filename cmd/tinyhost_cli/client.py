"""Talk to a running host: JSON-RPC 2.0 lines over its socket.

Standard library only, and light: a command that attaches is done before others have
imported what they need.
"""

from __future__ import annotations

import os
import socket

from tinyhost import runtime
from tinyhost_sdk import codec, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Handler = Callable[[Mapping[str, Any]], Any]

MAX_LINE = 16 * 1024 * 1024  # bytes
NOT_LOADED = -32004  # the host has not loaded a plugin that was named
_INVALID_PARAMS, _CONFIG = -32602, -32003
_USAGE_EXIT, _CONFIG_EXIT, _FAILED_EXIT = 2, 3, 1


class HostGone(Exception):
    """The host closed the connection, or did not answer in time."""


class HostError(Exception):
    """The host's answer is an error. data: the error as JSON, with type and message."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.code = code
        self.data = data if isinstance(data, dict) else {"type": "HostError", "message": message}
        super().__init__("\n".join([message, *map(str, self.data.get("notes", ()))]))

    @property
    def exit_code(self) -> int:
        """What the command exits with."""
        return {_INVALID_PARAMS: _USAGE_EXIT, _CONFIG: _CONFIG_EXIT}.get(self.code, _FAILED_EXIT)


class Client:
    """One connection; one call at a time. It ends with the `with` block."""

    def __init__(
        self,
        path: str,
        *,
        timeout: float | None = None,
        dumps: Callable[[object], str] = codec.encode,
        loads: Callable[[str], Any] = codec.decode,
    ) -> None:
        """dumps, loads: the codec. Raises OSError when nobody listens there, or somebody else."""
        self._dumps, self._loads = dumps, loads
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(timeout)
            with runtime.Address(path) as address:
                self._socket.connect(address)
            if not runtime.is_own(self._socket):
                raise PermissionError(f"the host at {path} is somebody else's")
        except BaseException:
            self._socket.close()
            raise
        self._input = self._socket.makefile("rb")
        self._last_id = 0
        self.result_text = ""  # the last result as the host wrote it, numbers and all

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._input.close()
        self._socket.close()

    def detach(self) -> socket.socket:
        """The socket, for another protocol that both ends have agreed on."""
        return self._socket.dup()

    def call(
        self,
        method: str,
        params: Mapping[str, Any],
        handlers: Mapping[str, Handler] | None = None,
        raw: Mapping[str, str] | None = None,
    ) -> Any:
        """Call a method and return its result.

        raw: further members of params, as JSON text. handlers: what to do with the host's notifications and requests meanwhile, by method;
        a request's answer is what its handler returns, and an OSError from it is an error. Raises HostError and HostGone.
        """
        self._last_id += 1
        self._send(wire.request(self._last_id, method, self._params(params, raw or {})))
        while True:
            line = self._receive()
            message = self._parsed(line)
            if "method" in message:
                self._handle(message, handlers or {})
            elif message.get("id") == self._last_id:
                self.result_text = line.partition('"result":')[2].rstrip()[:-1]
                return _result(message)

    def notes(self) -> Iterator[tuple[str, Any]]:
        """The host's notifications, for ever: method and params. Raises HostGone."""
        while True:
            message = self._parsed(self._receive())
            if "method" in message and "id" not in message:
                yield message["method"], message.get("params")

    def _handle(self, message: Mapping[str, Any], handlers: Mapping[str, Handler]) -> None:
        handler, id = handlers.get(message["method"]), message.get("id")
        if handler is None:
            if id is not None:
                self._send(wire.failure(id, -32601, "this client cannot do that"))
            return
        try:
            result = handler(message.get("params") or {})
        except OSError as error:
            if id is not None:
                self._send(wire.failure(id, -32000, str(error)))
            return
        if id is not None:
            self._send(wire.success(id, result))

    def _send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except OSError as error:
            raise HostGone(f"the running host is gone: {error}") from None

    def _receive(self) -> str:
        try:
            line = self._input.readline(MAX_LINE + 1)
        except TimeoutError:
            raise HostGone("the running host did not answer in time") from None
        except OSError as error:
            raise HostGone(f"the running host is gone: {error}") from None
        if not line.endswith(b"\n"):
            raise HostGone("the running host is gone: it closed the connection")
        return line.decode("utf-8", "surrogatepass")

    def _params(self, params: Mapping[str, Any], raw: Mapping[str, str]) -> str:
        members = [f"{self._dumps(name)}:{self._dumps(value)}" for name, value in params.items()]
        for name, text in raw.items():
            # Outside strings a line break is white space, and inside them JSON allows none.
            line = text.replace("\r", " ").replace("\n", " ")
            members.append(f"{self._dumps(name)}:{line}")
        return f"{{{','.join(members)}}}"

    def _parsed(self, line: str) -> dict[str, Any]:
        message = self._loads(line)
        return message if isinstance(message, dict) else {}


def _result(message: Mapping[str, Any]) -> Any:
    error = message.get("error")
    if isinstance(error, dict):
        raise HostError(error.get("code", 0), str(error.get("message")), error.get("data"))
    return message.get("result")


def attach(
    directory: str | None = None, config_file: str | None = None, **more: Any
) -> Client | None:
    """A connection to the running host for a directory and a configuration, if there is one.

    more: for the Client.
    """
    try:
        where = directory or os.getcwd()  # noqa: PTH109 (pathlib takes long to import)
        path = runtime.find_socket(where, os.environ, config_file)
        return None if path is None else Client(path, **more)
    except OSError:
        return None  # what a host left behind that was killed, or no folder to be in
