"""The wire zuno.plugin/1: a package's process that gives tools, one call at a time.

What it offers stands in the package's file, not on the wire, so the dialect is made with it.
There is no cancellation and there are no notifications: a process that breaks a rule, whose
call is cancelled or whose answer is lost is ended, and is not started again by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from tinyhost_sdk import names, wire

from .. import codec, ids
from ..errors import (
    CallTimeout,
    FrameTooLarge,
    InvalidCall,
    OutcomeUncertain,
    PluginError,
    ProtocolError,
    RemoteError,
    cut,
)
from ..model import CallContext, Manifest, ToolResult, ToolSpec
from ..redaction import redact, redact_shapes
from .base import Conduct, Dialect, Link

PROTOCOL = "zuno.plugin/1"
CAPABILITIES = ("host.full",)
MAX_FRAME = 8 * names.MIB
STDERR_TAIL = 64 * names.KIB
# A result is at most a frame. These are what a reader is given of it.
MAX_TITLE = 512  # characters
MAX_OUTPUT = 512 * names.KIB  # characters
MAX_METADATA = 64 * names.KIB  # characters, as JSON text

_SLACK = 16 * names.KIB
_CALL = "tools/call"
_SHUTDOWN = "shutdown"
_AGENT = "tinyhost"
_BROKEN = "was retired because it broke the rules of its wire"
# Sequences that command a terminal, then what is left of control characters. Tabs and line
# ends are text.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = re.compile(
    "(?![\t\n])[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


@attrs.frozen(kw_only=True)
class Program:
    """What the wire does not tell: the package, and what it offers.

    root: the package's folder. workspace: the project's. timeout: seconds for each request.
    check: what is wrong with the arguments of a tool, by its name; nothing when they fit.
    secrets: values that must not get into what is shown.
    """

    package: str
    root: str
    workspace: str
    tools: Sequence[ToolSpec]
    timeout: float
    check: Callable[[str, Any], Sequence[str]]
    secrets: Sequence[str] = ()


class Zuno(Dialect):
    """See the module and docs/protocol.md."""

    name = "zuno"

    def __init__(self, program: Program) -> None:
        self._program = program
        self._session = ids.new_id("ses")  # for calls that belong to none

    def conduct(self, max_line: int) -> Conduct:
        """Strict: nothing passes that is not a reply to the one request."""
        return Conduct(
            rules=wire.Rules(max_line=min(max_line, MAX_FRAME), strict_lines=True),
            wedged_after=1,
            junk_retires=True,
            cancel_retires=True,
            restarts=False,
            max_line_out=MAX_FRAME,
            stderr_tail=STDERR_TAIL,
        )

    async def handshake(self, link: Link) -> Manifest:
        """initialize; another version is told to shut down before it is given up."""
        program = self._program
        params = {
            "protocolVersion": PROTOCOL,
            "packageId": program.package,
            "packageRoot": program.root,
            "workspace": program.workspace,
            "capabilities": list(CAPABILITIES),
        }
        timeout = link.timeouts.handshake
        try:
            result = await link.request(names.INITIALIZE, codec.dumps(params), timeout=timeout)
        except RemoteError as error:
            raise self._cleaned(error) from None
        version = result.get("protocolVersion") if type(result) is dict else None
        if version != PROTOCOL:
            await self._part(link, timeout)
            said = codec.dumps(version) if version is not None else "no version"
            raise ValueError(f"it speaks {cut(said, 80)}, not {PROTOCOL}")
        return Manifest(reported_id=program.package, tools=program.tools, concurrency=1)

    async def _part(self, link: Link, timeout: float) -> None:
        try:
            await link.request(_SHUTDOWN, "{}", timeout=min(timeout, link.timeouts.stop))
        except PluginError:
            pass  # it is ended anyhow

    async def invoke_hook(
        self,
        link: Link,
        name: str,
        input: Mapping[str, Any] | None,  # noqa: ARG002
    ) -> Any:
        """The wire has no hooks."""
        raise InvalidCall(f"plugin {link.plugin} is a zuno package, which has no hook {name}")

    async def call_tool(
        self,
        link: Link,
        tool: ToolSpec,
        args: str,
        context: CallContext,
        on_progress: Callable[[str], None] | None,  # noqa: ARG002
    ) -> ToolResult:
        """tools/call. Arguments that do not fit the tool's schema are not sent."""
        params = self._params(tool, args, context)
        try:
            result = await link.request(_CALL, params, timeout=link.timeouts.tool)
            return self._result(result)
        except RemoteError as error:
            raise self._cleaned(error) from None
        except CallTimeout as error:
            if error.busy:
                raise
            lost = f"was retired because it gave no answer to {_CALL} within {error.seconds:g} s"
        except FrameTooLarge as error:
            if error.outgoing:
                raise
            lost = f"was retired because its answer is longer than {error.limit} bytes"
        except ProtocolError as error:
            lost = f"{_BROKEN}: {error.reason}"
        except ValueError as error:
            lost = f"was retired because its answer to {_CALL} is not of the right form: {error}"
        raise self._lost(link, lost)

    def _lost(self, link: Link, status: str) -> OutcomeUncertain:
        """The call was sent, and what came of it will never be known."""
        link.give_up(status)
        return OutcomeUncertain(link.plugin, status, stderr=link.stderr)

    def _params(self, tool: ToolSpec, args: str, context: CallContext) -> str:
        args = "{}" if args == "null" else args
        value = codec.loads(args.encode("utf-8", "surrogatepass"))
        if problems := self._program.check(tool.name, value):
            raise InvalidCall(
                f"the arguments of {tool.id} do not fit its schema, and nothing was sent: "
                + "; ".join(problems)
            )
        others = {
            "sessionId": context.session_id or self._session,
            "messageId": ids.new_id("msg"),
            "callId": ids.new_id("call"),
            "agent": _AGENT,
        }
        rest = codec.dumps(others)[1:]
        return f'{{"tool":{codec.dumps(tool.name)},"arguments":{args},{rest}'

    def _cleaned(self, error: RemoteError) -> RemoteError:
        message = self._text(error.remote_message) or "no reason given"
        data = self._value(error.data)
        return RemoteError(error.plugin, error.method, error.code, message, data)

    async def goodbye(self, link: Link, grace: float) -> None:
        """shutdown; its reply is not looked at."""
        timeout = min(self._program.timeout, grace)
        await link.request(_SHUTDOWN, "{}", timeout=timeout)

    def notified(self, link: Link, message: wire.Notification) -> None:
        """The wire has none."""
        link.give_up(
            f"{_BROKEN}: a notification from the plugin ({cut(ascii(message.method), 80)})"
        )

    # --- results

    def _result(self, result: Any) -> ToolResult:
        """Raises ValueError. The metadata stays apart from what the host says itself."""
        if type(result) is not dict:
            raise ValueError("it is not an object")
        title = self._bounded(_string(result, "title"), MAX_TITLE)
        output = self._bounded(_string(result, "output"), MAX_OUTPUT)
        metadata = result.get("metadata")
        if metadata is not None and type(metadata) is not dict:
            raise ValueError("metadata is neither an object nor null")
        details: dict[str, Any] = {"title": title}
        if metadata is not None:
            details["metadata"] = self._metadata(metadata)
        return ToolResult(output, details=details)

    def _metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        cleaned: dict[str, Any] = self._value(metadata)
        size = len(codec.dumps(cleaned))
        if size > MAX_METADATA:
            return {"leftOut": f"metadata of {size} characters; at most {MAX_METADATA} are kept"}
        return cleaned

    def _bounded(self, text: str, most: int) -> str:
        # Cut first, as the rest is not worth cleaning, but not within a secret.
        cleaned = self._text(text[: most + _SLACK])
        left_out = len(text) - min(len(text), most + _SLACK) + max(0, len(cleaned) - most)
        if not left_out:
            return cleaned
        return f"{cleaned[:most]}\n[{left_out} more characters were left out]"

    def _text(self, text: str) -> str:
        """Without what commands a terminal, and without secrets."""
        return redact_shapes(redact(plain(text), self._program.secrets))

    def _value(self, value: Any) -> Any:
        if type(value) is str:
            return self._text(value)
        if type(value) is list:
            return [self._value(inner) for inner in value]
        if type(value) is dict:
            return {self._text(key): self._value(inner) for key, inner in value.items()}
        return value


def plain(text: str) -> str:
    """A text without terminal sequences and control characters; "\\r\\n" becomes "\\n"."""
    return _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n")))


def _string(of: dict[str, Any], key: str) -> str:
    value = of.get(key)
    if type(value) is not str:
        raise ValueError(f"{key} is not a string" if key in of else f"{key} is missing")
    return value
