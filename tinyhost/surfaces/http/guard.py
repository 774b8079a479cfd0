"""What every request passes before anything of the host is reached.

Order: kind, Host, Origin. The token is checked where it is needed, by `require_token`; only
files of the page and what says nothing go without.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import TinyhostError
from .access import host_allowed, host_name
from .answers import Refused, answer_of

BODY_MAX = 10 * 1024 * 1024  # bytes

_PAGE_POLICY = (
    b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    b" form-action 'none'; frame-ancestors 'none';"
    # The page makes nothing out of text but text, and the browser sees to that.
    b" require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", _PAGE_POLICY),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


_OTHER_NAME = (
    "this server does not go by the name in the Host header; for another name, as behind a proxy,"
    " start it with: tinyhost serve --http --http-name NAME"
)
_OTHER_ORIGIN = (
    "pages of other origins may not use this server; if this is its own page behind a proxy, the"
    " proxy has to pass the Host header on as it came, and --http-name has to name it"
)


class Guard:
    """bound: the host that the server listens at. names: further names that it goes by, as
    `parse_name` gives them.
    """

    def __init__(
        self, app: ASGIApp, bound: str, names: Collection[str] = (), body_max: int = BODY_MAX
    ) -> None:
        self._app, self._bound, self._body_max = app, bound, body_max
        self._names = frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        marked = _Marked(send)
        try:
            self._check(Headers(scope=scope))
            await self._app(scope, self._limited(receive), marked)
        except TinyhostError as error:
            if marked.begun:
                raise
            await answer_of(error)(scope, receive, marked)

    def _check(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not host_allowed(hosts[0], self._bound, self._names):
            raise Refused(421, _OTHER_NAME)
        for origin in headers.getlist("origin"):
            if not self._is_own(origin.lower(), hosts[0].lower()):
                raise Refused(403, _OTHER_ORIGIN)
        length = headers.get("content-length", "0")
        if len(length) > 18 or int(length) > self._body_max:
            raise self._too_large()

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether a page has the server's own origin.

        Nothing here is encrypted, but a further name may be that of a proxy with TLS.
        """
        behind_tls = host_name(host) in self._names
        return origin == f"http://{host}" or (behind_tls and origin == f"https://{host}")

    def _limited(self, receive: Receive) -> Receive:
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._body_max:
                raise self._too_large()
            return message

        return limited

    def _too_large(self) -> Refused:
        return Refused(413, f"the body is larger than {self._body_max} bytes")


class _Marked:
    """Sends an answer with the headers that all have, and knows whether one has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            given = list(message.get("headers", ()))
            names = {bytes(name).lower() for name, _ in given}
            missing = [(name, value) for name, value in _HEADERS if name not in names]
            message = {**message, "headers": [*given, *missing]}
        await self._send(message)


def require_token(scope: Scope, token: str) -> None:
    """Raises Refused for a request without the token."""
    scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
    right = secrets.compare_digest(given.strip().encode(), token.encode())
    if scheme.lower() != "bearer" or not right:
        raise Refused(
            401,
            "this needs the header Authorization: Bearer TOKEN; the token's file is shown by:"
            " tinyhost status",
            www_authenticate="Bearer",
        )


def guarded(app: ASGIApp, token: str) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """An app that only those who have the token reach."""

    async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
        require_token(scope, token)
        await app(scope, receive, send)

    return with_token
