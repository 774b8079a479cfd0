"""How much the configurations of one call may keep in memory, together."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .haproxy import Proxy

# What a section costs beside its name, with all that is made of it while an answer is made; and
# what one costs that is the same as another. Measured, and rounded up.
_SECTION, _AGAIN, _TEXT = 1000, 200, 100
_LONGEST_WORD = 300


class NoRoom(Exception):
    """The configurations would take more memory than they may."""


class Room:
    """most: bytes in all, about; without it there is no bound.

    The pods of a controller have nearly the same sections, often in another order. They are kept once.
    """

    def __init__(self, most: int | None = None) -> None:
        self._left = most
        self._proxies: dict[Proxy, Proxy] = {}
        self._words: dict[str, str] = {}

    def shared(self, proxy: Proxy) -> Proxy:
        """A proxy that is equal to this one. Raises NoRoom, as all that follow."""
        known = self._proxies.get(proxy)
        if known is not None:
            self._take(_AGAIN)
            return known
        self._take(_SECTION + sys.getsizeof(proxy.name) + _TEXT * len(proxy.timeouts))
        self._proxies[proxy] = proxy
        return proxy

    def section(self, name: str) -> str:
        """The name of a section of which there are few."""
        self._take(_SECTION + sys.getsizeof(name))
        return name

    def text(self, text: str) -> str:
        """A text that is kept as it is."""
        self._take(_TEXT + sys.getsizeof(text))
        return text

    def word(self, word: str) -> str:
        """A short word that is likely to come again; the rest of a long one is dropped."""
        word = word[:_LONGEST_WORD]
        known = self._words.get(word)
        if known is None:
            self._take(_TEXT + sys.getsizeof(word))
            known = self._words[word] = word
        return known

    def _take(self, size: int) -> None:
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise NoRoom
