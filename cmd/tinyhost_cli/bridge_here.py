"""Answer one event of another agent with a host of this process's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tinyhost_cli import output
from tinyhost_cli.bridges.base import DEADLINE, Bridge, Event, Judgement, Kind
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.host import Host, Session
    from tinyhost.manager import Loaded


def ask(bridge: Bridge, event: Event, setup: Setup) -> Mapping[str, Any] | None:
    """Open a host for one event. Raises what goes wrong."""
    import trio

    from tinyhost.layers import notices
    from tinyhost.opening import open_host
    from tinyhost.permissions import Origin
    from tinyhost_cli.common import read_config
    from tinyhost_cli.hosting import unheard, until_signal

    # The client may run in another folder than its session.
    config = read_config(Setup(config_file=setup.config_file, directory=event.directory))
    specs = [config.spec_for(name) for name in dict.fromkeys(setup.plugins)] or None

    async def run() -> Mapping[str, Any] | None:
        try:
            with trio.fail_after(DEADLINE):
                async with open_host(
                    config, directory=event.directory, origin=Origin.CLIENT
                ) as host:
                    loaded = await host.load_all(specs)
                    missing = unheard(host, loaded, setup.plugins)
                    if missing is not None and event.kind in (Kind.BEFORE, Kind.PERMISSION):
                        raise ValueError(missing)
                    problems = [*notices(config), *_problems(loaded)]
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
