"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

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
# Name of a number -> default, least and most.
_NUMBERS = {
    "maxKeys": (100_000, 1000, 5_000_000),
    "maxLineBytes": (4 * _KIB * _KIB, 64 * _KIB, 64 * _KIB * _KIB),
    "maxRows": (500, 1, 5000),
    "maxSeconds": (300, 1, 3600),
}
_OPTIONS = (*_NUMBERS, "platformUsers", "roots", "thresholds")


class OptionError(ValueError):
    """An option is wrong; the text names it and says what it has to be."""


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
        max_keys: int = _NUMBERS["maxKeys"][0],
        max_line_bytes: int = _NUMBERS["maxLineBytes"][0],
        max_rows: int = _NUMBERS["maxRows"][0],
        max_seconds: int = _NUMBERS["maxSeconds"][0],
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
    for key in options:
        if key not in _OPTIONS:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(_OPTIONS)}')
    platform = _texts(options, "platformUsers")
    roots = _texts(options, "roots") or ()
    if not all(root.startswith("/") for root in roots):
        raise OptionError('option "roots" has to be a list of absolute paths')
    return Options(
        max_keys=_number(options, "maxKeys"),
        max_line_bytes=_number(options, "maxLineBytes"),
        max_rows=_number(options, "maxRows"),
        max_seconds=_number(options, "maxSeconds"),
        platform=PLATFORM if platform is None else platform,
        roots=roots,
        thresholds=_thresholds(options.get("thresholds")),
    )


def _number(options: "Mapping[str, Any]", key: str) -> int:
    default, least, most = _NUMBERS[key]
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not int or not least <= value <= most:
        raise OptionError(f'option "{key}" has to be a whole number from {least} to {most}')
    return value


def _texts(options: "Mapping[str, Any]", key: str) -> "tuple[str, ...] | None":
    value = options.get(key)
    if value is None:
        return None
    if type(value) is not list or not all(type(item) is str and item for item in value):
        raise OptionError(f'option "{key}" has to be a list of texts, none of them empty')
    return tuple(value)


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
        found[key] = (pair[0], pair[1])
    return found


def _is_threshold(value: object) -> bool:
    return value is None or (type(value) in (int, float) and value >= 0)  # type: ignore[operator]
