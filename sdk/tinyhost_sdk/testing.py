"""Drive a plugin in memory, in its author's own unit tests.

    with tinyhost_sdk.testing.drive(plugin, options={"level": 3}) as driver:
        assert driver.call_tool("greet", {"name": "Ada"}).content == "Hello, Ada"

Every call goes through the bytes of the wire and back, so a value that would not survive
the way to a host does not survive here either. Calls run in the caller's thread.
"""

from contextlib import contextmanager

from . import codec, names, wire
from .session import Session, rules
from .tool import ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .plugin import Plugin


class RpcFailure(Exception):
    """The plugin answered with an error: `code` and `message`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code
        self.message = message


class Driver:
    """Stands in for a host.

    manifest: what the plugin answered to initialize.
    progress: the texts that tools have sent with context.progress, oldest first.
    on_progress: if set, called with each of them as it is sent.
    """

    def __init__(self, plugin: "Plugin") -> None:
        self.manifest: dict[str, Any] = {}
        self.progress: list[str] = []
        self.on_progress: Callable[[str], None] | None = None
        self._session = Session(plugin, self._take)
        self._to_plugin = wire.Receiver(rules(plugin))
        self._to_host = wire.Receiver(wire.Rules())
        self._replies: list[wire.Response] = []
        self._id = 0

    def initialize(self, options: "Mapping[str, Any] | None" = None, directory: str = "") -> None:
        """Make the handshake; drive() does it. Raises RpcFailure."""
        params: dict[str, Any] = {"version": names.PROTOCOL_VERSION, "directory": directory}
        if options:
            params["options"] = dict(options)
        self.manifest = self.request(names.INITIALIZE, params)

    def call_tool(
        self,
        name: str,
        args: "Mapping[str, Any] | None" = None,
        *,
        session_id: str = "",
        directory: str = "",
    ) -> ToolResult:
        """Call a tool. Its failure is a result with is_error; an unknown tool raises RpcFailure."""
        context = {"sessionId": session_id, "directory": directory}
        params = {"name": name, "args": None if args is None else dict(args), "context": context}
        result = self.request(names.TOOL_CALL, params)
        return ToolResult(result["content"], result.get("isError", False))

    def invoke_hook(self, name: str, input: "Mapping[str, Any] | None" = None) -> "Any":
        """Invoke a hook with camelCase fields, as on the wire; its output, or None for none.

        Raises RpcFailure when the handler fails or the input is wrong.
        """
        params: dict[str, Any] = {"name": name}
        if input is not None:
            params["input"] = dict(input)
        return self.request(names.HOOK_INVOKE, params).get("output")

    def cancel(self) -> None:
        """Cancel the call that runs; to be called from inside it, as from on_progress."""
        self._send(wire.notification(names.TOOL_CANCEL, codec.encode({"id": self._id})))

    def request(self, method: str, params: "Any") -> "Any":
        """Send any request; the result. Raises RpcFailure."""
        self._id += 1
        self._send(wire.request(self._id, method, codec.encode(params)))
        reply = self._replies.pop()
        if reply.id != self._id:
            raise AssertionError(f"the reply to {self._id} has the id {reply.id}")
        if reply.error is not None:
            raise RpcFailure(reply.error.code, reply.error.message)
        return reply.result

    def close(self) -> None:
        """End the session as a host does: dispose, once. Raises RpcFailure when that fails."""
        if names.DISPOSE in self.manifest["hooks"]:
            self.invoke_hook(names.DISPOSE)
        self._session.close()

    def _send(self, data: bytes) -> None:
        for message in self._to_plugin.feed(data):
            reply = self._session.handle(message)
            if reply is not None:
                self._take(reply)

    def _take(self, data: bytes) -> None:
        for message in self._to_host.feed(data):
            if isinstance(message, wire.Response):
                self._replies.append(message)
            elif isinstance(message, wire.Notification):
                text = message.params["message"]
                self.progress.append(text)
                if self.on_progress is not None:
                    self.on_progress(text)
            else:
                raise AssertionError(f"not a reply: {data[:200]!r}")


@contextmanager
def drive(
    plugin: "Plugin", options: "Mapping[str, Any] | None" = None, *, directory: str = ""
) -> "Iterator[Driver]":
    """Initialize the plugin, give its Driver, and dispose it at the end.

    Raises RpcFailure when the plugin refuses to start.
    """
    driver = Driver(plugin)
    driver.initialize(options, directory)
    try:
        yield driver
    finally:
        driver.close()
