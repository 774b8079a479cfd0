"""Talk to a running host: JSON-RPC 2.0 lines over its socket.

Standard library only, and light: a command that attaches is done before others have
imported what they need.
"""

from __future__ import annotations

import os
import socket
import time

from tinyhost import runtime
from tinyhost_sdk import codec, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Handler = Callable[[Mapping[str, Any]], Any]

MAX_LINE = 16 * 1024 * 1024  # bytes
_CHUNK = 65536
NOT_LOADED = -32004  # the host has not loaded a plugin that was named
PATIENCE = 10.0  # seconds without a sign of life
_LOOK = 0.02  # seconds between tries to connect where others are before us
_PING = "host/ping"
_PING_ID = "ping"
_AT_ONCE = (_PING, "host/status", "host/stop", "events/follow", "plugin/list")
_INVALID_PARAMS, _CONFIG = -32602, -32003
_USAGE_EXIT, _CONFIG_EXIT, _FAILED_EXIT = 2, 3, 1


class HostGone(Exception):
    """The host closed the connection, or did not answer in time."""


class HostSilent(HostGone):
    """The host is there and gives no sign of life: it hangs, or is stopped like a job.

    pid: its process, or 0. doubt: what a person has to know of what was asked.
    """

    def __init__(self, pid: int, doubt: str = "") -> None:
        self.pid = pid
        super().__init__(f"{_silence(pid)}{doubt}")


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


def _silence(pid: int) -> str:
    if not pid:
        return "the running host does not answer"
    if is_stopped(pid):
        return (
            f"the running host (process {pid}) is stopped, by SIGSTOP or a debugger."
            f" Let it go on with: kill -CONT {pid}, or end it with: kill -KILL {pid}"
        )
    return (
        f"the running host (process {pid}) does not answer. If it does not come back,"
        f" end it with: kill -KILL {pid}, and start another with: tinyhost serve"
    )


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped, like a job."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False  # it has ended, or the system has no such file


class Client:
    """One connection; one call at a time. It ends with the `with` block.

    A host that does not answer for a while is asked for a sign of life, and given up when
    there is none. How long a call itself may take is the host's business.
    """

    def __init__(
        self,
        path: str,
        *,
        timeout: float | None = None,
        dumps: Callable[[object], str] = codec.encode,
        loads: Callable[[str], Any] = codec.decode,
    ) -> None:
        """timeout: seconds that a call may take at most. dumps, loads: the codec.

        Raises HostSilent, and OSError when nobody listens there, or somebody else.
        """
        self._dumps, self._loads = dumps, loads
        self._timeout = timeout
        self._deadline: float | None = None
        self._doubt = ""
        self._data = bytearray()  # read, and not yet taken as a line
        self._last_id = 0
        self.result_text = ""  # the last result as the host wrote it, numbers and all
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            # Not waiting, as a connection that has to wait has no end of its own.
            self._socket.settimeout(0)
            _connect(self._socket, path, PATIENCE if timeout is None else min(PATIENCE, timeout))
            self.pid, uid = runtime.peer_of(self._socket)
            if uid != os.geteuid():
                raise PermissionError(f"the host at {path} is somebody else's")
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def detach(self) -> socket.socket:
        """The socket, for another protocol that both ends have agreed on."""
        self._socket.settimeout(None)  # which its copies share
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
        at_once = method in _AT_ONCE
        self._doubt = "" if at_once else ". It may have begun what it was asked for"
        self._last_id += 1
        self._deadline = None if self._timeout is None else time.monotonic() + self._timeout
        self._send(wire.request(self._last_id, method, self._params(params, raw or {})))
        while True:
            line = self._receive(at_once=at_once)
            message = self._parsed(line)
            if "method" in message:
                self._handle(message, handlers or {})
            elif message.get("id") == self._last_id:
                self.result_text = line.partition('"result":')[2].rstrip()[:-1]
                return _result(message)

    def notes(self) -> Iterator[tuple[str, Any]]:
        """The host's notifications, for ever: method and params. Raises HostGone."""
        self._deadline, self._doubt = None, ""
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
            self._socket.settimeout(PATIENCE)
            self._socket.sendall(frame)
        except TimeoutError:
            raise HostSilent(self.pid) from None
        except OSError as error:
            raise HostGone(f"the running host is gone: {error}") from None

    def _receive(self, *, at_once: bool = False) -> str:
        """The host's next line. at_once: it has nothing else to do before it sends one."""
        asked = at_once
        while True:
            try:
                line = self._line()
            except TimeoutError:
                if asked:
                    raise HostSilent(self.pid, self._doubt) from None
                if self._left() == 0:
                    raise HostGone(
                        f"the running host did not answer in time{self._doubt}"
                    ) from None
                # A long call is no silence: the host answers this beside it.
                self._send(wire.request(_PING_ID, _PING, "{}"))
                asked = True
            except OSError as error:
                raise HostGone(f"the running host is gone: {error}{self._doubt}") from None
            else:
                return line.decode("utf-8", "surrogatepass")

    def _line(self) -> bytes:
        """The next line, without its end. Raises OSError, and TimeoutError after a while of silence."""
        looked = 0
        while (end := self._data.find(b"\n", looked)) < 0:
            looked = len(self._data)
            # Where no time is left, what came in time is taken: it may be this end that is late.
            self._socket.settimeout(min(PATIENCE, self._left()))
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                raise TimeoutError from None
            if not data:
                raise ConnectionAbortedError("it closed the connection")
            if len(self._data) > MAX_LINE:
                raise ConnectionAbortedError(f"it sent a line longer than {MAX_LINE} bytes")
            self._data += data
        line = bytes(self._data[:end])
        del self._data[: end + 1]
        return line

    def _left(self) -> float:
        """Seconds that the call under way may still take."""
        if self._deadline is None:
            return PATIENCE
        return max(0.0, self._deadline - time.monotonic())

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


def _connect(client: socket.socket, path: str, patience: float) -> None:
    """Connect a socket that does not wait. Raises HostSilent where nobody is let in, and OSError."""
    until = time.monotonic() + patience
    with runtime.Address(path) as address:
        while True:
            last = time.monotonic() >= until
            try:
                return client.connect(address)
            except BlockingIOError:  # as many as may wait already
                if last:
                    raise HostSilent(runtime.pid_in(f"{path}.lock")) from None
            time.sleep(_LOOK)


def _result(message: Mapping[str, Any]) -> Any:
    error = message.get("error")
    if isinstance(error, dict):
        raise HostError(error.get("code", 0), str(error.get("message")), error.get("data"))
    return message.get("result")


def attach(
    directory: str | None = None, config_file: str | None = None, **more: Any
) -> Client | None:
    """A connection to the running host for a directory and a configuration, if there is one.

    more: for the Client. Raises HostSilent.
    """
    try:
        where = directory or os.getcwd()  # noqa: PTH109 (pathlib takes long to import)
        path = runtime.find_socket(where, os.environ, config_file)
        return None if path is None else Client(path, **more)
    except OSError:
        return None  # what a host left behind that was killed, or no folder to be in
