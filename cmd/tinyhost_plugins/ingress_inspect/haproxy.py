"""An HAProxy configuration: its sections, and of the proxies what answers ask for.

Read is what is written: conditional blocks (".if") are not decided, so all of their branches count.
A configuration is kept small: servers are only counted, lines are kept as they may be shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .masks import shown
from .room import Room
from .words import words

SECTIONS = frozenset(
    (
        *("global", "defaults", "frontend", "backend", "listen", "peers", "resolvers", "mailers"),
        *("userlist", "cache", "http-errors", "program", "ring", "log-forward", "fcgi-app"),
        *("crt-store", "traces", "log-profile", "acme"),
    )
)
_PROXIES = ("frontend", "backend", "listen")
# The router keeps servers in reserve that it puts to use without a reload.
_RESERVE = "_dynamic-"
_MOST_RESERVE = 1_000_000
# Characters of a line that are looked at; HAProxy itself takes 64 words.
_LONGEST_LINE = 65_536


@dataclass(slots=True)
class Server:
    """weight: None when the line has none, which is HAProxy's 1."""

    name: str
    address: str
    weight: int | None = None
    disabled: bool = False

    @property
    def takes_traffic(self) -> bool:
        """Whether new connections may go to it."""
        return not self.disabled and self.weight != 0


@dataclass(slots=True)
class Defaults:
    """A section "defaults". inherits: the one it is made "from". options: its other lines as they
    may be shown.
    """

    name: str = ""
    inherits: Defaults | None = None
    mode: str = ""
    balance: str = ""
    timeouts: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bind:
    """What a "bind" says, as it may be shown."""

    text: str
    is_ssl: bool


@dataclass(frozen=True, slots=True)
class Proxy:
    """A frontend, backend or listen section. kind: which of them.

    mode, balance: those in effect; HAProxy's own mode is tcp, and balance is "" when neither the
    section nor its defaults say. servers: how many there are, idle: how many of them take no new
    connections. reserve: servers without an address yet. timeouts: its own, by name.
    """

    kind: str
    name: str
    mode: str = "tcp"
    balance: str = ""
    servers: int = 0
    idle: int = 0
    reserve: int = 0
    binds: tuple[Bind, ...] = ()
    timeouts: tuple[tuple[str, str], ...] = ()

    @property
    def is_backend(self) -> bool:
        return self.kind != "frontend"

    @property
    def is_frontend(self) -> bool:
        return self.kind != "backend"


@dataclass(slots=True)
class Config:
    """settings: the lines of the sections "global" as they may be shown. others: sections of other
    kinds by kind.
    """

    settings: list[str] = field(default_factory=list)
    defaults: list[Defaults] = field(default_factory=list)
    proxies: list[Proxy] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    stray_lines: int = 0
    conditional: bool = False

    @property
    def backends(self) -> list[Proxy]:
        return [proxy for proxy in self.proxies if proxy.is_backend]

    @property
    def frontends(self) -> list[Proxy]:
        return [proxy for proxy in self.proxies if proxy.is_frontend]


def parse(lines: Iterable[str], room: Room | None = None) -> Config:
    """Read a configuration. Lines that mean nothing here are passed over, whatever they are.

    Raises NoRoom when it does not fit into the room that is left.
    """
    reader = _Reader(Room() if room is None else room)
    for line in lines:
        found = words(line[:_LONGEST_LINE])
        if found:
            reader.take(found)
    return reader.end()


