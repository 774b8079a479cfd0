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


class StageScope:
    """What holds inside a stage: its own and its ancestors' ENV and ARG; ENV always wins.

    parent: the scope of the stage that this one continues. closed: nothing comes from a base
    image, since there is none.
    """

    def __init__(self, parent: StageScope | None = None, *, closed: bool = False) -> None:
        self._parent = parent
        self._closed: bool = closed if parent is None else parent._closed
        self._env: dict[str, Value] = {}
        self._args: dict[str, Value] = {}

    def set_env(self, name: str, value: Value) -> None:
        self._env[name] = value

    def set_arg(self, name: str, value: Value) -> None:
        self._args[name] = value

    def __call__(self, name: str) -> Value | None:
        argument: Value | None = None
        scope: StageScope | None = self
        while scope is not None:
            if name in scope._env:
                return scope._env[name]
            if argument is None:
                argument = scope._args.get(name)
            scope = scope._parent
        if argument is not None:
            return argument
        return None if self._closed and name not in _PROXIES else Unknown(name)
