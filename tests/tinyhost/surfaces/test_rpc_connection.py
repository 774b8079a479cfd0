"""One client's connection, over a real pair of sockets."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost.errors import (
    ConfigError,
    InvalidCall,
    NotLoaded,
    PluginDied,
    PluginNotFound,
    TinyhostError,
    ToolNotFound,
)
from tinyhost.surfaces import rpc_connection
from tinyhost.surfaces.rpc_connection import ClientGone, ClientRefused, Handler, RpcConnection

from .conftest import Rpc

Params = Mapping[str, Any]


async def _echo(_: RpcConnection, params: Params) -> Any:
    return params


async def _sleep(_: RpcConnection, _params: Params) -> Any:
    await trio.sleep_forever()


@asynccontextmanager
async def pair(
    methods: Mapping[str, Handler] | None = None,
) -> AsyncIterator[tuple[Rpc, RpcConnection, trio.Nursery]]:
    """A client, the host's end, and the nursery that this is served in."""
    ours, theirs = socket.socketpair()
    connection = RpcConnection(
        trio.SocketStream(trio.socket.from_stdlib_socket(theirs)),
        {"echo": _echo, "sleep": _sleep, **(methods or {})},
    )
    client = Rpc(trio.SocketStream(trio.socket.from_stdlib_socket(ours)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.serve)
        async with client.stream:
            yield client, connection, nursery


async def test_a_slow_request_holds_up_no_other() -> None:
    async with pair() as (client, _, _):
        await client.start("sleep")
        assert await client.call("echo", text="é\u2028") == {"text": "é\u2028"}


async def test_a_request_without_params_gets_an_empty_object() -> None:
    async with pair() as (client, _, _):
        await client.send({"jsonrpc": "2.0", "id": "a", "method": "echo"})
        assert (await client.answer("a"))["result"] == {}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ToolNotFound("t", []), -32000),
        (PluginNotFound("p"), -32000),
        (PluginDied("p", "it died"), -32000),
        (NotLoaded(["p"]), -32004),
        (ConfigError("bad"), -32003),
        (InvalidCall("wrong"), -32602),
        (TinyhostError("other"), -32000),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_an_error_is_told_with_its_code_type_and_text(error: Exception, code: int) -> None:
    async def fail(_: RpcConnection, _params: Params) -> Any:
        raise error

    async with pair({"fail": fail}) as (client, _, _):
        told = await client.error("fail")
    assert (told["code"], told["message"]) == (code, str(error))
    assert told["data"]["type"] == type(error).__name__


async def test_a_fault_of_our_own_is_logged_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(_: RpcConnection, _params: Params) -> Any:
        raise RuntimeError("something inner")

    async with pair({"fail": fail}) as (client, _, _):
        told = await client.error("fail")
        assert await client.call("echo") == {}
    assert told["code"] == -32603
    assert "inner" not in json.dumps(told)
    assert "something inner" in caplog.text


async def test_a_result_that_is_no_json_is_a_fault_and_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def wrong(_: RpcConnection, _params: Params) -> Any:
        return {"number": float("nan")}

    async with pair({"wrong": wrong}) as (client, _, _):
        assert (await client.error("wrong"))["code"] == -32603
    assert "wrong" in caplog.text


async def test_a_result_too_long_for_a_line_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_connection, "MAX_LINE", 10_000)

    async def much(_: RpcConnection, params: Params) -> Any:
        return "x" * params["size"]

    async with pair({"much": much}) as (client, _, _):
        assert len(await client.call("much", size=8_000)) == 8_000
        assert "longer than 10000 bytes" in (await client.error("much", size=9_500))["message"]


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"nonsense\n", None, -32700),
        (b"[]\n", None, -32600),
        (b"17\n", None, -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":7}\n', 5, -32600),
        (b'{"id":6,"method":"echo"}\n', 6, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"echo"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"echo"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"echo"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":8,"method":"echo","params":3}\n', 8, -32602),
        (b'{"jsonrpc":"2.0","id":9,"method":"echo","params":[]}\n', 9, -32602),
        (b'{"jsonrpc":"2.0","id":10,"method":"none"}\n', 10, -32601),
        (b'{"jsonrpc":"2.0","id":11,"method":"echo","params":NaN}\n', 11, -32700),
        (b'{"jsonrpc":"2.0","id":12,"params":' + b"[" * 200 + b"]" * 200 + b"}\n", None, -32600),
        (b"\x00\xff\xfe\n", None, -32700),
    ],
)
async def test_a_bad_line_is_answered_and_the_next_is_read(
    line: bytes, id: int | None, code: int
) -> None:
    async with pair() as (client, _, _):
        await client.send(line)
        assert (await client.answer(id))["error"]["code"] == code
        assert await client.call("echo", a=1) == {"a": 1}


