"""The scope that a manager lives in: the tasks that watch its plugins, and the end of them all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType

import trio

from . import paths
from .config import Config
from .errors import ConfigError
from .manager import Manager
from .model import ClientCallbacks
from .preparing import resolver_for
from .resolve import Resolver


class open_manager:  # noqa: N801
    """`async with open_manager(...) as manager:` runs a Manager, and ends all it started.

    config: as `load_config` gives it; None means no settings and an empty plugin list.
    directory: the project's directory, by default the current one.
    resolver: finds programs by plugin name; by default as `environ` and the config say.
    environ: stands for the host's environment variables, by default os.environ.
    callbacks: what the host does for MCP servers that ask it for something.

    An error raised in the body leaves unchanged, never inside a group.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        directory: str | os.PathLike[str] | None = None,
        resolver: Resolver | None = None,
        environ: Mapping[str, str] | None = None,
        callbacks: ClientCallbacks | None = None,
    ) -> None:
        self._callbacks = callbacks
        self._environ = dict(os.environ) if environ is None else dict(environ)
        self._config = config or Config(file=str(paths.config_file(self._environ)), exists=False)
        self._directory = os.path.abspath(directory or ".")  # noqa: PTH100
        self._resolver = resolver or resolver_for(self._config, self._environ)
        if not os.path.isdir(self._directory):  # noqa: PTH112
            raise ConfigError(f"the directory {self._directory} does not exist")

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> Manager:
        self._outer = trio.open_nursery()
        nursery = await self._outer.__aenter__()
        ready = trio.Event()
        # Not nursery.start: cancelled, it would wait for a task that no cancellation reaches.
        nursery.start_soon(self._run_tasks, ready)
        with trio.CancelScope(shield=True):
            await ready.wait()
        self._manager = Manager(
            self._inner.start_soon,
            config=self._config,
            directory=self._directory,
            resolver=self._resolver,
            environ=self._environ,
            callbacks=self._callbacks,
        )
        self._scope = nursery.cancel_scope
        return self._manager

    @trio.lowlevel.enable_ki_protection
    async def _run_tasks(self, ready: trio.Event) -> None:
        # Plugins are watched until they have been stopped properly, also while a
        # cancellation from outside is under way.
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                self._inner = nursery
                ready.set()
                await trio.sleep_forever()

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._scope.shield = True
        try:
            # An interrupt of a watching task has cancelled the nursery itself.
            with trio.CancelScope(shield=True):
                await self._manager.shutdown(sweep=kind is not None)
        finally:
            self._inner.cancel_scope.cancel()
            await self._outer.__aexit__(None, None, None)
