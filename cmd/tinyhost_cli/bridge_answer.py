"""Answer one event of another agent, by a running host or by one of our own: light imports only."""

from __future__ import annotations

import os
import sys

from tinyhost_cli import output
from tinyhost_cli.bridges.base import DEADLINE, Bridge, Event, Judgement, Kind, Reply
from tinyhost_cli.client import NOT_LOADED, Client, HostError, HostGone, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tinyhost_cli.setup import Setup


def bridge_of(client: str) -> Bridge:
    """The translator for a client, by the name of its command."""
    if client == "claude-code":
        from tinyhost_cli.bridges.claude_code import ClaudeCode

        return ClaudeCode()
    if client == "codex":
        from tinyhost_cli.bridges.codex import Codex

        return Codex()
    if client == "gemini":
        from tinyhost_cli.bridges.gemini import Gemini

        return Gemini()
    from tinyhost_cli.bridges.opencode import Opencode

    return Opencode()


def answer(bridge: Bridge, setup: Setup) -> int:
    """Read one event, ask the host, and answer; return the exit code."""
    event: Event | None = None
    try:
        event = bridge.read(_payload())
        reply = Reply() if event.kind is Kind.NONE else Reply(_ask(bridge, event, setup))
    except (Exception, KeyboardInterrupt) as error:
        reply = bridge.failed(event, _told(error))
    if reply.text:
        output.problem(reply.text)
    if reply.output is not None:
        output.emit(reply.output)
    return reply.code


def _payload() -> Mapping[str, Any]:
    from tinyhost.codec import loads

    try:
        value = loads(sys.stdin.buffer.read())
    except ValueError as error:
        raise ValueError(f"standard input is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("standard input is not a JSON object")
    return value


def _told(error: BaseException) -> str:
    from tinyhost.errors import TinyhostError

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    known = isinstance(error, TinyhostError | HostError | HostGone | ValueError | OSError)
    return str(error) if known else f"{type(error).__name__}: {error}"


def _ask(bridge: Bridge, event: Event, setup: Setup) -> Mapping[str, Any] | None:
    """What a host says of one event. Raises what goes wrong."""
    from tinyhost import codec

    def _loads(text: str) -> Any:
        return codec.loads(text.encode("utf-8", "surrogatepass"))

    client = None
    if not setup.no_host:
        # Numbers have to come back as they were written.
        client = attach(
            event.directory, setup.config_file, timeout=DEADLINE, dumps=codec.dumps, loads=_loads
        )
    if client is not None:
        with client:
            try:
                return _attached(client, bridge, event, setup)
            except HostError as error:
                if error.code != NOT_LOADED:
                    raise
    from tinyhost_cli.bridge_here import ask

    return ask(bridge, event, setup)


def _attached(
    client: Client, bridge: Bridge, event: Event, setup: Setup
) -> Mapping[str, Any] | None:
    """The same by a running host."""
    common: dict[str, Any] = {
        "session": event.session_id,
        "directory": event.directory,
        "origin": "client",
        "env": dict(os.environ),  # so that the host knows what is secret here
        **({"plugins": list(setup.plugins)} if setup.plugins else {}),
    }
    if event.kind is Kind.START:
        begun = client.call("session/start", common)
        return bridge.started(event, begun["contexts"], begun["problems"])
    if event.kind is Kind.END:
        client.call("session/end", common)
        return None
    if event.kind is Kind.ENV:
        changes = client.call("shell/env", common)["changes"]
        return bridge.environment(changes)
    use = {**common, "tool": event.tool, "args": event.args}
    if event.kind is Kind.AFTER:
        answer = {"output": event.output, "isError": event.is_error}
        return bridge.reviewed(event, _Reviewed(client.call("call/review", {**use, **answer})))
    return bridge.judged(event, _judgement(client.call("call/judge", use), event))


def _judgement(verdict: Mapping[str, Any], event: Event) -> Judgement:
    args = verdict["args"] if verdict["rewritten"] else event.args
    if not isinstance(args, dict):
        raise ValueError("a plugin rewrote the arguments into something that is no object")
    return Judgement(
        action=verdict["action"],
        args=args,
        reason=verdict["reason"],
        rewritten=args != event.args,  # another spelling of the same is no change
        contexts=verdict["contexts"],
    )


class _Reviewed:
    """What became of a tool's output; see bridges.base.Reviewed."""

    def __init__(self, after: Mapping[str, Any]) -> None:
        self.text: str = after["text"]
        self.is_error: bool = after["isError"]
        self.changed: bool = after["changed"]
        self.contexts: Sequence[str] = after["contexts"]