async def test_a_line_that_is_too_long_is_answered_once_and_the_next_is_read() -> None:
    async with pair() as (client, _, nursery):
        nursery.start_soon(
            client.send,
            b'{"jsonrpc":"2.0","id":77,"method":"echo","params":{"a":"',
            b"x" * (rpc_connection.MAX_LINE + 5),
            b'"}}\n',
            {"jsonrpc": "2.0", "id": 78, "method": "echo"},
        )
        answer = await client.answer(77)
        assert (answer["error"]["code"], (await client.answer(78))["result"]) == (-32600, {})
        assert client.answers[77] == []


async def test_an_id_in_use_is_refused_and_free_again_after_the_answer() -> None:
    async with pair() as (client, _, _):
        await client.send({"jsonrpc": "2.0", "id": 1, "method": "sleep"})
        await client.send({"jsonrpc": "2.0", "id": 1, "method": "echo"})
        assert "with this id" in (await client.answer(1))["error"]["message"]
        await client.send({"jsonrpc": "2.0", "id": "1", "method": "echo"})  # another id
        assert (await client.answer("1"))["result"] == {}
        await client.send(_cancel(1))
        assert (await client.answer(1))["error"]["code"] == -32800
        await client.send({"jsonrpc": "2.0", "id": 1, "method": "echo"})
        assert (await client.answer(1))["result"] == {}


def _cancel(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}


async def test_a_request_that_is_cancelled_in_the_same_breath_is_answered_as_cancelled() -> None:
    async with pair() as (client, _, _):
        request = {"jsonrpc": "2.0", "id": 4, "method": "sleep"}
        await client.send(request, _cancel(4))
        assert (await client.answer(4))["error"]["code"] == -32800


@pytest.mark.parametrize("id", [True, 1.0, "1", None, 2, [1], {}])
async def test_a_cancellation_of_anything_else_is_ignored(id: Any) -> None:
    async with pair() as (client, _, _):
        assert await client.start("sleep") == 1
        await client.send(_cancel(id), {"jsonrpc": "2.0", "method": "$/cancelRequest"})
        assert await client.call("echo") == {}
        assert 1 not in client.answers


async def test_the_end_of_the_connection_cancels_what_was_asked() -> None:
    ended = trio.Event()

    async def wait(_: RpcConnection, _params: Params) -> Any:
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    with trio.fail_after(10):
        async with pair({"wait": wait}) as (client, connection, _):
            await client.start("wait")
            await client.call("echo")
            await client.stream.aclose()
            await ended.wait()
            await connection.idle()


async def test_too_many_requests_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_connection, "_REQUESTS_AT_ONCE", 3)
    async with pair() as (client, _, _):
        for _ in range(3):
            await client.start("sleep")
        assert (await client.error("echo"))["code"] == -32001
        await client.send(_cancel(2))
        assert (await client.answer(2))["error"]["code"] == -32800
        assert await client.call("echo") == {}


async def test_what_was_asked_before_a_refusal_is_answered() -> None:
    go_on = trio.Event()

    async def wait(_: RpcConnection, _params: Params) -> Any:
        await go_on.wait()
        return "done"

    async with pair({"wait": wait}) as (client, connection, nursery):
        asked = await client.start("wait")
        await client.call("echo")
        connection.refuse("the host is stopping")
        told = await client.error("echo")
        assert (told["code"], told["message"]) == (-32001, "the host is stopping")
        idle = trio.Event()

        async def wait_idle() -> None:
            await connection.idle()
            idle.set()

        nursery.start_soon(wait_idle)
        await trio.testing.wait_all_tasks_blocked()
        assert not idle.is_set()
        go_on.set()
        assert (await client.answer(asked))["result"] == "done"
        await idle.wait()


# --- asking the client


async def _ask(connection: RpcConnection, params: Params) -> Any:
    try:
        return await connection.ask("question", params)
    except ClientRefused as error:
        return f"refused: {error}"


async def test_the_client_is_asked_and_its_answer_given() -> None:
    async with pair({"ask": _ask}) as (client, _, _):
        asked = await client.start("ask", text="why?")
        question = await client.request("question")
        assert question["params"] == {"text": "why?"}
        # An answer that nobody waits for harms nothing.
        for id in (question["id"] + 1, str(question["id"]), question["id"]):
            await client.send({"jsonrpc": "2.0", "id": id, "result": "because"})
        assert (await client.answer(asked))["result"] == "because"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"error": {"code": 1, "message": "no idea"}}, "no idea"),
        ({"error": {"code": 1, "message": "no"}, "result": 3}, "cannot be read"),
        ({"error": "no"}, "cannot be read"),
        ({}, "cannot be read"),
    ],
)
async def test_an_error_or_nonsense_from_the_client_is_a_refusal(
    answer: dict[str, Any], said: str
) -> None:
    async with pair({"ask": _ask}) as (client, _, _):
        asked = await client.start("ask")
        question = await client.request("question")
        await client.send({"jsonrpc": "2.0", "id": question["id"], **answer})
        assert said in (await client.answer(asked))["result"]


