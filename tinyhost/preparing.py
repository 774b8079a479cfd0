"""From an entry of a plugin list to how its process is started."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from . import launching, paths, remote
from .config import Config
from .confine import confine
from .dialects.native import Native
from .environment import child_environment, secret_values, working_directory
from .errors import PluginNotFound, PluginSkipped
from .integrity import Integrity
from .launch_plan import Launch
from .mcp import servers as mcp
from .model import ClientCallbacks, PluginSpec, Resolved
from .names import BUILTIN_NAMES
from .resolve import Resolver


class Preparer:
    """Finds programs and puts together what their processes get.

    config: the one in force. directory: the project's. environ: the host's variables.
    """

    def __init__(
        self,
        config: Config,
        directory: str,
        resolver: Resolver,
        environ: Mapping[str, str],
        callbacks: ClientCallbacks,
    ) -> None:
        self.config = config
        self._directory = directory
        self._resolver = resolver
        self._environ = environ
        self._callbacks = callbacks

    def reconfigure(self, config: Config) -> None:
        """Go by another configuration from now on."""
        if (config.compat, config.project) != (self.config.compat, self.config.project):
            self._resolver = resolver_for(config, self._environ)
        self.config = config

    def launch(self, spec: PluginSpec) -> Launch:
        """How a plugin is started. Raises as Manager.load does; nothing is started."""
        launcher = remote.find(spec, self._environ)
        if spec.server is None:
            return self._prepare(spec, launcher or self._find(spec.name))
        server = mcp.expanded(spec.server, self._environ)
        directory = working_directory(spec.settings, self._environ, self._directory)
        found = launcher or mcp.find(spec.name, server, self._environ, directory)
        launch = self._prepare(attrs.evolve(spec, server=server), found)
        return mcp.in_project(launch, self._directory)

    def _find(self, name: str) -> Resolved:
        try:
            return self._resolver.resolve(name)
        except PluginNotFound as error:
            if name in BUILTIN_NAMES:
                raise PluginSkipped(name) from error
            raise

    def _prepare(self, spec: PluginSpec, found: Resolved) -> Launch:
        settings = launching.settings_for(found, spec.settings)
        integrity = Integrity(spec.name, found, self.config)
        base = Launch(
            dialect=Native,
            command=(found.path,),
            env=integrity.environment(child_environment(settings, self._environ)),
            directory=working_directory(settings, self._environ, self._directory),
            options=spec.options,
            settings=settings,
            log_path=self.log_path(spec.name),
            secrets=tuple(secret_values(settings, self._environ, spec.options)),
            verify=integrity.check,
            callbacks=self._callbacks,
            environ=self._environ,
        )
        launch = launching.prepare(spec, found, base)
        return confine(spec.name, found, launch, base.directory, self._environ)

    def log_path(self, name: str) -> str:
        """Where what a plugin says on its standard error is kept."""
        return str(paths.logs_dir(self._environ) / f"plugin-{name}.log")


def resolver_for(config: Config, environ: Mapping[str, str]) -> Resolver:
    """What finds programs by plugin name, as the environment and a configuration say."""
    return Resolver(
        paths.config_dir(environ),
        environ.get("PATH", ""),
        compat=config.compat,
        environ=environ,
        project=config.project,
    )
