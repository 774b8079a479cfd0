"""When a plugin that died may start again. Pure: the time is a parameter.

A plugin is started again by the next call that needs it, not at once by itself. The first
start after a death is immediate, the following ones wait 1, 2, 4, ... 30 seconds. When the
fifth death falls within 60 seconds of the first of those five, the plugin has failed and
waits for a person.
"""

from __future__ import annotations

from collections import deque

BREAKER_DEATHS = 5
BREAKER_WINDOW = 60.0  # seconds
BACKOFF_MAX = 30.0  # seconds


class Supervisor:
    """Restart bookkeeping of one plugin; `now` is in seconds of any steady clock."""

    def __init__(self) -> None:
        self._deaths: deque[float] = deque(maxlen=BREAKER_DEATHS)
        self._backoff_exponent = 0
        self.failed = False
        self.not_before = 0.0

    def record_death(self, now: float) -> None:
        """The process ended, or failed to start, without having been asked to stop."""
        if not self._deaths or now - self._deaths[-1] > BREAKER_WINDOW:
            self._backoff_exponent = 0
        self._deaths.append(now)
        exponent = self._backoff_exponent
        delay = 0.0 if exponent == 0 else min(2.0 ** (exponent - 1), BACKOFF_MAX)
        self._backoff_exponent = exponent + 1
        self.not_before = now + delay
        full = len(self._deaths) == BREAKER_DEATHS
        if full and now - self._deaths[0] <= BREAKER_WINDOW:
            self.failed = True

    def wait(self, now: float) -> float:
        """Seconds until the next start is allowed; 0 when it is. Says nothing of `failed`."""
        return max(0.0, self.not_before - now)

    def recent_deaths(self, now: float) -> int:
        """Deaths within the breaker's window."""
        return sum(now - death <= BREAKER_WINDOW for death in self._deaths)

    def reset(self) -> None:
        """A person asked for a restart: begin anew."""
        self.__init__()  # type: ignore[misc]