async def test_a_client_that_leaves_a_question_open_is_gone() -> None:
    found: list[Exception] = []

    async def ask(connection: RpcConnection, params: Params) -> Any:
        with trio.CancelScope(shield=True):
            try:
                await connection.ask("question", params)
            except ClientGone as error:
                found.append(error)

    async with pair({"ask": ask}) as (client, _, _):
        await client.start("ask")
        await client.request("question")
    assert len(found) == 1


async def test_a_question_that_nobody_waits_for_any_more_is_taken_back() -> None:
    async with pair({"ask": _ask}) as (client, _, _):
        asked = await client.start("ask")
        question = await client.request("question")
        await client.send(_cancel(asked))
        assert (await client.note("$/cancelRequest")) == {"id": question["id"]}
        assert (await client.answer(asked))["error"]["code"] == -32800


# --- clients that do not read


async def test_a_cancellation_does_not_cut_a_line_that_is_being_written() -> None:
    async with pair({"ask": _ask}) as (client, _, _):
        text = "x" * 4_000_000  # more than fits into the socket's buffers
        asked = await client.start("ask", text=text)
        await client.send(_cancel(asked))
        await client.start("echo")
        await trio.testing.wait_all_tasks_blocked()
        # All that comes is whole lines, the question that was taken back too.
        assert (await client.answer(asked))["error"]["code"] == -32800
        assert (await client.answer(2))["result"] == {}


@pytest.mark.parametrize(
    "line",
    [b"nonsense\n", b'{"jsonrpc":"2.0","id":1,"method":"sleep"}\n'],
    ids=["junk", "the same id again"],
)
async def test_a_flood_from_a_client_that_does_not_read_stops_being_read(line: bytes) -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    async with pair() as (client, connection, nursery):
        flood = trio.Event()

        async def send() -> None:
            for _ in range(400):
                await client.stream.send_all(line * 2000)
            flood.set()

        nursery.start_soon(send)
        await trio.testing.wait_all_tasks_blocked(0.1)
        assert not flood.is_set()
        assert trio.lowlevel.current_statistics().tasks_living - before < 10
        assert len(connection._out) < 10
        nursery.cancel_scope.cancel()


async def test_a_client_may_hang_up_in_the_midst_of_a_flood() -> None:
    with trio.fail_after(20):
        async with pair() as (client, _, nursery):
            with trio.move_on_after(0.2):
                while True:
                    await client.stream.send_all(b"nonsense\n" * 2000)
            await client.stream.aclose()
            del nursery


async def test_notifications_are_dropped_when_too_many_wait_and_come_before_the_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc_connection, "_NOTES_WAITING", 5)

    async def talk(connection: RpcConnection, _params: Params) -> Any:
        for number in range(8):
            connection.notify("note", str(number))
        return connection.dropped

    async with pair({"talk": talk}) as (client, _, _):
        assert await client.call("talk") == 3
        assert [note["params"] for note in client.notes] == [0, 1, 2, 3, 4]
        assert await client.call("talk") == 6  # there is room again


# --- anything at all

_JUNK = st.binary(max_size=40).filter(lambda data: b"\n" not in data)
_LINES = st.lists(st.one_of(st.just(None), _JUNK), max_size=12)


@settings(max_examples=60)
@given(_LINES, st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_each_request_is_answered_once_whatever_stands_between_and_however_it_is_cut(
    lines: list[bytes | None], cuts: list[int]
) -> None:
    requests = [index for index, line in enumerate(lines) if line is None]
    text = b"".join(
        b'{"jsonrpc":"2.0","id":"r%d","method":"echo"}\n' % index if line is None else line + b"\n"
        for index, line in enumerate(lines)
    )

    async def check() -> None:
        async with pair() as (client, _, _):
            left, turn = text, 0
            while left:
                size = cuts[turn % len(cuts)]
                await client.stream.send_all(left[:size])
                left, turn = left[size:], turn + 1
            assert await client.call("echo") == {}
            for index in requests:
                assert (await client.answer(f"r{index}"))["result"] == {}
            assert all(not more for id, more in client.answers.items() if isinstance(id, str))

    trio.run(check)
