"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import check_names, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3
# The least, the default and the most of each option.
RANGES = {
    "certificateDays": (0, 30, 3650),
    "logErrors": (0, 10, 1_000_000),
    "longTimeoutSeconds": (1, 300, 86_400),
    "maxConfigBytes": (_KIB, 32 * _MIB, 256 * _MIB),
    "maxConfigs": (1, 50, 1000),
    "maxLogBytes": (_KIB, 16 * _MIB, 256 * _MIB),
    "maxMemoryBytes": (_KIB, 256 * _MIB, 4 * _GIB),
    "maxRows": (1, 50, 1000),
    "maxSeconds": (1, 60, 600),
}


class Options:
    """certificate_days: a certificate that ends within so many days is an issue.
    log_errors: how many error lines a router's log may have. long_timeout_seconds: a default
    timeout above it is an issue. max_config_bytes, max_configs, max_log_bytes: what is read of each
    HAProxy configuration, how many of them, and of the end of each log. max_memory_bytes: what is
    kept of all configurations, about. max_rows: the rows of a list when a call does not say.
    max_seconds: what a call may take to read.
    """

    __slots__ = (
        "certificate_days",
        "log_errors",
        "long_timeout_seconds",
        "max_config_bytes",
        "max_configs",
        "max_log_bytes",
        "max_memory_bytes",
        "max_rows",
        "max_seconds",
    )

    def __init__(self, options: "Mapping[str, Any] | None" = None) -> None:
        """Check the plugin's options. Raises OptionError."""
        given = options or {}
        check_names(given, RANGES)
        self.certificate_days = number(given, "certificateDays", RANGES)
        self.log_errors = number(given, "logErrors", RANGES)
        self.long_timeout_seconds = number(given, "longTimeoutSeconds", RANGES)
        self.max_config_bytes = number(given, "maxConfigBytes", RANGES)
        self.max_configs = number(given, "maxConfigs", RANGES)
        self.max_log_bytes = number(given, "maxLogBytes", RANGES)
        self.max_memory_bytes = number(given, "maxMemoryBytes", RANGES)
        self.max_rows = number(given, "maxRows", RANGES)
        self.max_seconds = number(given, "maxSeconds", RANGES)
