"""Run a manager for the time of one command. Imports the host: only for use inside commands."""

from __future__ import annotations

import logging
import signal
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from tinyhost import paths
from tinyhost.config import Config
from tinyhost.errors import PluginSkipped
from tinyhost.known_guards import KnownGuards
from tinyhost.manager import Loaded, Manager
from tinyhost.manager_scope import open_manager
from tinyhost.model import ClientCallbacks, PluginSpec
from tinyhost_cli import output
from tinyhost_cli.common import Interrupted
from tinyhost_cli.progress import loading_progress
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.asking import Asker
    from tinyhost.host import Host

_T = TypeVar("_T")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def with_plugins(
    setup: Setup,
    config: Config,
    specs: Sequence[PluginSpec],
    body: Callable[[Manager, Sequence[Loaded]], Awaitable[_T]],
) -> _T:
    """Load plugins side by side, run the body with them, and stop them again.

    Plugins that failed to load are in the body's second argument, with the others, in the
    order of the specs. Raises what the body raises, and Interrupted when a signal came.
    """
    _show_log(setup.verbose)

    async def session() -> _T:
        async with open_manager(config, directory=setup.directory) as manager:
            manager.offers.listeners.append(_show_notice)
            return await body(manager, await _load(manager, specs, setup))

    return trio.run(until_signal, session)


def with_host(
    setup: Setup,
    config: Config,
    specs: Sequence[PluginSpec],
    body: Callable[[Host, Sequence[Loaded]], Awaitable[_T]],
) -> _T:
    """Like with_plugins, with all that stands between a call and a plugin: builtins, rules,
    shell hooks, the journal, and the person at the terminal, who gave the command."""
    from tinyhost.opening import open_host
    from tinyhost.permissions import Origin
    from tinyhost_cli.ask import choose_asker

    _show_log(setup.verbose)
    asker = choose_asker(config.file, json_output=setup.as_json)

    async def session() -> _T:
        opened = open_host(
            config,
            directory=setup.directory,
            origin=Origin.PERSON,
            asker=asker,
            callbacks=_callbacks(asker),
        )
        async with opened as host:
            host.manager.offers.listeners.append(_show_notice)
            return await body(host, await _load(host, specs, setup))

    return trio.run(until_signal, session)


def _callbacks(asker: Asker) -> ClientCallbacks:
    """What is done for plugins that ask the person something: nothing, where they are not there."""
    from tinyhost_cli.ask import TerminalAsker

    async def question(plugin: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from tinyhost_cli.questions import put_question

        return await put_question(plugin, asked)

    there = isinstance(asker, TerminalAsker)
    return ClientCallbacks(question=question if there else None)


def _show_notice(plugin: str, level: str, text: str) -> None:
    """What a plugin has to say to the person."""
    said = f"plugin {plugin}: {text}"
    if level == "info":
        output.note(said)
    else:
        output.problem(f"{'error' if level == 'error' else 'warning'}: {said}")


async def _load(
    into: Manager | Host, specs: Sequence[PluginSpec], setup: Setup
) -> Sequence[Loaded]:
    with loading_progress([spec.name for spec in specs], setup.verbose) as on_done:
        return await into.load_all(specs, on_done=on_done)


def report_failures(loaded: Sequence[Loaded]) -> bool:
    """Tell of each plugin that failed to load; return whether there was one."""
    failed = failures(loaded)
    for result in failed:
        output.problem(str(result.error))
    return bool(failed)


def failures(loaded: Sequence[Loaded]) -> Sequence[Loaded]:
    """Those that should have loaded and did not. What is built in need not be loaded."""
    return [
        result
        for result in loaded
        if result.error is not None and not isinstance(result.error, PluginSkipped)
    ]


def unheard(host: Host, loaded: Sequence[Loaded], named: Collection[str]) -> str | None:
    """Why a call must not go ahead without a plugin that --plugin names and that did not load.

    None where all are there, or are known as guards: those count as failed, and the person is
    asked. Of one that never loaded nobody knows whether it would have had an objection.
    """
    known = KnownGuards(paths.state_dir(host.environ))
    for result in failures(loaded):
        if result.spec.name in named and result.spec.name not in known:
            return f"--plugin names a plugin that did not load: {result.error}"
    return None


async def until_signal(run: Callable[[], Awaitable[_T]]) -> _T:
    """Run until done; a signal cancels, so that plugins are stopped as at any other end."""
    caught: list[int] = []
    results: list[_T] = []
    failure: Exception | None = None
    # Those that are ignored (nohup, a shell's background job) stay so.
    numbers = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]

    async def watch(*, task_status: trio.TaskStatus[None]) -> None:
        with trio.open_signal_receiver(*numbers) as signals:
            task_status.started()
            async for number in signals:
                caught.append(number)
                nursery.cancel_scope.cancel()
                return

    async with trio.open_nursery() as nursery:
        await nursery.start(watch)
        try:
            results.append(await run())
        except Exception as error:
            failure = error
        nursery.cancel_scope.cancel()
    if caught:
        raise Interrupted(caught[0])
    if failure is not None:
        raise failure
    return results[0]


class _Handler(logging.Handler):
    """Shows the host's log, made safe for a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        output.problem(self.format(record))


def _show_log(verbose: bool) -> None:
    """Errors of the host are always shown. What plugins do wrong is in the commands' output."""
    handler = _Handler(logging.WARNING if verbose else logging.ERROR)
    log = logging.getLogger("tinyhost")
    log.addHandler(handler)
    log.propagate = False
