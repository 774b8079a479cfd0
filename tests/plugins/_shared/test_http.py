"""The HTTP client against servers on this machine: what is sent, what bounds there are, and what
errors say."""

from __future__ import annotations

import json
import re
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins._shared.http import (
    Cancelled,
    Client,
    HttpError,
    Limits,
    path,
)
from tinyhost_plugins._shared.http_answers import one_line

from .conftest import QUICK, TOKEN, Reply, Serve, client, fails, to_json

# --- what is sent


def test_a_get_sends_query_and_credentials_and_gives_the_json(serve: Serve) -> None:
    server = serve(Reply(body=b'[1, "\xc3\xa9"]', headers={"X-Next": "2"}))
    answer = client(server, headers={"Accept": "text/x"}).get("/a", {"q": "a&b=c d", "page": 2})
    (request,) = server.requests
    assert request.path == "/a?q=a%26b%3Dc+d&page=2"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["accept-encoding"] == "identity"
    assert "content-type" not in request.headers
    assert (answer.json(), answer.headers["x-next"], answer.status) == ([1, "é"], "2", 200)


def test_a_query_is_added_to_one_that_the_path_has(serve: Serve) -> None:
    server = serve()
    client(server).get("/a?format=txt", {"b": 1})
    client(server).get("/a", {})
    assert [request.path for request in server.requests] == ["/a?format=txt&b=1", "/a"]


def test_a_form_and_a_json_body_are_sent_as_such(serve: Serve) -> None:
    server = serve()
    client(server).request("POST", "/token", form={"grant_type": "refresh_token", "x": "a b&c"})
    client(server).request("PATCH", "/y", json={"name": "é"})
    form, value = server.requests
    assert form.headers["content-type"] == "application/x-www-form-urlencoded"
    assert form.body == b"grant_type=refresh_token&x=a+b%26c"
    assert (value.method, value.headers["content-type"]) == ("PATCH", "application/json")
    assert json.loads(value.body) == {"name": "é"}


def test_a_path_keeps_what_is_escaped_in_it(serve: Serve) -> None:
    server = serve()
    client(server).get(path("projects", "group/sub/repo", 7, "a?b#c %2F"))
    assert server.requests[0].path == "/projects/group%2Fsub%2Frepo/7/a%3Fb%23c%20%252F"


@pytest.mark.parametrize("segment", ["", ".", "..", "a\nb", "a\x00", "\ud800"])
def test_a_segment_that_would_change_the_path_is_refused(segment: str) -> None:
    with pytest.raises(ValueError, match="cannot be a part of a path"):
        path("repos", segment)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_no_segment_gets_out_of_its_place(segments: list[str]) -> None:
    try:
        made = path(*segments)
    except ValueError:
        return
    assert made.count("/") == len(segments)
    assert not set(made) & set("?#\\ \n")
    assert not {"", ".", ".."} & set(made[1:].split("/"))


def test_the_path_of_the_base_is_kept_without_a_double_slash(serve: Serve) -> None:
    server = serve()
    Client(server.url + "/api/v1//", limits=QUICK).get("/repos")
    assert server.requests[0].path == "/api/v1/repos"


def test_a_query_that_is_no_text_is_refused(serve: Serve) -> None:
    with pytest.raises(HttpError, match="the query is too long or no text"):
        client(serve()).get("/a", {"q": "\ud800"})


# --- bounds


def test_an_answer_over_the_limit_is_refused(serve: Serve) -> None:
    limits = Limits(body=100, seconds=20)
    assert client(serve(Reply(body=b"1" * 100)), limits=limits).get("/x").body == b"1" * 100
    assert "the answer exceeds 100 bytes" in str(
        fails(serve(Reply(body=b"1" * 101)), limits=limits)
    )


def test_of_a_failure_only_the_beginning_is_read(serve: Serve) -> None:
    error = fails(serve(Reply(400, body=b'{"message": "' + b"x" * 10_000_000 + b'"}')))
    assert "HTTP 400 Bad Request" in str(error)
    assert len(str(error)) < 200


def test_a_packed_answer_is_refused_since_nobody_asked_for_it(serve: Serve) -> None:
    assert "the answer is in gzip, unasked" in str(
        fails(serve(Reply(headers={"Content-Encoding": "gzip"})))
    )


def test_a_server_that_says_nothing_is_left_at_the_deadline(serve: Serve) -> None:
    error = fails(serve(Reply(wait=60)), limits=Limits(seconds=0.3))
    # What is left when the request begins is shown, which may be a little less.
    assert re.search(r"no answer within 0(\.\d+)? s$", str(error))


