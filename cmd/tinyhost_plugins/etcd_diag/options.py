"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MIB = 1024 * 1024
PREFIXES = ("/registry/", "/kubernetes.io/", "/openshift.io/")

# name: (smallest, largest, default)
_NUMBERS = {
    "maxKeys": (1000, 50_000_000, 4_000_000),
    "maxLogMiB": (1, 1024 * 1024, 8 * 1024),
    "maxSnapshotMiB": (1, 64 * 1024, 2 * 1024),
    "seconds": (1, 3600, 300),
}
_OPTIONS = ("etcdctl", "maxKeys", "maxLogMiB", "maxSnapshotMiB", "prefixes", "seconds")


class OptionError(ValueError):
    """An option is wrong; the text names it and says what it has to be."""


class Options:
    """etcdctl: the program that asks a running etcd. max_keys: how many keys of a snapshot are
    remembered. max_logs, max_snapshot: bytes that are read of all logs, and of one snapshot.
    prefixes: what the keys of Kubernetes objects begin with. seconds: how long a call may take.
    """

    __slots__ = ("etcdctl", "max_keys", "max_logs", "max_snapshot", "prefixes", "seconds")

    def __init__(
        self,
        *,
        etcdctl: str = "etcdctl",
        max_keys: int = _NUMBERS["maxKeys"][2],
        max_logs: int = _NUMBERS["maxLogMiB"][2] * MIB,
        max_snapshot: int = _NUMBERS["maxSnapshotMiB"][2] * MIB,
        prefixes: "tuple[str, ...]" = PREFIXES,
        seconds: int = _NUMBERS["seconds"][2],
    ) -> None:
        self.etcdctl = etcdctl
        self.max_keys = max_keys
        self.max_logs = max_logs
        self.max_snapshot = max_snapshot
        self.prefixes = prefixes
        self.seconds = seconds


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    for key in options:
        if key not in _OPTIONS:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(_OPTIONS)}')
    return Options(
        etcdctl=_etcdctl(options.get("etcdctl")),
        max_keys=_number(options, "maxKeys"),
        max_logs=_number(options, "maxLogMiB") * MIB,
        max_snapshot=_number(options, "maxSnapshotMiB") * MIB,
        prefixes=_prefixes(options.get("prefixes")),
        seconds=_number(options, "seconds"),
    )


def _number(options: "Mapping[str, Any]", key: str) -> int:
    smallest, largest, default = _NUMBERS[key]
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not int or not smallest <= value <= largest:
        raise OptionError(f'option "{key}" has to be a whole number from {smallest} to {largest}')
    return value


def _etcdctl(value: object) -> str:
    if value is None:
        return "etcdctl"
    if type(value) is not str or not value.strip() or "\0" in value:
        raise OptionError('option "etcdctl" has to be the name or path of a program')
    return value


def _prefixes(value: object) -> "tuple[str, ...]":
    if value is None:
        return PREFIXES
    if type(value) is not list or not all(_is_prefix(item) for item in value):
        raise OptionError(
            'option "prefixes" has to be a list of texts such as "/registry/", with a slash at'
            " both ends"
        )
    return tuple(dict.fromkeys((*PREFIXES, *value)))


def _is_prefix(item: object) -> bool:
    return type(item) is str and len(item) > 2 and item[0] == item[-1] == "/"
