"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import OptionError, check_names, number, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Name of a check -> from which value on it is WARN, and CRITICAL; None for never.
Thresholds = dict[str, tuple[float | None, float | None]]

AUTH_FAILURES = "authFailuresPercent"
DELETIONS = "deletions"
ESCALATION = "privilegeEscalation"
VOLUME = "eventsPerHour"
SERVER_ERRORS = "serverErrorsPercent"
THRESHOLDS: Thresholds = {
    AUTH_FAILURES: (5, 10),
    DELETIONS: (100, 500),
    ESCALATION: (10, 50),
    VOLUME: (100_000, None),
    SERVER_ERRORS: (1, 5),
}
# What the control plane, the nodes and the operators of a cluster are called. Only an
# administrator can make namespaces whose names begin like this.
PLATFORM = (
    "system:apiserver",
    "system:kube-controller-manager",
    "system:kube-scheduler",
    "system:node:",
    "system:serviceaccount:kube-",
    "system:serviceaccount:openshift-",
)
_KIB = 1024
# The least, the default and the most of each option that is a number.
_RANGES = {
    "maxKeys": (1000, 100_000, 5_000_000),
    "maxLineBytes": (64 * _KIB, 4 * _KIB * _KIB, 64 * _KIB * _KIB),
    "maxRows": (1, 500, 5000),
    "maxSeconds": (1, 300, 3600),
}
_OPTIONS = (*_RANGES, "platformUsers", "roots", "thresholds")


class Options:
    """max_keys: how many different values are counted, each by itself. max_line_bytes: longer
    lines are left out. max_rows: the most rows that a call may ask for. max_seconds: how long a
    call reads. platform: how the names of the platform's own users begin. roots: the folders
    that may be read; none for all of them. thresholds: see THRESHOLDS.
    """

    __slots__ = (
        "max_keys",
        "max_line_bytes",
        "max_rows",
        "max_seconds",
        "platform",
        "roots",
        "thresholds",
    )

    def __init__(
        self,
        *,
        max_keys: int = _RANGES["maxKeys"][1],
        max_line_bytes: int = _RANGES["maxLineBytes"][1],
        max_rows: int = _RANGES["maxRows"][1],
        max_seconds: int = _RANGES["maxSeconds"][1],
        platform: "tuple[str, ...]" = PLATFORM,
        roots: "tuple[str, ...]" = (),
        thresholds: "Thresholds" = THRESHOLDS,
    ) -> None:
        self.max_keys = max_keys
        self.max_line_bytes = max_line_bytes
        self.max_rows = max_rows
        self.max_seconds = max_seconds
        self.platform = platform
        self.roots = roots
        self.thresholds = thresholds


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    check_names(options, _OPTIONS)
    roots = texts(options, "roots")
    if not all(root.startswith("/") for root in roots):
        raise OptionError('option "roots" has to be a list of absolute paths')
    return Options(
        max_keys=number(options, "maxKeys", _RANGES),
        max_line_bytes=number(options, "maxLineBytes", _RANGES),
        max_rows=number(options, "maxRows", _RANGES),
        max_seconds=number(options, "maxSeconds", _RANGES),
        platform=texts(options, "platformUsers", PLATFORM),
        roots=roots,
        thresholds=_thresholds(options.get("thresholds")),
    )


def _thresholds(value: object) -> Thresholds:
    if value is None:
        return THRESHOLDS
    if type(value) is not dict:
        raise OptionError('option "thresholds" has to be an object')
    found = dict(THRESHOLDS)
    for key, pair in value.items():
        if key not in THRESHOLDS:
            raise OptionError(
                f'option "thresholds": there is no check "{key:.80}";'
                f" there are {', '.join(THRESHOLDS)}"
            )
        if type(pair) is not list or len(pair) != 2 or not all(map(_is_threshold, pair)):
            raise OptionError(
                f'option "thresholds": {key} has to be a list of two numbers from 0,'
                " for WARN and CRITICAL, or null for never"
            )
        if None not in pair and pair[0] > pair[1]:
            raise OptionError(
                f'option "thresholds": {key} has a limit for WARN above that for CRITICAL,'
                " so it would never be WARN"
            )
        found[key] = (pair[0], pair[1])
    return found


def _is_threshold(value: object) -> bool:
    return value is None or (type(value) in (int, float) and value >= 0)  # type: ignore[operator]
