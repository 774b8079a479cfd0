"""Put a Host together, and take it apart again."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from types import TracebackType

import trio

from . import paths
from .asking import Asker
from .builtins.shipped import shipped
from .config import Config
from .host import Host
from .journal import Journal
from .journal_retention import KEEP_DAYS, KEEP_SESSIONS
from .layers import load_layers, notices
from .manager import Manager
from .manager_scope import open_manager
from .model import ClientCallbacks
from .permissions import Origin
from .recorder import Recorder
from .redaction import secrets_in
from .resolve import Resolver
from .shell_hooks import ShellHooks

_log = logging.getLogger(__name__)

# Builtins are walked before all that is loaded, the configuration's shell hooks after it.
_BUILTINS, _SHELL_HOOKS = -1, 1


def set_shell_hooks(host: Host, config: Config) -> None:
    """Have a configuration's shell hooks run, in place of those that did."""
    hooks, _ = ShellHooks.from_config(config, environ=host.environ, directory_of=host.directory_of)
    running = [plugin for plugin in host.manager.plugins if isinstance(plugin, ShellHooks)]
    if running:
        running[0].take_over(hooks)
    elif hooks is not None:
        host.manager.register(hooks, rank=_SHELL_HOOKS)


class open_host:  # noqa: N801
    """`async with open_host(...) as host:` runs a Host, with the shipped builtins.

    config: None reads the person's own file, and that of the directory's project where it is
    trusted; where it is not, a warning is logged (on standard error, unless the program set
    logging up). origin: where the calls come from; it decides
    what becomes of a call that no rule covers. asker: who asks the person; without one an
    ask is denied with the way to allow it, or left to the client if the origin is CLIENT.
    journal: whether to keep a record. builtins: whether to have the shipped ones.
    callbacks: what the host does for MCP servers that ask it for something.

    Raises ConfigError. An error raised in the body leaves unchanged.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        directory: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        resolver: Resolver | None = None,
        origin: Origin = Origin.PROGRAM,
        asker: Asker | None = None,
        journal: bool = True,
        builtins: bool = True,
        callbacks: ClientCallbacks | None = None,
    ) -> None:
        self._environ = dict(os.environ) if environ is None else dict(environ)
        self._directory = os.path.abspath(directory or ".")  # noqa: PTH100
        self._config = self._layers() if config is None else config
        self._origin = origin
        self._asker = asker
        self._builtins = builtins
        secrets = secrets_in(self._environ)
        self._recorder = Recorder(self._journal(secrets) if journal else None, secrets)
        self._manager = open_manager(
            self._config,
            directory=self._directory,
            resolver=resolver,
            environ=self._environ,
            callbacks=callbacks,
        )

    def _journal(self, secrets: Iterable[str]) -> Journal:
        kept = self._config.journal
        return Journal(
            paths.state_dir(self._environ),
            secrets=secrets,
            keep_days=kept.keep_days or KEEP_DAYS,
            keep_sessions=kept.keep_sessions or KEEP_SESSIONS,
        )

    def _layers(self) -> Config:
        config = load_layers(self._directory, environ=self._environ)
        for notice in notices(config):
            _log.warning("tinyhost: %s", notice)
        return config

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> Host:
        manager = await self._manager.__aenter__()
        try:
            return self._build(manager)
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise

    def _build(self, manager: Manager) -> Host:
        host = Host(
            manager,
            self._config,
            directory=self._directory,
            environ=self._environ,
            origin=self._origin,
            asker=self._asker,
            recorder=self._recorder,
        )
        if self._builtins:
            for builtin in shipped(self._environ, paths.state_dir(self._environ)):
                manager.register(builtin, rank=_BUILTINS)
        set_shell_hooks(host, self._config)
        return host

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._manager.__aexit__(kind, error, traceback)
        finally:
            self._recorder.close()
