"""A client for the HTTP APIs of services: one origin, and bounds on time, size and tries.

Credentials go to the origin of the base URL and nowhere else: redirects to another one are not
followed, and plain http is for this machine only. Every failure is an HttpError whose text is
made to be shown; it holds neither credentials nor more than a line of what the server said.
"""

from __future__ import annotations

import functools
import json as json_text
import math
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import httpx2
import trio

from .http_answers import (
    Cancelled,
    HttpError,
    RateLimited,
    Response,
    StatusError,
    TooLarge,
    asked_pause,
    maskable,
    masked,
    one_line,
    refusal,
)
from .http_urls import check_base, is_loopback, origin, path, shown

__all__ = [
    "DEFAULT_LIMITS",
    "Cancelled",
    "Client",
    "Credentials",
    "HttpError",
    "Limits",
    "RateLimited",
    "Response",
    "StatusError",
    "TooLarge",
    "check_base",
    "path",
]

# Headers that show who asks. A function is asked for each request, and after an answer of 401
# once more with True: then it gives new ones, or the same when it has none.
Credentials = Mapping[str, str] | Callable[[bool], Mapping[str, str]]

_REPEATABLE = ("GET", "HEAD", "PUT", "DELETE")
_UNAVAILABLE = (502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_SAME_METHOD = (307, 308)
_SEE_OTHER = 303  # what was asked for has been done; the redirect leads to what came of it
_MOST_OF_FAILURE = 64 * 1024  # bytes read of an answer that tells of a failure
_POLL = 0.05  # seconds between looks at whether the caller gave up
_BAD_PROXY = (
    "the proxy that HTTPS_PROXY or ALL_PROXY names cannot be used;"
    " it has to be a URL that begins with http:// or https://"
)


class _NoAnswer(HttpError):
    """The connection failed; trying again may help. unsure: the request may have arrived."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one request. seconds: for all of it, with retries and the waits between them.
    connect: seconds for a connection. body: bytes of an answer. pause: seconds before the
    second try, doubled for each further one.
    """

    seconds: float = 30.0
    connect: float = 10.0
    tries: int = 3
    redirects: int = 3
    body: int = 2 * 1024 * 1024
    pause: float = 0.5


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: httpx2.URL
    headers: Mapping[str, str]
    content: bytes | None
    repeatable: bool
    secrets: tuple[str, ...]


class Client:
    """Talks to the API under one base URL.

    headers: sent with each request. credentials: see Credentials. ca_file: certificates to
    trust instead of the system's. cancelled: looked at all the time; True ends a request.
    deadline: of time.monotonic(), no request goes on after it.

    Raises HttpError.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        credentials: Credentials | None = None,
        limits: Limits = DEFAULT_LIMITS,
        ca_file: str = "",
        cancelled: Callable[[], bool] | None = None,
        deadline: float = math.inf,
    ) -> None:
        self._base = check_base(base_url)
        self._headers = {
            "user-agent": "tinyhost",
            "accept": "application/json",
            "accept-encoding": "identity",  # what is unpacked would have no bound
            **(headers or {}),
        }
        self._credentials = credentials
        self._limits = limits
        self._ca_file = ca_file
        self._cancelled = cancelled
        self._deadline = deadline

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> Response:
        """request("GET", ...)."""
        return self.request("GET", path, query=query)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
    ) -> Response:
        """Make a request and read the whole answer.

        path: begins with "/" and is escaped, as path() makes it; it may end in a query.
        json, form: the body.
        repeatable: whether it may be sent again when it may have been carried out already;
        by default that goes by the method.

        Raises Cancelled, RateLimited, StatusError for any other status but 2xx, HttpError.
        """
        headers, content = _body(json, form)
        call = _Call(
            method,
            self._address(path, query),
            headers,
            content,
            method in _REPEATABLE if repeatable is None else repeatable,
            maskable((form or {}).values()),
        )
        end = min(time.monotonic() + self._limits.seconds, self._deadline)
        credentials = self._ask(renew=False)
        outcome = self._send(call, credentials, end)
        if callable(self._credentials) and getattr(outcome, "status", 0) == 401:
            renewed = self._ask(renew=True)
            if renewed != credentials:
                outcome = self._send(call, renewed, end)
        if isinstance(outcome, HttpError):
            raise outcome
        return outcome

    def _address(self, path: str, query: Mapping[str, str | int] | None) -> httpx2.URL:
        try:
            more = urllib.parse.urlencode(query or {})
            joint = ("&" if "?" in path else "?") if more else ""
            return httpx2.URL(f"{self._base}{path}{joint}{more}")
        except (httpx2.InvalidURL, ValueError):
            raise HttpError(f"{self._base}: the query is too long or no text") from None

    def _ask(self, *, renew: bool) -> Mapping[str, str]:
        given = self._credentials or {}
        return given(renew) if callable(given) else given

    def _send(
        self, call: _Call, credentials: Mapping[str, str], end: float
    ) -> Response | HttpError:
        for name, value in credentials.items():
            if not (value.isascii() and value.isprintable()):
                return HttpError(f"the credentials hold what the header {name} cannot hold")
        call = replace(
            call,
            headers={**self._headers, **call.headers, **credentials},
            secrets=maskable(credentials.values()) + call.secrets,
        )
        exchange = _Exchange(call, self._base, self._limits, self._ca_file)
        return trio.run(exchange.run, end - time.monotonic(), self._cancelled)


class _Exchange:
    """One request with its retries, all within a deadline."""

    def __init__(self, call: _Call, base: httpx2.URL, limits: Limits, ca_file: str) -> None:
        self._call = call
        self._base = base
        self._limits = limits
        self._ca_file = ca_file
        self._what = f"{call.method} {shown(call.url)}"

    async def run(
        self, seconds: float, cancelled: Callable[[], bool] | None
    ) -> Response | HttpError:
        outcome: Response | HttpError | None = None
        if cancelled is not None and cancelled():
            return Cancelled(f"{self._what} was cancelled")
        async with trio.open_nursery() as nursery:
            if cancelled is not None:
                nursery.start_soon(_watch, cancelled, nursery.cancel_scope)
            with trio.move_on_after(max(seconds, 0)):
                try:
                    outcome = await self._tries(trio.current_time() + seconds)
                except HttpError as error:
                    outcome = error
            nursery.cancel_scope.cancel()
        if outcome is None and cancelled is not None and cancelled():
            return Cancelled(f"{self._what} was cancelled", unsure=True)
        late = f"{self._what}: no answer within {max(seconds, 0):.2g} s"
        return outcome or HttpError(late, unsure=True)

    async def _tries(self, end: float) -> Response:
        async with self._client() as client:
            for attempt in range(self._limits.tries):
                try:
                    return await self._follow(client)
                except HttpError as error:
                    pause = self._pause(error)
                    if pause is None or attempt + 1 == self._limits.tries:
                        raise
                    pause = pause or self._limits.pause * 2**attempt
                    if trio.current_time() + pause >= end:
                        raise
                await trio.sleep(pause)
        raise ValueError(f"{self._limits} allow no try")

    def _client(self) -> httpx2.AsyncClient:
        verify = _tls(self._ca_file if self._base.scheme == "https" else None)
        try:
            return httpx2.AsyncClient(
                timeout=httpx2.Timeout(None, connect=self._limits.connect),
                verify=verify,
                # A proxy would see what is sent without encryption.
                trust_env=not is_loopback(self._base.host),
            )
        except (httpx2.InvalidURL, ImportError, ValueError):
            # Its URL may hold a password, so it is not shown.
            raise HttpError(f"{self._what}: {_BAD_PROXY}") from None

    def _pause(self, error: HttpError) -> float | None:
        """Seconds until the next try, 0 for as many as usual, None for no other try."""
        repeatable = self._call.repeatable
        if isinstance(error, RateLimited):  # it was refused, so nothing was carried out
            return error.seconds or 0
        if isinstance(error, StatusError) and repeatable and error.status in _UNAVAILABLE:
            return asked_pause(error.response) or 0
        if isinstance(error, _NoAnswer) and (repeatable or not error.unsure):
            return 0
        return None

    async def _follow(self, client: httpx2.AsyncClient) -> Response:
        url = self._call.url
        for _ in range(self._limits.redirects + 1):
            response = await self._once(client, url)
            if 200 <= response.status < 300:
                return response
            if response.status not in _REDIRECTS or "location" not in response.headers:
                raise refusal(self._what, response, self._call.secrets)
            url = self._target(url, response)
        raise HttpError(f"{self._what}: more than {self._limits.redirects} redirects")

    def _target(self, url: httpx2.URL, response: Response) -> httpx2.URL:
        unsure = response.status == _SEE_OTHER
        try:
            target = url.join(response.headers["location"])
        except (httpx2.InvalidURL, ValueError):
            raise HttpError(
                f"{self._what}: a redirect to what is not a URL", unsure=unsure
            ) from None
        if origin(target) != origin(self._base) or target.userinfo:
            where = f"{target.scheme}://{target.host}"
            raise HttpError(
                f"{self._what}: a redirect to {one_line(where, self._call.secrets)}, which is"
                " another server; it is not followed. Set the base URL if it is the right one",
                unsure=unsure,
            )
        if self._call.method not in ("GET", "HEAD") and response.status not in _SAME_METHOD:
            moved = "the answer is at" if unsure else "it has moved to"
            hint = "" if unsure else "; use that"
            raise HttpError(f"{self._what}: {moved} {shown(target)}{hint}", unsure=unsure)
        return target

    async def _once(self, client: httpx2.AsyncClient, url: httpx2.URL) -> Response:
        call = self._call
        request = client.build_request(call.method, url, headers=call.headers, content=call.content)
        try:
            response = await client.send(request, stream=True, follow_redirects=False)
            try:
                return await self._read(response)
            finally:
                await response.aclose()
        except httpx2.TransportError as error:
            raise self._no_answer(error) from None
        except UnicodeError:  # the host of the base URL has been checked
            raise HttpError(f"{self._what}: {_BAD_PROXY}") from None

    async def _read(self, response: httpx2.Response) -> Response:
        headers = {
            name.lower(): masked(value, self._call.secrets)
            for name, value in response.headers.items()
        }
        encoding = headers.get("content-encoding", "identity").lower()
        is_failure = not response.is_success
        if encoding != "identity" and not is_failure:
            raise HttpError(
                f"{self._what}: the answer is in {one_line(encoding)}, unasked", unsure=True
            )
        most = min(_MOST_OF_FAILURE, self._limits.body) if is_failure else self._limits.body
        body = bytearray()
        # Left by a cancel, since the library's generators do not close each other on a break.
        with trio.CancelScope() as scope:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > most:
                    scope.cancel()
        if len(body) > most and not is_failure:
            raise TooLarge(f"{self._what}: the answer exceeds {most} bytes", unsure=True)
        return Response(response.status_code, headers, bytes(body[:most]), shown(self._call.url))

    def _no_answer(self, error: httpx2.TransportError) -> HttpError:
        cause = _root(error)
        text = one_line(str(cause), self._call.secrets) or type(cause).__name__
        if isinstance(cause, ssl.SSLCertVerificationError):
            return HttpError(
                f"{self._what}: its certificate is not trusted: {cause.verify_message}"
            )
        if isinstance(error, httpx2.ProxyError):
            return _NoAnswer(f"{self._what}: the proxy does not let it through: {text}")
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return _NoAnswer(f"{self._what}: no connection: {text}")
        return _NoAnswer(f"{self._what}: the connection broke: {text}", unsure=True)


async def _watch(cancelled: Callable[[], bool], scope: trio.CancelScope) -> None:
    # The flag belongs to another thread, which cannot wake this one.
    while not cancelled():  # noqa: ASYNC110
        await trio.sleep(_POLL)
    scope.cancel()


def _root(error: BaseException) -> BaseException:
    """What an error began with; the library's own errors are often without a text."""
    cause = error.__cause__ or error.__context__
    if isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return error if cause is None else _root(cause)


def _body(value: object, form: Mapping[str, str] | None) -> tuple[dict[str, str], bytes | None]:
    if form is not None:
        kind, text = "application/x-www-form-urlencoded", urllib.parse.urlencode(form)
    elif value is not None:
        kind, text = "application/json", json_text.dumps(value)
    else:
        return {}, None
    return {"content-type": kind}, text.encode("ascii")


@functools.cache
def _tls(ca_file: str | None) -> ssl.SSLContext:
    """ca_file: "" for what the system trusts, None where there is no encryption."""
    if ca_file is None:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if not ca_file:
            return httpx2.create_ssl_context()
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        where = ca_file or "what SSL_CERT_FILE names, or SSLKEYLOGFILE cannot be written"
        raise HttpError(f"no certificates could be read from {where}: {error}") from None
