"""Counting how calls ended."""

from __future__ import annotations

from collections import Counter

import trio

from tinyhost.errors import (
    CallTimeout,
    OutcomeUncertain,
    PluginDied,
    PluginError,
    PluginNotFound,
    ProtocolError,
    RemoteError,
)
from tinyhost.plugin import Plugin

_KINDS = (
    (OutcomeUncertain, "uncertain"),
    (PluginDied, "died"),
    (RemoteError, "error"),
    (ProtocolError, "malformed"),
    (PluginNotFound, "not loaded"),
)
HUNG_AFTER = 60.0  # seconds; no deadline of these plugins is as long


class Hung(Exception):
    """A call did not end at all."""


class Tally(Counter[str]):
    """How many calls began, and how many ended in which way."""

    @property
    def lost(self) -> int:
        """Calls that began and did not end exactly once."""
        return abs(self["calls"] - sum(self[kind] for kind in self.ends))

    @property
    def ends(self) -> list[str]:
        """The ways in which calls ended."""
        return [kind for kind in self if kind not in ("calls", "crossed")]

    async def call(self, plugin: Plugin, token: str, deed: str = "", *, patience: float) -> str:
        """Make a call, cancel it after `patience` seconds, and count its end; gives its kind."""
        self["calls"] += 1
        kind = "cancelled"
        with trio.move_on_after(patience):
            kind = await self._end_of(plugin, token, deed)
        self[kind] += 1
        return kind

    async def _end_of(self, plugin: Plugin, token: str, deed: str) -> str:
        began = trio.current_time()
        try:
            if deed == "hook":
                said = (await plugin.invoke_hook("tell", {"token": token}))["token"]
            else:
                said = (await plugin.call_tool("do", {"token": token, "deed": deed})).content
        except CallTimeout as error:
            return "busy" if error.busy else "timeout"
        except PluginError as error:
            return next((kind for type, kind in _KINDS if isinstance(error, type)), "other")
        finally:
            if trio.current_time() - began > HUNG_AFTER:
                raise Hung(f"call {token} to {plugin.name} took {trio.current_time() - began} s")
        if said != f"{plugin.name} {token}":
            self["crossed"] += 1
        return "answered"
