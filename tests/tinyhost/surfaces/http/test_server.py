"""The connections themselves: clients that stall, refuse to read, send junk, or are many."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost.surfaces import accepting
from tinyhost.surfaces.http.connection import Patience
from tinyhost.surfaces.http.server import HttpServer, most_clients

GET = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
BOTH = b"Content-Length: 5\r\n" + CHUNKED + b"\r\n"
LAST = b"GET /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the body it got; /host with the Host header instead, /never is not answered, /wait not while the client is
    there, /flood never ends, /raise raises, /twice answers again."""
    body, more = b"", scope["method"] == "POST" and scope["path"] != "/refuse"
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if scope["path"] == "/host":
        body = dict(scope["headers"])[b"host"]
    if scope["path"] == "/never":
        await trio.sleep_forever()
    if scope["path"] == "/wait":
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    if scope["path"] == "/raise":
        raise RuntimeError("on purpose")
    status = 413 if scope["path"] == "/refuse" else 200
    headers = [(b"content-length", b"%d" % len(body))] if scope["path"] == "/length" else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    while scope["path"] == "/flood":
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
    if scope["path"] == "/half":
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("on purpose")
    await send({"type": "http.response.body", "body": scope["path"].encode() + b" " + body})
    if scope["path"] == "/twice":
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"again"})


@asynccontextmanager
async def server(most: int | None = 256, **patience: float) -> AsyncIterator[Any]:
    """A server of that app, and a function that connects to it."""
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    running = HttpServer(listener, app, Patience(**patience), most)

    async def connect(data: bytes = b"") -> trio.SocketStream:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(data)
        return stream

    running.connect, running.port = connect, port  # type: ignore[attr-defined]
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            await nursery.start(running.run)
            yield running
            nursery.cancel_scope.cancel()


async def rest(stream: trio.SocketStream) -> bytes:
    """What comes until the server closes."""
    async with stream:
        return b"".join([part async for part in stream])


async def test_requests_of_one_connection_are_answered_in_turn() -> None:
    async with server() as running:
        stream = await running.connect(GET % b"one" + GET % b"two" + LAST % b"three")
        text = await rest(stream)
    assert [text.count(path) for path in (b"/one ", b"/two ", b"/three ")] == [1, 1, 1]


async def test_an_app_that_answers_twice_does_not_harm_the_next_request() -> None:
    async with server() as running:
        text = await rest(await running.connect(GET % b"twice" + LAST % b"next"))
    assert (text.count(b" 200 "), text.count(b" 500 ")) == (2, 0)
    assert b"/next " in text
    assert b"again" not in text


async def test_a_client_that_asks_before_it_sends_is_told_to_go_ahead() -> None:
    async with server() as running:
        head = b"POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
        stream = await running.connect(head + b"Connection: close\r\n\r\n")
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 100 ")
        await stream.send_all(b"hi")
        assert b"/x hi" in await rest(stream)


async def test_a_client_reads_its_refusal_though_it_still_sends() -> None:
    async with server() as running:
        head = b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n"
        stream = await running.connect(head)
        for _ in range(100):
            await stream.send_all(b"x" * 100_000)
        answer = await stream.receive_some()
        await stream.aclose()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()


async def test_a_small_body_that_nobody_wanted_does_not_end_the_connection() -> None:
    async with server() as running:
        head = b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
        stream = await running.connect(head)
        answer = await stream.receive_some()
        await stream.send_all(b"hello" + LAST % b"next")
        text = answer + await rest(stream)
    assert text.count(b"HTTP/1.1") == 2
    assert b"/next" in text


async def test_a_client_that_sends_no_request_is_let_go() -> None:
    async with server(idle=0.05) as running:
        for data in (b"", b"GET / HTTP/1.1\r\nHost:"):
            assert await rest(await running.connect(data)) == b""
    assert running.clients == 0


async def test_a_client_whose_body_does_not_come_is_told_so_and_let_go() -> None:
    async with server(body=0.05, linger=0.05) as running:
        head = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"
        answer = await rest(await running.connect(head))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()
    assert answer.endswith(b'{"type":"RequestTimeout"}}')


@pytest.mark.parametrize("body", [b"zz\r\n", b"2\r\nxx?", b"2\r\nxxxx\r\n0\r\n\r\n"])
async def test_a_client_whose_body_is_not_cut_right_is_told_so(body: bytes) -> None:
    async with server() as running:
        head = b"POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        stream = await running.connect(head + body)
        await stream.send_eof()
        answer = await rest(stream)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"\r\n\r\n") == 1


async def test_what_a_request_to_a_proxy_names_counts_before_its_host() -> None:
    async with server() as running:
        head = b"GET HTTP://%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answers = [
            await rest(await running.connect(head % target))
            for target in (b"y:1/host?a", b"y:1", b"y:1?a=/b")
        ]
    assert [answer.rpartition(b"\r\n0")[0].rpartition(b"\r\n")[2] for answer in answers] == [
        b"/host y:1",
        b"/ ",
        b"/ ",
    ]


async def test_every_answer_has_a_date() -> None:
    async with server() as running:
        for data in (LAST % b"x", LAST % b"raise", b"junk\r\n\r\n"):
            stream = await running.connect(data)
            await stream.send_eof()
            head = (await rest(stream)).partition(b"\r\n\r\n")[0]
            date = re.findall(rb"^date: (.*) GMT\r?$", head, re.MULTILINE | re.IGNORECASE)
            assert len(date) == 1, head


