"""An HAProxy configuration: its sections, and of the proxies what answers ask for.

Read is what is written: conditional blocks (".if") are not decided, so all of their branches count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

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
    """A section "defaults". inherits: the one it is made "from"."""

    name: str = ""
    inherits: Defaults | None = None
    mode: str = ""
    balance: str = ""
    timeouts: dict[str, str] = field(default_factory=dict)
    options: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Proxy:
    """A frontend, backend or listen section. kind: which of them. line: where it begins.

    own_mode, own_balance: "" when the section does not say. reserve: servers without an address yet.
    """

    kind: str
    name: str
    line: int
    defaults: Defaults | None = None
    own_mode: str = ""
    own_balance: str = ""
    binds: list[list[str]] = field(default_factory=list)
    timeouts: dict[str, str] = field(default_factory=dict)
    servers: list[Server] = field(default_factory=list)
    reserve: int = 0

    @property
    def mode(self) -> str:
        """The mode that is in effect: HAProxy's own default is tcp."""
        return self.own_mode or _inherited(self.defaults, "mode") or "tcp"

    @property
    def balance(self) -> str:
        """The algorithm that is in effect, "" when neither the section nor its defaults say."""
        return self.own_balance or _inherited(self.defaults, "balance")

    @property
    def is_backend(self) -> bool:
        return self.kind != "frontend"

    @property
    def is_frontend(self) -> bool:
        return self.kind != "backend"


@dataclass(slots=True)
class Config:
    """settings: the lines of the sections "global". others: sections of other kinds by kind."""

    settings: list[list[str]] = field(default_factory=list)
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


def _inherited(start: Defaults | None, key: str) -> str:
    # A section can be made only from an earlier one, so this ends.
    while start is not None:
        value: str = getattr(start, key)
        if value:
            return value
        start = start.inherits
    return ""


def parse(lines: Iterable[str]) -> Config:
    """Read a configuration. Lines that mean nothing here are passed over, whatever they are."""
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        found = words(line)
        if found:
            reader.take(number, found)
    return reader.config


class _Reader:
    def __init__(self) -> None:
        self.config = Config()
        self._section = ""
        self._defaults: Defaults | None = None
        self._proxy: Proxy | None = None

    def take(self, number: int, line: list[str]) -> None:
        first = line[0]
        if first.startswith("."):
            self.config.conditional |= first == ".if"
        elif first in SECTIONS:
            self._begin(number, line)
        elif self._section == "global":
            self.config.settings.append(line)
        elif self._section == "defaults" and self._defaults is not None:
            _take_default(self._defaults, line)
        elif self._proxy is not None:
            _take_proxy(self._proxy, line)
        elif not self._section:
            self.config.stray_lines += 1

    def _begin(self, number: int, line: list[str]) -> None:
        self._section, name = line[0], line[1] if len(line) > 1 else ""
        self._proxy = None
        if self._section == "defaults":
            # "defaults from base" is one without a name.
            name = "" if line[1:2] == ["from"] and len(line) == 3 else name
            self._defaults = Defaults(name, self._named(line))
            self.config.defaults.append(self._defaults)
        elif self._section in _PROXIES:
            self._proxy = Proxy(self._section, name, number, self._named(line) or self._defaults)
            self.config.proxies.append(self._proxy)
        elif self._section != "global":
            self.config.others[self._section] += 1

    def _named(self, line: list[str]) -> Defaults | None:
        """The defaults that a section is made "from"."""
        if len(line) < 3 or line[-2] != "from":
            return None
        found = (entry for entry in self.config.defaults if entry.name == line[-1])
        return next(found, None)


def _take_default(section: Defaults, line: list[str]) -> None:
    first, second = line[0], line[1] if len(line) > 1 else ""
    if first == "timeout" and len(line) > 2:
        section.timeouts[second] = line[2]
    elif first == "mode":
        section.mode = second
    else:
        if first == "balance":
            section.balance = second
        section.options.append(line)


def _take_proxy(proxy: Proxy, line: list[str]) -> None:
    first, second = line[0], line[1] if len(line) > 1 else ""
    if first == "mode":
        proxy.own_mode = second
    elif first == "balance":
        proxy.own_balance = second
    elif first == "bind" and second:
        proxy.binds.append(line[1:])
    elif first == "timeout" and len(line) > 2:
        proxy.timeouts[second] = line[2]
    elif first == "server" and len(line) > 2:
        if second.startswith(_RESERVE):
            proxy.reserve += 1
        else:
            proxy.servers.append(_server(line))
    elif first == "server-template" and len(line) > 3:
        proxy.reserve += _template_size(line[2])


def _server(line: list[str]) -> Server:
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