class _Section:
    """A proxy that is being read."""

    def __init__(self, kind: str, name: str, defaults: Defaults | None) -> None:
        self.kind = kind
        self.name = name
        self._defaults = defaults
        self._mode = self._balance = ""
        self._servers = self._idle = self._reserve = 0
        self._binds: list[Bind] = []
        self._timeouts: dict[str, str] = {}

    def take(self, line: list[str], room: Room) -> None:
        first, second = line[0], line[1] if len(line) > 1 else ""
        if first == "mode":
            self._mode = room.word(second)
        elif first == "balance":
            self._balance = room.word(second)
        elif first == "bind" and second:
            self._binds.append(Bind(room.text(shown(line[1:])), "ssl" in line[2:]))
        elif first == "timeout" and len(line) > 2:
            self._timeouts[room.word(second)] = room.word(line[2])
        elif first == "server" and len(line) > 2:
            if second.startswith(_RESERVE):
                self._reserve += 1
            else:
                self._servers += 1
                self._idle += not read_server(line).takes_traffic
        elif first == "server-template" and len(line) > 3:
            self._reserve += _template_size(line[2])

    def proxy(self) -> Proxy:
        return Proxy(
            self.kind,
            self.name,
            self._mode or _inherited(self._defaults, "mode") or "tcp",
            self._balance or _inherited(self._defaults, "balance"),
            self._servers,
            self._idle,
            self._reserve,
            tuple(self._binds),
            tuple(sorted(self._timeouts.items())),
        )


class _Reader:
    def __init__(self, room: Room) -> None:
        self._config = Config()
        self._room = room
        self._kind = ""
        self._defaults: Defaults | None = None
        self._by_name: dict[str, Defaults] = {}
        self._proxy: _Section | None = None

    def take(self, line: list[str]) -> None:
        first = line[0]
        if first.startswith("."):
            self._config.conditional |= first == ".if"
        elif first in SECTIONS:
            self._end_proxy()
            self._begin(line)
        elif self._kind == "global":
            self._config.settings.append(self._room.text(shown(line)))
        elif self._kind == "defaults" and self._defaults is not None:
            _take_default(self._defaults, line, self._room)
        elif self._proxy is not None:
            self._proxy.take(line, self._room)
        elif not self._kind:
            self._config.stray_lines += 1

    def end(self) -> Config:
        """The configuration, when there are no more lines."""
        self._end_proxy()
        return self._config

    def _end_proxy(self) -> None:
        if self._proxy is not None:
            self._config.proxies.append(self._room.shared(self._proxy.proxy()))
            self._proxy = None

    def _begin(self, line: list[str]) -> None:
        self._kind, name = line[0], line[1] if len(line) > 1 else ""
        if self._kind == "defaults":
            # "defaults from base" is one without a name.
            name = "" if line[1:2] == ["from"] and len(line) == 3 else name
            self._defaults = Defaults(self._room.section(name), self._named(line))
            self._by_name.setdefault(name, self._defaults)
            self._config.defaults.append(self._defaults)
        elif self._kind in _PROXIES:
            self._proxy = _Section(self._kind, name, self._named(line) or self._defaults)
        elif self._kind != "global":
            self._config.others[self._kind] += 1

    def _named(self, line: list[str]) -> Defaults | None:
        """The defaults that a section is made "from"."""
        if len(line) < 3 or line[-2] != "from":
            return None
        return self._by_name.get(line[-1])


def _inherited(start: Defaults | None, key: str) -> str:
    # A section can be made only from an earlier one, so this ends.
    while start is not None:
        value: str = getattr(start, key)
        if value:
            return value
        start = start.inherits
    return ""


def _take_default(section: Defaults, line: list[str], room: Room) -> None:
    first, second = line[0], line[1] if len(line) > 1 else ""
    if first == "timeout" and len(line) > 2:
        section.timeouts[room.word(second)] = room.word(line[2])
    elif first == "mode":
        section.mode = room.word(second)
    else:
        if first == "balance":
            section.balance = room.word(second)
        section.options.append(room.text(shown(line)))


def read_server(line: list[str]) -> Server:
    """The words of a line "server", which has an address."""
    server = Server(line[1], line[2])
    for word, following in zip(line[3:], [*line[4:], ""], strict=False):
        if word == "disabled":
            server.disabled = True
        elif word == "enabled":
            server.disabled = False
        elif word == "weight" and following.isdecimal() and len(following) < 10:
            server.weight = int(following)
    return server


def _template_size(text: str) -> int:
    """How many servers "5" or "3-7" makes."""
    low, dash, high = text.partition("-")
    if not (low.isdecimal() and (high.isdecimal() or not dash)) or len(text) > 20:
        return 0
    count = int(high) - int(low) + 1 if dash else int(low)
    return min(max(count, 0), _MOST_RESERVE)
