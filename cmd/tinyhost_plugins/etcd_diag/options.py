"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import OptionError, check_names, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MIB = 1024 * 1024
PREFIXES = ("/registry/", "/kubernetes.io/", "/openshift.io/")

# The least, the default and the most of each option that is a number.
_RANGES = {
    "maxKeys": (1000, 4_000_000, 50_000_000),
    "maxLogMiB": (1, 8 * 1024, 1024 * 1024),
    "maxSnapshotMiB": (1, 2 * 1024, 64 * 1024),
    "seconds": (1, 300, 3600),
}
_OPTIONS = ("etcdctl", "maxKeys", "maxLogMiB", "maxSnapshotMiB", "prefixes", "seconds")


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
        max_keys: int = _RANGES["maxKeys"][1],
        max_logs: int = _RANGES["maxLogMiB"][1] * MIB,
        max_snapshot: int = _RANGES["maxSnapshotMiB"][1] * MIB,
        prefixes: "tuple[str, ...]" = PREFIXES,
        seconds: int = _RANGES["seconds"][1],
    ) -> None:
        self.etcdctl = etcdctl
        self.max_keys = max_keys
        self.max_logs = max_logs
        self.max_snapshot = max_snapshot
        self.prefixes = prefixes
        self.seconds = seconds


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    check_names(options, _OPTIONS)
    return Options(
        etcdctl=_etcdctl(options.get("etcdctl")),
        max_keys=number(options, "maxKeys", _RANGES),
        max_logs=number(options, "maxLogMiB", _RANGES) * MIB,
        max_snapshot=number(options, "maxSnapshotMiB", _RANGES) * MIB,
        prefixes=_prefixes(options.get("prefixes")),
        seconds=number(options, "seconds", _RANGES),
    )


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
