"""One MCP server's address: sending a request there, and reading what comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import attrs
import httpx2
import trio

JSON = "application/json"
EVENTS = "text/event-stream"
_MAX_REDIRECTS = 3


@attrs.define
class Endpoint:
    """Where the server is. url moves with redirects on the same host."""

    client: httpx2.AsyncClient
    url: httpx2.URL
    headers: Mapping[str, str]

    @property
    def shown(self) -> str:
        """The address for people, without what may be secret in it."""
        return str(self.url.copy_with(query=None, fragment=None, username="", password=""))

    @asynccontextmanager
    async def stream(
        self, method: str, content: bytes | None, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request, with the configured headers under those given, which win."""
        sent = {**self.headers, **headers}
        for _ in range(_MAX_REDIRECTS + 1):
            async with self.client.stream(
                method, self.url, content=content, headers=sent
            ) as response:
                target = self._redirected(response)
                if target is None:
                    yield response
                    return
            self.url = target
        raise ValueError(f"it redirects more than {_MAX_REDIRECTS} times")

    def _redirected(self, response: httpx2.Response) -> httpx2.URL | None:
        """Where a redirect leads that may be followed: never to somebody else."""
        location = response.headers.get("location")
        if response.status_code not in (307, 308) or location is None:
            return None
        target = self.url.join(location)
        if (target.scheme, target.host, target.port) != (
            self.url.scheme,
            self.url.host,
            self.url.port,
        ):
            raise ValueError(
                f"it redirects to {target.scheme}://{target.host}, which is not followed: what is"
                " sent to one server is not sent to another; if that is the right one, put its"
                " address into the configuration"
            )
        return target


def content_type(response: httpx2.Response) -> str:
    value: str = response.headers.get("content-type", "")
    return value.partition(";")[0].strip().lower()


async def consume(response: httpx2.Response, take: Callable[[bytes], bool]) -> None:
    """Give the body to `take` piece by piece, until it says that it has enough.

    The body may not be packed: a few bytes could become any number of them. Raises ValueError,
    and what `take` raises.
    """
    encoding = response.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise ValueError(
            f"its answer is packed, as {encoding[:40]!r}, which it was asked not to do"
        )
    failure: Exception | None = None
    # A loop that is left leaves generators of the library behind, for the garbage collector to
    # find; one that is cancelled ends them.
    with trio.CancelScope() as scope:
        async for piece in response.aiter_raw():
            if scope.cancel_called:
                continue
            try:
                enough = take(piece)
            except Exception as error:
                failure, enough = error, True
            if enough:
                scope.cancel()
    if failure is not None:
        raise failure


async def read(response: httpx2.Response, limit: int, *, or_less: bool = False) -> bytes:
    """The whole body. Raises ValueError for one that is too long, or takes its beginning."""
    pieces: list[bytes] = []

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        return sum(map(len, pieces)) > limit

    await consume(response, take)
    body = b"".join(pieces)
    if len(body) > limit and not or_less:
        raise ValueError(f"its answer is longer than {limit} bytes (maxLineBytes)")
    return body[:limit]
