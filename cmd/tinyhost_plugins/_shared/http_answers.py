"""What comes back from an HTTP request: a whole answer, or an error whose text can be shown."""

from __future__ import annotations

import email.utils
import http
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_LONGEST_LINE = 300  # characters of a server's own words that are shown
_SHORTEST_SECRET = 6  # characters; shorter values are not masked, they may be words
_EPOCH = 1_000_000_000  # a reset time from here on is a date, below it is a duration


class HttpError(Exception):
    """A request failed; the text says which, and why.

    unsure: whether the server may have carried it out all the same.
    """

    def __init__(self, text: str, *, unsure: bool = False) -> None:
        super().__init__(text)
        self.unsure = unsure


class Cancelled(HttpError):
    """The caller gave up."""


class TooLarge(HttpError):
    """The answer has more bytes than the limit."""


class StatusError(HttpError):
    """The server refused. problem: its own words, one short line, "" for none."""

    def __init__(self, text: str, response: Response, problem: str) -> None:
        super().__init__(text, unsure=response.status >= 500)
        self.response = response
        self.status = response.status
        self.problem = problem


class RateLimited(StatusError):
    """Too many requests. seconds: how long to wait, None when the server did not say."""

    def __init__(self, text: str, response: Response, problem: str) -> None:
        super().__init__(text, response, problem)
        self.seconds = asked_pause(response)


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer. headers: names in lower case, values without credentials that the server
    repeats. url: without its query.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""

    def json(self) -> Any:
        """The value in the body. Raises HttpError."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            kind = one_line(self.headers.get("content-type", "no content type"))
            size = len(self.body)
            raise HttpError(
                f"{self.url} answered with {size} bytes ({kind}) that are not JSON", unsure=True
            ) from None


def refusal(what: str, response: Response, secrets: tuple[str, ...]) -> StatusError:
    """The error for an answer without success. what: the request, in words."""
    problem = _problem(response, secrets)
    text = f"{what}: {_named(response.status)}" + (f": {problem}" if problem else "")
    if not _is_limit(response):
        return StatusError(text, response, problem)
    seconds = asked_pause(response)
    return RateLimited(
        f"{text}; there were too many requests"
        + ("" if seconds is None else f", and the server asks to wait {seconds:.0f} s"),
        response,
        problem,
    )


def asked_pause(response: Response) -> float | None:
    """The seconds that an answer asks to wait, None when it does not say."""
    headers = response.headers
    # The server's clock counts, where it is shown: the times in its headers are of it.
    now = _date(headers.get("date", "")) or time.time()
    asked = headers.get("retry-after", "").strip()
    if asked.isdecimal():
        return float(asked[:9])
    at = _date(asked)
    if at is not None:
        return max(at - now, 0.0)
    for name in ("x-ratelimit-reset", "ratelimit-reset"):
        reset = headers.get(name, "").strip()
        if reset.isdecimal() and _is_limit(response):
            seconds = float(reset[:12])
            return seconds if seconds < _EPOCH else max(seconds - now, 0.0)
    return None


def one_line(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text as one short line, without control characters and secrets."""
    text = masked(text, secrets)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"


def masked(text: str, secrets: tuple[str, ...]) -> str:
    """A text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text


def maskable(values: Iterable[str]) -> tuple[str, ...]:
    """Values and, of "Bearer x", also the last word; the longest first."""
    found = {part for value in values for part in (value, value.rpartition(" ")[2])}
    return tuple(sorted((v for v in found if len(v) >= _SHORTEST_SECRET), key=len, reverse=True))


def _is_limit(response: Response) -> bool:
    headers = response.headers
    spent = "0" in (headers.get("x-ratelimit-remaining"), headers.get("ratelimit-remaining"))
    return response.status == 429 or (
        response.status == 403 and (spent or "retry-after" in headers)
    )


def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _problem(response: Response, secrets: tuple[str, ...]) -> str:
    """What a server says is wrong, from the members where APIs say so; "" for other answers."""
    try:
        value = json.loads(response.body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    members = ("message", "error_description", "error", "detail", "errors")
    texts = [_flat(value.get(member)) for member in members]
    return one_line("; ".join(dict.fromkeys(filter(None, texts))), secrets)


def _flat(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and depth < 3:
        items = [(key, _flat(item, depth + 1)) for key, item in list(value.items())[:8]]
        return "; ".join(f"{key:.40}: {text}" for key, text in items if text)
    if isinstance(value, list) and depth < 3:
        return ", ".join(filter(None, (_flat(item, depth + 1) for item in value[:5])))
    return ""


def _named(status: int) -> str:
    try:
        return f"HTTP {status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"
