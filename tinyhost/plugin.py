"""The one interface that all plugins have, whatever they are made of."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import ToolNotFound
from .model import CallContext, PluginInfo, State, ToolResult, ToolSpec


class Plugin(abc.ABC):
    """A loaded plugin: a child process or an object in this one; callers cannot tell.

    All methods raise errors of the TinyhostError tree for what the plugin does wrong.
    """

    id: str
    name: str

    @property
    @abc.abstractmethod
    def info(self) -> PluginInfo:
        """What is known of the plugin now."""

    @property
    def state(self) -> State:
        """Where the plugin is in its life."""
        return self.info.state

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the plugin offers beyond tools and hooks, by kind; typed by its dialect.

        It belongs to one life of the plugin: look again rather than keep it.
        """
        return {}

    async def revive(self) -> None:  # noqa: B027
        """Start the plugin again if it died, as a call does. Raises as calls do."""

    def handles(self, hook: str) -> bool:
        """Whether the plugin declared the hook."""
        return hook in self.info.hooks

    def tool(self, name: str) -> ToolSpec:
        """The tool of that name or id. Raises ToolNotFound."""
        return find_tool(self.info.tools, name)

    @abc.abstractmethod
    async def invoke_hook(self, name: str, input: Mapping[str, Any] | None = None) -> Any:
        """Call a hook and return the plugin's output; None is no opinion.

        Whatever the plugin says is returned as it is: the caller checks its form.
        """

    @abc.abstractmethod
    async def call_tool(
        self,
        name: str,
        args: object = None,
        context: CallContext | None = None,
        *,
        on_progress: Callable[[str], None] | None = None,
    ) -> ToolResult:
        """Call a tool by its bare name or its id.

        args: a value of JSON's kinds, or `RawJson` text to be passed on as it is written.
        on_progress: gets each line of progress that the tool reports.
        """

    @abc.abstractmethod
    async def stop(self) -> None:
        """End the plugin, in bounded time. A second stop does nothing."""


class StartedPlugin(Plugin):
    """A plugin outside of this process, which is started and can be started again.

    secrets: what it was given, and the host's own, as values to be masked in what is told of it.
    """

    secrets: Sequence[str] = ()

    @abc.abstractmethod
    async def start(self) -> None:
        """Make the plugin ready. Raises LoadError, and then nothing is left of the attempt."""

    @abc.abstractmethod
    async def restart(self) -> None:
        """End the plugin if it runs, and start anew with a clean record."""


def capability_names(capabilities: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Each kind, with the names of what is offered where the wire has names for it."""
    return {
        kind: list(offered) if isinstance(offered, Mapping) else []
        for kind, offered in capabilities.items()
    }


def find_tool(tools: Sequence[ToolSpec], name: str) -> ToolSpec:
    """The tool of that name or id. Raises ToolNotFound."""
    for tool in tools:
        if name in (tool.name, tool.id):
            return tool
    raise ToolNotFound(name, [tool.id for tool in tools])