async def test_a_client_that_reads_nothing_is_let_go() -> None:
    async with server(take=0.1) as running:
        stream = await running.connect(GET % b"flood")
        while running.clients == 0:
            await trio.lowlevel.checkpoint()
        while running.clients:
            await trio.sleep(0.01)
        await stream.aclose()


async def test_a_client_that_reads_nothing_does_not_hold_a_stop_up() -> None:
    async with server() as running:
        stream = await running.connect(GET % b"flood")
        await stream.receive_some(1)
    await stream.aclose()


@pytest.mark.parametrize("path", [b"wait", b"flood", b"x"])
async def test_a_client_that_breaks_off_is_nothing_to_be_logged(
    path: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with server() as running:
        stream = await running.connect(GET % path)
        if path != b"wait":
            await stream.receive_some(1)
        while running.clients == 0:
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked(0.01)
        reset = struct.pack("ii", 1, 0)  # closing sends a reset
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        await stream.aclose()
        while running.clients:
            await trio.sleep(0.01)
    assert caplog.records == []


async def test_an_answer_that_fails_is_an_error_and_not_a_text_cut_short(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with server() as running:
        failed = await rest(await running.connect(LAST % b"raise"))
        half = await rest(await running.connect(GET % b"half"))
    assert failed.startswith(b"HTTP/1.1 500 ")
    assert b'"error"' in failed
    assert b"on purpose" not in failed
    assert half.endswith(b"half\r\n")  # without the last chunk, so it is seen to be cut
    assert caplog.text.count("on purpose") >= 2


@pytest.mark.parametrize(
    ("junk", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000, b"431"),
        # These may come in one piece, with their ends.
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 33_000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"x" * 33_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"431"),
        (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", b"505"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", b"501"),
        # Two readers may find different ends of these, and so two different next requests.
        (b"POST / HTTP/1.1\r\nHost: x\r\n" + BOTH + b"0\r\n\r\n" + GET % b"next", b"400"),
        (b"POST / HTTP/1.0\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + GET % b"next", b"400"),
    ],
)
async def test_what_is_no_request_is_refused(junk: bytes, status: bytes) -> None:
    async with server() as running:
        stream = await running.connect(junk)
        await stream.send_eof()
        answer = await rest(stream)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert answer.count(b"\r\n\r\n") == 1
    assert set(json.loads(answer.partition(b"\r\n\r\n")[2])) == {"error", "detail"}
    assert b"connection: close" in answer.lower()


async def test_a_crowd_makes_room_by_closing_who_is_idle(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with server(most=2) as running:
        busy = await running.connect(GET % b"never")
        idle = await running.connect(GET % b"x")
        assert (await idle.receive_some()).startswith(b"HTTP/1.1 200 ")
        newcomer = await running.connect(GET % b"never")
        await rest(idle)
        for _ in range(3):
            assert await rest(await running.connect()) == b""
        for stream in (busy, newcomer):
            await stream.aclose()
    assert caplog.text.count("others are turned away") == 1  # so that the log is not filled


async def test_clients_never_have_more_than_a_share_of_the_descriptors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = {64: 16, 8: 4, 100_000: 256, resource.RLIM_INFINITY: 256}
    for limit, most in limits.items():
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert most_clients() == most
    monkeypatch.setattr(resource, "getrlimit", lambda _: (8, 8))
    async with server(most=None) as running:
        crowd = [await running.connect() for _ in range(5)]
        assert await rest(crowd[0]) == b""
        await crowd[-1].send_all(GET % b"last")
        assert (await crowd[-1].receive_some()).startswith(b"HTTP/1.1 200")
        for client in crowd[1:]:
            await client.aclose()


async def test_clients_are_served_when_descriptors_are_back_and_their_lack_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(accepting, "_PATIENCE", 0.001)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with server() as running:
        with socket.socket() as ours:
            in_use = [int(fd.name) for fd in Path("/proc/self/fd").iterdir()]
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(in_use) + 1, limits[1]))
            spare: list[int] = []
            try:
                with contextlib.suppress(OSError):
                    while True:
                        spare.append(os.dup(0))
                ours.connect(("127.0.0.1", running.port))
                ours.sendall(GET % b"x")
                with trio.fail_after(10):
                    while "no client can be taken" not in caplog.text:
                        await trio.sleep(0.001)
                await trio.sleep(0.02)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                for fd in spare:
                    os.close(fd)
            answer = await trio.to_thread.run_sync(ours.recv, 100)
    assert answer.startswith(b"HTTP/1.1 200")
    assert caplog.text.count("no client can be taken") == 1


async def test_a_drained_server_answers_what_was_asked_and_takes_no_more() -> None:
    async with server() as running:
        idle = await running.connect(GET % b"x")
        assert (await idle.receive_some()).endswith(b"0\r\n\r\n")
        half = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
        asking = await running.connect(half)
        while running.clients < 2:
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(running.drain)
            assert await rest(idle) == b""
            await asking.send_all(b"hi")
            answer = await rest(asking)
        with pytest.raises(OSError, match="all attempts to connect"):
            await running.connect()
    assert b"/x hi" in answer
    assert b"connection: close" in answer.lower()


@settings(max_examples=30)
@given(st.binary(max_size=300), st.integers(0, 300))
def test_no_bytes_whatever_break_the_server(junk: bytes, cut: int) -> None:
    async def main() -> None:
        async with server() as running:
            async with await running.connect(junk[:cut]) as stream:
                with contextlib.suppress(trio.BrokenResourceError):
                    await stream.send_all(junk[cut:])
                    await stream.send_eof()
                    await rest(stream)
            async with await running.connect(GET % b"x") as fine:
                assert (await fine.receive_some()).startswith(b"HTTP/1.1 200 ")

    trio.run(main)
