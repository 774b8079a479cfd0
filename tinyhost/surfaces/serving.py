"""A host in service: opened, reachable, reloaded and ended as signals and clients say."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial

import attrs
import trio

from .. import paths, runtime
from ..config import Config
from ..errors import TinyhostError
from ..layers import notices
from ..model import ClientCallbacks
from ..opening import open_host
from ..permissions import Origin
from ..running import RunningHost
from .control import ControlServer
from .methods import methods_of
from .place import claimed
from .sd_notify import notify, reloading, watchdog_interval

_log = logging.getLogger(__name__)

GRACE = 10.0  # seconds that calls in progress get to end
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# A further surface: runs until cancelled, and says when it is ready.
Surface = Callable[..., Awaitable[None]]


@attrs.frozen(kw_only=True)
class Service:
    """What is to be served.

    read_config: reads the configuration, first and at every reload. directory: the project's.
    surfaces: made with the running host once it is open. on_config: told of what was read.
    on_ready: called once all plugins are loaded or have failed.
    is_process: whether the process ends when this does. Signals that come too late are ignored
    then, rather than make an orderly end look like another.
    """

    read_config: Callable[[], Config]
    directory: str
    environ: Mapping[str, str]
    grace: float = GRACE
    surfaces: tuple[Callable[[RunningHost], Surface], ...] = ()
    on_ready: Callable[[RunningHost], None] | None = None
    is_process: bool = False


def control_socket(config: Config, directory: str, environ: Mapping[str, str]) -> str:
    """Where the host of that configuration listens."""
    root = runtime.find_root(directory, str(paths.home_dir(environ)))
    return runtime.socket_path(config.file, root, environ)


async def serve(service: Service) -> None:
    """Run a host until it is told to stop, by a client or by SIGTERM or SIGINT.

    SIGHUP reloads, but when the terminal that this runs at is closed. Raises ConfigError, HostRunning, and OSError for what cannot be listened on.
    """
    config = await trio.to_thread.run_sync(service.read_config)
    _tell(config)
    path = control_socket(config, service.directory, service.environ)
    # Until all is over: what ends the process at once would not let plugins end properly.
    state = str(paths.state_dir(service.environ))
    with _signals(service) as signals, claimed(path, state) as place:
        async with _opened(service, config) as running:
            running.addresses["control"] = path
            running.reload_listeners.append(partial(_tell_of_reload, running))
            control = ControlServer(place, methods_of(running))
            running.drains.append(control.drain)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_obey, running, signals)
                await nursery.start(control.run)
                for make in service.surfaces:
                    await nursery.start(make(running))
                nursery.start_soon(_watchdog, service.environ)
                nursery.start_soon(_load, running, service)
                await running.wait_stopping()
                notify(service.environ, "STOPPING=1")
                _log.info("stopping; calls in progress have %g s to end", service.grace)
                with trio.move_on_after(service.grace) as grace:
                    await _drained(running)
                if grace.cancelled_caught:
                    _log.warning("calls in progress did not end within %g s", service.grace)
                nursery.cancel_scope.cancel()
        _log.info("stopped")


@contextmanager
def _signals(service: Service) -> Iterator[AsyncIterator[int]]:
    if service.is_process:
        # What is in force again afterwards, also for signals that nobody has taken by then.
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    with trio.open_signal_receiver(*_SIGNALS) as signals:
        yield signals


async def _drained(running: RunningHost) -> None:
    async with trio.open_nursery() as nursery:
        for drain in running.drains:
            nursery.start_soon(drain)


@asynccontextmanager
async def _opened(service: Service, config: Config) -> AsyncIterator[RunningHost]:
    opened = open_host(
        config,
        directory=service.directory,
        environ=service.environ,
        origin=Origin.PROGRAM,
        # Whoever calls over MCP can be asked, and may come at any time.
        callbacks=ClientCallbacks(clients=importlib.util.find_spec("mcp") is not None),
    )
    async with opened as host:
        yield RunningHost(host, service.read_config)


def _tell(config: Config) -> None:
    for text in (*map(str, config.problems), *notices(config)):
        _log.warning("%s", text)


async def _load(running: RunningHost, service: Service) -> None:
    await running.load_all()
    running.ready.set()
    _tell_ready(running)
    if service.on_ready is not None:
        service.on_ready(running)


async def _obey(running: RunningHost, signals: AsyncIterator[int]) -> None:
    ask, asked = trio.open_memory_channel[None](1)
    at_terminal = _has_terminal()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_reloads, running, asked)
        async for number in signals:
            # A terminal that is closed sends SIGHUP as well, and then it is gone.
            if number != signal.SIGHUP or (at_terminal and not _has_terminal()):
                _log.info("told to stop by %s", signal.Signals(number).name)
                running.stop()
            elif ask.statistics().current_buffer_used == 0:
                ask.send_nowait(None)


def _has_terminal() -> bool:
    """Whether there is a terminal that this process belongs to."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


async def _reloads(running: RunningHost, asked: trio.MemoryReceiveChannel[None]) -> None:
    """Beside the signals, as a reload may take long, and a stop must not wait for it."""
    async for _ in asked:
        await reload(running)


async def reload(running: RunningHost) -> None:
    """Reload. The log tells of it, also where it fails and nothing has changed."""
    with suppress(TinyhostError):
        await running.reload()


def _tell_of_reload(running: RunningHost, begins: bool) -> None:
    if begins:
        notify(running.host.environ, *reloading())
    else:
        _tell_ready(running)


def _tell_ready(running: RunningHost) -> None:
    if not running.stopping:
        notify(running.host.environ, "READY=1", f"STATUS={_summary(running)}")


def _summary(running: RunningHost) -> str:
    loaded, failed = len(running.host.manager.plugins), len(running.failed())
    return f"{loaded} plugins loaded" + (f", {failed} failed" if failed else "")


async def _watchdog(environ: Mapping[str, str]) -> None:
    interval = watchdog_interval(environ)
    while interval is not None:
        notify(environ, "WATCHDOG=1")
        await trio.sleep(interval)
