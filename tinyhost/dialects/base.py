"""What a dialect is: the translator between one wire and the host's vocabulary.

A dialect shakes hands, calls tools, invokes hooks and says goodbye. It owns no process, no
deadline, no retry and no log: it says what it wants to send through a `Link`, which is the
plugin's side of all that. There is one dialect object for each life of a plugin, so it may
keep what the plugin told it.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import attrs

from tinyhost_sdk import names, wire

from ..model import CallContext, Manifest, Timeouts, ToolResult, ToolSpec


@attrs.frozen(kw_only=True)
class Conduct:
    """How the host treats the processes that speak a wire.

    wedged_after: timeouts in a row until the process is killed.
    junk_retires: any line that breaks the wire's rules ends the process.
    cancel_retires: a cancelled call ends the process, as its answer could be taken for the
        next one's.
    restarts: whether a process that died is started again by the next call.
    max_line_out: bytes of the longest line that is sent, until the manifest says more.
    stderr_tail: characters kept of the end of standard error, for messages.
    """

    rules: wire.Rules
    wedged_after: int = 3
    junk_retires: bool = False
    cancel_retires: bool = False
    restarts: bool = True
    max_line_out: int = names.MAX_LINE_TO_PLUGIN
    stderr_tail: int = 4096


class Link(Protocol):
    """What a dialect may do with its plugin's process.

    plugin: the name it is loaded under. directory: the project's. options: the plugin's own.
    """

    plugin: str
    directory: str
    options: Mapping[str, Any]
    timeouts: Timeouts

    @property
    def stderr(self) -> str:
        """The last of what the process wrote to standard error."""

    async def request(
        self,
        method: str,
        params: str,
        *,
        timeout: float,
        cap: float = 0.0,
        hook: bool = False,
        at_once: bool = False,
        on_progress: Callable[[str], None] | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Any:
        """Send a request, params being JSON text, and return its result; see Peer.call.

        In the handshake, `timeout` is cut to what is left of the handshake's deadline.
        on_sent gets the request's id before it is sent, for notifications that name it.
        """

    def notify(self, method: str, params: str) -> None:
        """Send a notification; dropped when the plugin does not read."""

    def respond(self, frame: bytes) -> None:
        """Send the answer to a request of the plugin's, made with wire.success or failure."""

    def extend(self, id: object, message: str) -> None:
        """Progress of a request: its deadline starts anew, and its caller is told."""

    def spawn(self, task: Callable[[], Any]) -> None:
        """Run a coroutine function beside the calls; it is cancelled when the process ends."""

    def log(self, text: str) -> None:
        """Write a line to the plugin's log."""

    def changed(self, manifest: Manifest) -> None:
        """The plugin offers something else now."""

    def give_up(self, reason: str) -> None:
        """End the process; `reason` follows the plugin's name in words."""


class Dialect(abc.ABC):
    """One wire. Methods raise ValueError for answers of the wrong form."""

    name: ClassVar[str]

    @abc.abstractmethod
    def conduct(self, max_line: int) -> Conduct:
        """The rules; max_line is the longest line that is read, as configured."""

    @abc.abstractmethod
    async def handshake(self, link: Link) -> Manifest:
        """Make the process ready for calls, and say what it offers."""

    @abc.abstractmethod
    async def invoke_hook(self, link: Link, name: str, input: Mapping[str, Any] | None) -> Any:
        """Ask about a hook that the manifest names; None is no opinion."""

    @abc.abstractmethod
    async def call_tool(
        self,
        link: Link,
        tool: ToolSpec,
        args: str,
        context: CallContext,
        on_progress: Callable[[str], None] | None,
    ) -> ToolResult:
        """Call a tool; args is JSON text on one line."""

    async def goodbye(self, link: Link, grace: float) -> None:
        """Tell the plugin that it is let go, within `grace` seconds, before its input closes."""

    def notified(self, link: Link, message: wire.Notification) -> None:
        """The plugin sent a notification."""

    def requested(self, link: Link, message: wire.Request) -> bool:
        """The plugin sent a request. False if this wire knows none: then it counts as junk."""
        return False

    def cancelled(self, link: Link, id: int, method: str) -> None:
        """The caller of a request that was sent does not wait for its answer any more."""

    def capabilities(self) -> Mapping[str, Any]:
        """What the plugin offers beyond tools and hooks, by kind; typed by each dialect."""
        return {}
