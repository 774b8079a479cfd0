"""`tinyhost hook claude-code` and its like: answer other agents' hooks, one event a process.

Exit codes are the clients': 0 with JSON on standard output or with none, 2 to stop a call
that nobody could judge, 1 for a failure that stops nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import output
from tinyhost_cli.bridges.base import Bridge, Event, Judgement, Kind, Reply
from tinyhost_cli.common import Setup, config_option, plugin_option

if TYPE_CHECKING:
    from tinyhost.host import Host, Session
    from tinyhost.manager import Loaded

# The clients give a hook 60 seconds or more; one that takes longer counts as no answer, and
# the call goes ahead. So we give up before that and stop it.
DEADLINE = 50.0


def _command(name: str, make: Callable[[], Bridge], help: str) -> click.Command:
    @click.command(name, help=help)
    @plugin_option
    @config_option
    def command(config_file: str | None, plugins: tuple[str, ...]) -> int:
        return answer(make(), Setup(config_file=config_file, plugins=plugins))

    return command


def _claude_code() -> Bridge:
    from tinyhost_cli.bridges.claude_code import ClaudeCode

    return ClaudeCode()


def _codex() -> Bridge:
    from tinyhost_cli.bridges.codex import Codex

    return Codex()


def _gemini() -> Bridge:
    from tinyhost_cli.bridges.gemini import Gemini

    return Gemini()


def _opencode() -> Bridge:
    from tinyhost_cli.bridges.opencode import Opencode

    return Opencode()


_HELP = "Answer a hook of {}, which comes as JSON on standard input. See docs/bridges.md."
claude_code = _command("claude-code", _claude_code, _HELP.format("Claude Code"))
codex = _command("codex", _codex, _HELP.format("Codex"))
gemini = _command("gemini", _gemini, _HELP.format("Gemini CLI"))
opencode = _command("opencode", _opencode, _HELP.format("the plugin in contrib/opencode"))


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
    known = isinstance(error, (TinyhostError, ValueError, OSError))
    return str(error) if known else f"{type(error).__name__}: {error}"


def _ask(bridge: Bridge, event: Event, setup: Setup) -> Mapping[str, Any] | None:
    """Open a host for one event. Raises what goes wrong."""
    import trio

    from tinyhost.layers import notices
    from tinyhost.opening import open_host
    from tinyhost.permissions import Origin
    from tinyhost_cli.common import read_config
    from tinyhost_cli.hosting import until_signal

    # The client may run in another folder than its session.
    config = read_config(setup._replace(directory=event.directory))
    specs = [config.spec_for(name) for name in dict.fromkeys(setup.plugins)] or None

    async def run() -> Mapping[str, Any] | None:
        try:
            with trio.fail_after(DEADLINE):
                async with open_host(
                    config, directory=event.directory, origin=Origin.CLIENT
                ) as host:
                    problems = [*notices(config), *_problems(await host.load_all(specs))]
                    return await _answer(host, bridge, event, problems)
        except trio.TooSlowError:
            raise ValueError(f"no answer within {DEADLINE:g} s") from None

    return trio.run(until_signal, run)


def _problems(loaded: Sequence[Loaded]) -> Sequence[str]:
    """Tell of plugins that could not be loaded; the client's user may not see this."""
    from tinyhost.errors import PluginSkipped

    errors = [one.error for one in loaded if one.error is not None]
    found = [str(error) for error in errors if not isinstance(error, PluginSkipped)]
    for text in found:
        output.problem(text)
    return found


async def _answer(
    host: Host, bridge: Bridge, event: Event, problems: Sequence[str]
) -> Mapping[str, Any] | None:
    from tinyhost.host import Session

    if event.kind is Kind.START:
        begun = await host.session_start(event.directory, event.session_id or None)
        return bridge.started(event, begun.contexts, problems)
    # The session began in another process: its plugins have been told of it, ours have not,
    # and to tell them with every event would make many sessions of one.
    session = Session(event.session_id, event.directory)
    if event.kind is Kind.END:
        await host.session_end(session)
        return None
    if event.kind is Kind.ENV:
        return bridge.environment(await _env_changes(host, session))
    if event.kind is Kind.AFTER:
        return await _review(host, bridge, event, session)
    return bridge.judged(event, await _judge(host, event, session))


async def _judge(host: Host, event: Event, session: Session) -> Judgement:
    from tinyhost.host import COMMAND_TOOL

    permission = COMMAND_TOOL if event.tool == COMMAND_TOOL else ""
    verdict = await host.judge(event.tool, event.args, session, permission=permission)
    args = verdict.args if verdict.rewritten else event.args
    if not isinstance(args, Mapping):
        raise ValueError("a plugin rewrote the arguments into something that is no object")
    return Judgement(
        action=None if verdict.no_objection else verdict.action.value,
        args=args,
        reason=verdict.reason,
        rewritten=args != event.args,  # another spelling of the same is no change
        contexts=verdict.contexts,
    )


async def _review(
    host: Host, bridge: Bridge, event: Event, session: Session
) -> Mapping[str, Any] | None:
    from tinyhost.codec import dumps

    after = await host.review(event.tool, dumps(event.args), event.output, event.is_error, session)
    return bridge.reviewed(event, after)


async def _env_changes(host: Host, session: Session) -> Mapping[str, str | None]:
    env = await host.shell_env(session)
    names = host.environ.keys() | env.keys()
    return {name: env.get(name) for name in names if env.get(name) != host.environ.get(name)}