def test_a_server_that_trickles_is_left_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = threading.Event()

        def trickle() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not done.wait(0.01):
                    try:
                        connection.sendall(b"y")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            with pytest.raises(HttpError, match="no answer within"):
                Client(
                    f"http://127.0.0.1:{listener.getsockname()[1]}", limits=Limits(seconds=0.3)
                ).get("/x")
        finally:
            done.set()
            thread.join()


def test_a_call_that_was_given_up_sends_nothing(serve: Serve) -> None:
    server = serve()
    assert isinstance(fails(server, cancelled=lambda: True), Cancelled)
    assert server.requests == []


def test_a_call_that_is_given_up_while_it_waits_ends(serve: Serve) -> None:
    server = serve(Reply(wait=60))
    assert isinstance(fails(server, cancelled=lambda: bool(server.requests)), Cancelled)
    waiting = serve(Reply(429, {"Retry-After": "300"}))
    limits = Limits(seconds=600)
    error = fails(waiting, limits=limits, cancelled=lambda: bool(waiting.requests))
    assert isinstance(error, Cancelled)


def test_a_deadline_holds_for_all_requests_of_a_client(serve: Serve) -> None:
    server = serve(Reply(wait=60))
    caller = client(server, deadline=time.monotonic() + 0.4)
    with pytest.raises(HttpError, match="no answer within 0"):
        caller.get("/x")
    with pytest.raises(HttpError, match="no answer within 0 s"):
        caller.get("/x")
    assert len(server.requests) <= 1


@pytest.mark.parametrize(
    ("reply", "unsure"),
    [(Reply(500), True), (Reply(429), False), (Reply(422), False), (None, True)],
)
def test_an_error_says_whether_the_request_may_have_been_carried_out(
    serve: Serve, reply: Reply | None, unsure: bool
) -> None:
    assert fails(serve(reply), "POST").unsure is unsure


# --- what errors say


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (to_json({"message": "Not Found"}), "Not Found"),
        (
            to_json({"message": "Validation Failed", "errors": [{"field": "title", "code": "x"}]}),
            "Validation Failed; field: title; code: x",
        ),
        (to_json({"message": {"title": ["can't be blank"]}}), "title: can't be blank"),
        (
            to_json({"error": "invalid_grant", "error_description": "Session not active"}),
            "Session not active; invalid_grant",
        ),
        (to_json({"detail": "a\nb\x1b[31m"}), "a b [31m"),
        (to_json({"message": f"bad token {TOKEN}"}), "bad token [secret]"),
        (to_json({"message": "x" * 500}), "x" * 299 + "…"),
        (to_json(["message"]), ""),
        (to_json({"message": 5}), ""),
        (b"<html>Bad gateway</html>", ""),
        (b"[" * 60_000, ""),
        (b"\xff\xfe", ""),
    ],
)
def test_the_servers_own_words_are_one_short_line_without_credentials(
    serve: Serve, body: bytes, text: str
) -> None:
    server = serve(Reply(400, body=body))
    error = fails(server)
    assert str(error) == f"GET {server.url}/x: HTTP 400 Bad Request" + (f": {text}" if text else "")


def test_what_a_form_holds_is_not_shown_either(serve: Serve) -> None:
    server = serve(Reply(400, body=to_json({"error": f"no such token: {TOKEN}"})))
    with pytest.raises(HttpError) as caught:
        Client(server.url, limits=QUICK).request("POST", "/t", form={"refresh_token": TOKEN})
    assert str(caught.value).endswith("no such token: [secret]")


def test_an_answer_that_is_not_json_says_what_it_is(serve: Serve) -> None:
    server = serve(Reply(body=b"<html>", headers={"Content-Type": "text/html"}))
    with pytest.raises(HttpError) as caught:
        client(server).get("/x", {"secret": TOKEN}).json()
    text = f"{server.url}/x answered with 6 bytes (text/html) that are not JSON"
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>", headers={"Content-Type": f"text/{TOKEN}"}),
        Reply(body=b"{}", headers={"Content-Encoding": TOKEN}),
        Reply(302, {"Location": f"https://{TOKEN}.example/"}),
        Reply(302, {"Location": f"/x/{TOKEN}"}),
    ],
)
def test_credentials_that_a_server_repeats_in_a_header_are_not_shown(
    serve: Serve, reply: Reply
) -> None:
    with pytest.raises(HttpError) as caught:
        client(serve(reply)).get("/x").json()
    assert TOKEN.lower() not in str(caught.value).lower()


@given(st.text())
def test_one_line_is_printable_and_short(text: str) -> None:
    line = one_line(text, ("abcdef",))
    assert line.isprintable()
    assert len(line) <= 300
    assert "abcdef" not in line
