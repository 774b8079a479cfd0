"""URLs and paths of HTTP APIs: which are fit to be sent to, and how they are shown."""

from __future__ import annotations

import ipaddress
import urllib.parse

import httpx2

from .http_answers import HttpError, one_line


def path(*segments: str | int) -> str:
    """A path of these segments, each escaped whole, so that a "/" within one stays inside it.

    Raises ValueError for a segment that would change the path: "", ".", "..", control characters.
    """
    for segment in map(str, segments):
        if segment in ("", ".", "..") or not segment.isprintable():
            raise ValueError(f"{segment!r:.80} cannot be a part of a path")
    return "".join("/" + urllib.parse.quote(str(segment), safe="") for segment in segments)


def check_base(text: str) -> httpx2.URL:
    """The URL that an API is under, without a slash at its end. Raises HttpError."""
    # What may hold a password or a token is not shown.
    named = "the base URL" if set("@?#") & set(text) else one_line(text)[:200]
    try:
        url = httpx2.URL(text.rstrip("/"))
        port = urllib.parse.urlsplit(text).port
        url.raw_host.decode("ascii").encode("idna")  # as it is looked up
    except (httpx2.InvalidURL, ValueError):
        raise HttpError(f"{named} is not a URL") from None
    if url.scheme not in ("http", "https") or not url.host or "%" in url.netloc.decode():
        raise HttpError(f"{named} is not a URL that begins with https:// and a host")
    if url.userinfo or url.query or url.fragment or port == 0:
        raise HttpError(f"{named}: a base URL has no user, password, query, fragment or port 0")
    if url.scheme == "http" and not is_loopback(url.host):
        raise HttpError(
            f"{named} has no encryption, so no credentials are sent there: use https://;"
            " http:// is for this machine only"
        )
    return url


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown(url: httpx2.URL) -> str:
    """A URL without its query, which may hold what is secret, and not too long."""
    text = str(url.copy_with(query=None, fragment=None))
    return text if len(text) <= 200 else text[:199] + "…"
