"""Variables: what ARG and ENV have set, where in the file they hold."""

from __future__ import annotations

from .expand import Unknown

# BuildKit sets these before the first FROM, and an ARG without a default brings them into a stage.
_PLATFORM = frozenset(
    f"{side}{part}"
    for side in ("BUILD", "TARGET")
    for part in ("PLATFORM", "OS", "ARCH", "VARIANT")
) | {"OSVERSION", "TARGETSTAGE"}
_PROXIES = frozenset(
    spelling
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
    for spelling in (name, name.lower())
)

Value = str | Unknown


class GlobalScope:
    """What ARG sets before the first FROM. It holds in FROM lines only."""

    def __init__(self) -> None:
        self._args: dict[str, Value] = {}

    def declare(self, name: str, value: Value | None) -> None:
        """value: None for an ARG without a default."""
        self._args[name] = Unknown(name) if value is None else value

    def default(self, name: str) -> Value:
        """What an ARG without a default of its own gets."""
        return self._args.get(name, Unknown(name))

    def __call__(self, name: str) -> Value | None:
        if name in self._args:
            return self._args[name]
        return Unknown(name) if name in _PLATFORM else None


class _Table:
    """Values by name and scope, for scopes that each continue an earlier one.

    A file may chain hundreds of stages and ask for thousands of variables, so that a look at
    each ancestor in turn would take long. A set of scopes is the bits of a number instead.
    """

    def __init__(self) -> None:
        self._setters: dict[str, int] = {}
        self._values: dict[tuple[str, int], Value] = {}

    def put(self, name: str, number: int, value: Value) -> None:
        self._setters[name] = self._setters.get(name, 0) | 1 << number
        self._values[name, number] = value

    def nearest(self, name: str, lineage: int) -> Value | None:
        """The value that the latest of the scopes in a lineage has set."""
        setters = self._setters.get(name, 0) & lineage
        return self._values[name, setters.bit_length() - 1] if setters else None


class _Family:
    """What scopes share that continue each other: their tables, and how many they are."""

    def __init__(self) -> None:
        self.env, self.args = _Table(), _Table()
        self.size = 0


class StageScope:
    """What holds inside a stage: its own and its ancestors' ENV and ARG; ENV always wins.

    parent: the scope of the stage that this one continues; it changes no more. closed: nothing
    comes from a base image, since there is none.
    """

    def __init__(self, parent: StageScope | None = None, *, closed: bool = False) -> None:
        self._closed: bool = closed if parent is None else parent._closed
        self._family: _Family = _Family() if parent is None else parent._family
        self._number = self._family.size
        self._family.size += 1
        self._lineage: int = (0 if parent is None else parent._lineage) | 1 << self._number

    def set_env(self, name: str, value: Value) -> None:
        self._family.env.put(name, self._number, value)

    def set_arg(self, name: str, value: Value) -> None:
        self._family.args.put(name, self._number, value)

    def __call__(self, name: str) -> Value | None:
        for table in (self._family.env, self._family.args):
            value = table.nearest(name, self._lineage)
            if value is not None:
                return value
        return None if self._closed and name not in _PROXIES else Unknown(name)
