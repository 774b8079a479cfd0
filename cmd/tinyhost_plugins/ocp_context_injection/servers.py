"""Whether two URLs are those of one server."""

from __future__ import annotations

from httpx2 import URL

from .._shared.http import HttpError, check_base

_PORTS = {"http": 80, "https": 443}


def is_same(one: URL, other: URL) -> bool:
    """Whether two URLs that `check_base` gave name one API."""
    return _parts(one) == _parts(other)


def is_at(server: str, base: str) -> bool:
    """Whether the server of a kubeconfig is the one under a base URL; not if one is no such URL."""
    try:
        return is_same(check_base(server), check_base(base))
    except HttpError:
        return False


def _parts(url: URL) -> tuple[str, str, int, str]:
    return url.scheme, url.host, url.port or _PORTS[url.scheme], url.path.rstrip("/")
