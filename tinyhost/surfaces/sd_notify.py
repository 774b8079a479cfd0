"""Telling a service manager how far we are: systemd's notification protocol, by hand."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping

_PATIENCE = 1.0  # seconds for a manager whose queue is full


def notify(environ: Mapping[str, str], *states: str) -> bool:
    """Send states such as "READY=1" to where NOTIFY_SOCKET says; whether they were sent.

    Nothing is sent where nobody wants to know, and a failure harms nothing.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if address[:1] not in ("/", "@"):
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(_PATIENCE)  # the host waits meanwhile
            sender.connect(address)
            sender.sendall("\n".join(states).encode())
    except OSError:
        return False
    return True


def reloading() -> tuple[str, str]:
    """The states that tell of a reload; its end is told by READY=1."""
    return "RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}"


def watchdog_interval(environ: Mapping[str, str]) -> float | None:
    """Seconds between signs of life, half of what is asked for; None where none are wanted."""
    usec, pid = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
    if not usec.isdigit() or int(usec) == 0 or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 2_000_000
