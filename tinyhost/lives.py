"""The lives of one plugin: what was counted in them, what ended them, when the next may begin.

Whether a life is a process or a session with a server is the plugin's own matter.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import trio

from .errors import CallTimeout, PluginDied
from .model import Counters
from .plugin import Plugin
from .supervise import BREAKER_WINDOW, Supervisor

_log = logging.getLogger(__name__)

# Called with "died", "restarted" or "changed", the plugin, and what happened in words.
Observe = Callable[[str, Plugin, str], None]


class Lives:
    """died, started: the words for what becomes of this kind of plugin, as "died", "started"."""

    def __init__(self, plugin: Plugin, observe: Observe, died: str, started: str) -> None:
        self._plugin, self._observe = plugin, observe
        self._died, self._started = died, started
        self._last_death: PluginDied | None = None
        self.supervisor = Supervisor()
        self.counters = Counters()
        self.over = False  # the plugin is being stopped, or is

    @property
    def failed(self) -> bool:
        """Whether it died too often to be started again by itself."""
        return self.supervisor.failed

    @property
    def last_words(self) -> str:
        """What ended the last life, and the way out where there is only one; may be ""."""
        if self._last_death is None:
            return ""
        text = str(self._last_death)
        return f"{text}\n{self._way_out()}" if self.failed else text

    def _way_out(self) -> str:
        times = self.supervisor.recent_deaths(trio.current_time())
        return (
            f"It {self._died} {times} times within {BREAKER_WINDOW:g} s and is not {self._started}"
            f" again by itself. To try once more: tinyhost plugin restart {self._plugin.name}"
        )

    def ended(self, death: PluginDied) -> None:
        """A life ended, or did not begin, without having been asked to."""
        self._last_death = death
        self.counters.deaths += 1
        self.supervisor.record_death(trio.current_time())
        _log.warning("%s", death)
        self._observe("died", self._plugin, str(death))

    def began_again(self) -> None:
        """There is a life after another one."""
        self.counters.restarts += 1
        self._observe("restarted", self._plugin, "")

    def changed(self) -> None:
        """The plugin offers other things than before."""
        self._observe("changed", self._plugin, "")

    def refuse_when_over(self) -> None:
        """Raises PluginDied once the plugin is being stopped."""
        if self.over:
            raise PluginDied(self._plugin.name, "was stopped")

    def refuse_too_soon(self, *, restarts: bool = True) -> None:
        """Raises PluginDied while no life may begin by itself.

        restarts: whether this plugin is started again at all.
        """
        self.refuse_when_over()
        death = self._last_death
        if death is None:
            return  # no life, because a restart that was asked for was broken off
        wait = self.supervisor.wait(trio.current_time())
        if not restarts:
            hint = f"It is not {self._started} again by itself, and nothing was sent."
        elif self.failed:
            hint = self._way_out()
        elif wait > 0:
            hint = f"It may be {self._started} again in {wait:.1f} s."
        else:
            return
        raise PluginDied(self._plugin.name, death.status, stderr=death.stderr, hint=hint)

    def count_failure(self, error: Exception) -> None:
        """Count a call that did not come to an answer, or to an answer of the wrong form."""
        if not isinstance(error, CallTimeout):
            self.counters.errors += 1
        elif error.busy:
            self.counters.busy += 1
        else:
            self.counters.timeouts += 1
