"""What plugins offer beyond tools and hooks, whoever of them offers it: by kind and name.

A name that several plugins offer is the first one's, in load order. What is looked up is of
a plugin that runs: one that died is started again.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from .bingo.refusal import HOST, UNKNOWN_SERVICE, ServiceRefused
from .errors import TinyhostError
from .model import ClientCallbacks
from .plugin import Plugin

# The types of the wire are many, and few hosts meet a plugin that speaks it.
if TYPE_CHECKING:
    from .bingo.commands import Command
    from .bingo.compaction import Compactor
    from .bingo.context import Contributor
    from .bingo.messages import CommandOutcome
    from .bingo.providers import Provider
    from .bingo.services import Service
    from .bingo.types import Completion

_log = logging.getLogger(__name__)

_EARLY_MOST = 16  # notices kept of a plugin that is not loaded yet; the oldest make room
_LEVELS = {"info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}

# Called with the plugin's name, a level ("info", "warn" or "error"), and what it has to say.
Notice = Callable[[str, str, str], None]


class NotOffered(TinyhostError):
    """No loaded plugin offers that; `known` lists the names that there are."""

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        there = ", ".join(known) or "none"
        super().__init__(f"no loaded plugin offers the {kind} {name!r}; there are: {there}")


@attrs.frozen
class Offer:
    """Something that a plugin offers; what it is depends on the kind and the wire."""

    name: str
    plugin: Plugin
    what: Any


class Offers:
    """plugins: those that are loaded, in load order. All methods raise as calls do."""

    def __init__(self, plugins: Callable[[], Sequence[Plugin]]) -> None:
        self._plugins = plugins
        self._early: dict[str, deque[tuple[str, str]]] = {}
        self._told: set[tuple[str, str]] = set()
        self.listeners: list[Notice] = []

    def of(self, kind: str) -> Mapping[str, Offer]:
        """All of a kind, such as "commands" or "services", by name. Nothing is started."""
        found: dict[str, Offer] = {}
        for plugin in self._plugins():
            for name, what in _named(plugin, kind).items():
                if kind != "services" or name != HOST:
                    found.setdefault(name, Offer(name, plugin, what))
        return found

    async def _running(self, kind: str, name: str) -> Any:
        """What is offered under a name, by a plugin that runs."""
        offers = self.of(kind)
        if name not in offers:
            raise NotOffered(kind.removesuffix("s"), name, list(offers))
        plugin = offers[name].plugin
        await plugin.revive()
        live = _named(plugin, kind)
        if name not in live:
            raise NotOffered(kind.removesuffix("s"), name, list(live))
        return live[name]

    # --- commands

    def command(self, name: str) -> Offer:
        """A command by its name or another name of it, with or without its slash."""
        offers = self.of("commands")
        bare = name.removeprefix("/")
        if bare in offers:
            return offers[bare]
        for offer in offers.values():
            if bare in offer.what.spec.aliases:
                return offer
        raise NotOffered("command", bare, list(offers))

    async def run_command(
        self, name: str, args: str, *, directory: str, session: str = ""
    ) -> CommandOutcome:
        """Run a command; args is what was typed behind its name, as it is."""
        command: Command = await self._running("commands", self.command(name).name)
        return await command.run(args, directory=directory, session=session)

    async def complete(self, text: str, *, directory: str) -> Sequence[Completion]:
        """How a line could go on: the names of commands, and behind one its arguments."""
        from .bingo.types import Completion

        name, space, partial = text.removeprefix("/").partition(" ")
        if not space:
            return [
                Completion(value=f"/{offer.name}", label=offer.what.spec.hint)
                for offer in self.of("commands").values()
                if offer.name.startswith(name)
            ]
        command: Command = await self._running("commands", self.command(name).name)
        return await command.complete(partial, directory=directory)

    # --- the rest

    async def provider(self, id: str) -> Provider:
        """A source of model responses, ready to be used."""
        found: Provider = await self._running("providers", id)
        return found

    async def compactor(self, id: str) -> Compactor:
        """A way to shorten conversations, ready to be used."""
        found: Compactor = await self._running("compactors", id)
        return found

    async def contributor(self, id: str) -> Contributor:
        """A source of context, ready to be used."""
        found: Contributor = await self._running("contributors", id)
        return found

    async def call_service(self, key: str, method: str, params: Any = None) -> Any:
        """Call a service of a plugin. Raises ServiceRefused for what it does not have."""
        if key not in self.of("services"):
            there = ", ".join(self.of("services")) or "none"
            text = f"no plugin offers the service {key[:80]!r}; there are: {there}"
            raise ServiceRefused(text, UNKNOWN_SERVICE)
        service: Service = await self._running("services", key)
        return await service.call(method, params)

    async def serve(self, caller: str, key: str, method: str, params: Any) -> Any:
        """The same for a plugin that calls; see ClientCallbacks.service."""
        _log.debug("plugin %s calls %s of service %s", caller, method, key)
        try:
            return await self.call_service(key, method, params)
        except ServiceRefused:
            raise
        except TinyhostError as error:
            raise ServiceRefused(str(error)) from error

    def callbacks(self, given: ClientCallbacks) -> ClientCallbacks:
        """What the host does for plugins, with calls of services and notices."""
        listen = given.notice
        if listen is not None:
            self.listeners.append(listen)
        return attrs.evolve(given, service=given.service or self.serve, notice=self.notice)

    # --- notices

    def notice(self, plugin: str, level: str, text: str) -> None:
        """A plugin says something to the person: to the log, and to those who listen.

        What it says before it is loaded is kept until then.
        """
        if any(loaded.name == plugin for loaded in self._plugins()):
            self._say(plugin, level, text)
        else:
            self._early.setdefault(plugin, deque(maxlen=_EARLY_MOST)).append((level, text))

    def observed(self, event: str, plugin: Plugin, _text: str) -> None:
        """For the manager's observers."""
        if event in ("loaded", "restarted", "changed"):
            for level, text in self._early.pop(plugin.name, ()):
                self._say(plugin.name, level, text)
            self._tell_taken(plugin)
        elif event == "unloaded":
            self._told = {told for told in self._told if told[0] != plugin.name}

    def _tell_taken(self, plugin: Plugin) -> None:
        """Say once of each name whose first claimant is another plugin that it is not used."""
        kinds = ("services", "commands", "providers")
        for kind in kinds:
            owners = self.of(kind)
            for name in _named(plugin, kind):
                owner = owners.get(name)
                told = (plugin.name, f"{kind}:{name}")
                if (owner is not None and owner.plugin is plugin) or told in self._told:
                    continue
                self._told.add(told)
                whose = f"plugin {owner.plugin.name}" if owner else "the host"
                text = f"its {kind.removesuffix('s')} {name} is not used: {whose} has that name"
                self._say(plugin.name, "warn", text)

    def _say(self, plugin: str, level: str, text: str) -> None:
        # Where somebody listens, the log need not say it to the person as well.
        loud = not self.listeners
        _log.log(
            _LEVELS.get(level, logging.INFO) if loud else logging.DEBUG,
            "plugin %s: %s",
            plugin,
            text,
        )
        for listener in self.listeners:
            listener(plugin, level, text)


def _named(plugin: Plugin, kind: str) -> Mapping[str, Any]:
    found = plugin.capabilities.get(kind)
    return found if isinstance(found, Mapping) else {}
