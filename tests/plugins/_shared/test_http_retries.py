"""The HTTP client against servers on this machine: what is tried again, and after which time."""

from __future__ import annotations

import datetime
import email.utils
import socket
import time

import pytest

from tinyhost_plugins._shared.http import (
    Client,
    HttpError,
    RateLimited,
    StatusError,
)
from tinyhost_plugins._shared.http_answers import Response, asked_pause, refusal

from .conftest import QUICK, Reply, Serve, client, fails

# --- what is tried again


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_get_is_tried_again_while_a_server_is_unavailable(serve: Serve, status: int) -> None:
    server = serve(Reply(status), Reply(status), Reply(body=b"1"))
    assert client(server).get("/x").json() == 1
    failing = serve(Reply(status))
    assert f"HTTP {status}" in str(fails(failing))
    assert (len(server.requests), len(failing.requests)) == (3, 3)


@pytest.mark.parametrize("reply", [Reply(502), Reply(503, {"Retry-After": "0"}), None])
def test_a_post_that_may_have_been_carried_out_is_not_sent_again(
    serve: Serve, reply: Reply | None
) -> None:
    server = serve(reply)
    fails(server, "POST")
    assert len(server.requests) == 1


def test_unless_the_caller_says_that_it_may_be(serve: Serve) -> None:
    server = serve(None, Reply(502), Reply())
    assert client(server).request("PATCH", "/x", json={}, repeatable=True).status == 200
    assert [request.body for request in server.requests] == [b"{}"] * 3


def test_a_broken_connection_is_tried_again_for_a_get(serve: Serve) -> None:
    server = serve(None, Reply(body=b"1"))
    assert client(server).get("/x").json() == 1
    error = fails(serve(None))
    assert "the connection broke" in str(error)


def test_what_was_never_sent_is_tried_again_and_told_as_such() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(HttpError, match=f"POST http://127.0.0.1:{port}/x: no connection"):
        Client(f"http://127.0.0.1:{port}", limits=QUICK).request("POST", "/x", json=1)


@pytest.mark.parametrize("status", [400, 404, 422, 500, 501])
def test_other_failures_are_final(serve: Serve, status: int) -> None:
    server = serve(Reply(status, body=b'{"message": "so it is"}'))
    error = fails(server)
    assert isinstance(error, StatusError)
    assert (error.status, error.problem, len(server.requests)) == (status, "so it is", 1)


def test_a_refused_post_is_sent_again_after_the_time_that_the_server_asks_for(
    serve: Serve,
) -> None:
    server = serve(Reply(429, {"Retry-After": "1"}), Reply(201))
    begun = time.monotonic()
    assert client(server).request("POST", "/x", json={}).status == 201
    assert time.monotonic() - begun >= 1
    assert len(server.requests) == 2


def test_a_wait_longer_than_the_time_left_is_told_at_once(serve: Serve) -> None:
    server = serve(Reply(429, {"Retry-After": "3600"}, b'{"message": "slow down"}'))
    error = fails(server)
    assert isinstance(error, RateLimited)
    assert error.seconds == 3600
    assert "HTTP 429 Too Many Requests: slow down; there were too many requests" in str(error)
    assert str(error).endswith("asks to wait 3600 s")
    assert len(server.requests) == 1


NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
DATE = email.utils.format_datetime(NOW, usegmt=True)
LATER = email.utils.format_datetime(NOW + datetime.timedelta(seconds=90), usegmt=True)
EPOCH = int(NOW.timestamp())


@pytest.mark.parametrize(
    ("status", "headers", "is_limit", "seconds"),
    [
        (429, {}, True, None),
        (429, {"retry-after": "7"}, True, 7),
        (429, {"retry-after": "soon"}, True, None),
        (429, {"retry-after": "-5"}, True, None),
        (429, {"retry-after": "9" * 400}, True, 999999999),
        (429, {"retry-after": LATER, "date": DATE}, True, 90),
        (429, {"retry-after": DATE, "date": LATER}, True, 0),
        (429, {"ratelimit-reset": str(EPOCH + 30), "date": DATE}, True, 30),
        (429, {"ratelimit-reset": "12"}, True, 12),
        (
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 60), "date": DATE},
            True,
            60,
        ),
        (403, {"retry-after": "60"}, True, 60),
        (403, {"x-ratelimit-remaining": "4999", "x-ratelimit-reset": "1"}, False, None),
        (403, {}, False, None),
        (503, {"retry-after": "5"}, False, 5),
        (404, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, False, None),
    ],
)
def test_the_ways_to_say_too_many_requests(
    status: int, headers: dict[str, str], is_limit: bool, seconds: float | None
) -> None:
    response = Response(status, headers, b"")
    assert isinstance(refusal("GET x", response, ()), RateLimited) is is_limit
    assert asked_pause(response) == seconds
