"""Ids that sort by creation: a prefix, 16 hex digits of time, 10 random characters."""

from __future__ import annotations

import secrets
import string
import threading
import time

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
# Reentrant: an interrupt at the wrong moment leaves it locked, and must not lock us out.
_lock = threading.RLock()
_last = 0


def new_id(prefix: str) -> str:
    """A new id, greater than every id made before in this process.

    The number is milliseconds since the epoch times 4096 plus a counter, the form that
    tinycode gives its ids, so that logs of both sort together.
    """
    global _last  # noqa: PLW0603
    with _lock:
        _last = max(_last + 1, time.time_ns() // 1_000_000 * 4096 + 1)
        number = _last
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    return f"{prefix}_{number:016x}{tail}"
