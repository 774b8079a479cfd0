"""The HTTP client against servers on this machine: who gets credentials, what is tried again,
and what bounds there are."""

from __future__ import annotations

import datetime
import email.utils
import json
import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from local_server import LocalServer, QuietHandler, running

from tinyhost_plugins._shared.http import (
    Cancelled,
    Client,
    HttpError,
    Limits,
    RateLimited,
    StatusError,
    _tls,
    check_base,
    path,
)
from tinyhost_plugins._shared.http_answers import Response, asked_pause, one_line, refusal

TOKEN = "s3cret-t0ken-value"
QUICK = Limits(seconds=20, pause=0.001)


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Reply(NamedTuple):
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012
    body: bytes = b"{}"
    wait: float = 0.0


class Server(LocalServer):
    """Answers with its replies in turn, the last one again and again; None breaks a connection."""

    def __init__(self, *replies: Reply | None) -> None:
        super().__init__(Handler)
        self.replies = list(replies) or [Reply()]
        self.requests: list[Request] = []
        self.released = threading.Event()


class Handler(QuietHandler):
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        reply = server.replies[min(len(server.requests), len(server.replies) - 1)]
        server.requests.append(Request(self.command, self.path, headers, body))
        if reply is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        server.released.wait(reply.wait)
        self.send_response(reply.status)
        given = {"Content-Length": str(len(reply.body)), "Content-Type": "application/json"}
        for name, value in {**given, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(reply, ...): a server that answers with them in turn."""
    with running() as start:
        servers: list[Server] = []

        def serve(*replies: Reply | None, tls: ssl.SSLContext | None = None) -> Server:
            server = Server(*replies)
            servers.append(server)
            if tls is not None:
                server.use_tls(tls)
            return start(server)

        yield serve
        for server in servers:
            server.released.set()


def client(server: Server, **options: Any) -> Client:
    given = {"credentials": {"authorization": f"Bearer {TOKEN}"}, "limits": QUICK}
    return Client(server.url, **{**given, **options})


def fails(server: Server, method: str = "GET", **options: Any) -> HttpError:
    with pytest.raises(HttpError) as caught:
        client(server, **options).request(method, "/x", json={"a": 1} if method != "GET" else None)
    assert TOKEN not in str(caught.value)
    return caught.value


def to_json(value: object) -> bytes:
    return json.dumps(value).encode()


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


# --- where credentials go


@pytest.mark.parametrize(
    ("base", "why"),
    [
        ("http://example.com", "no encryption"),
        ("http://127.0.0.1.example.com", "no encryption"),
        ("http://10.0.0.1:3000", "no encryption"),
        ("http://localhost.example.com", "no encryption"),
        ("ftp://localhost", "begins with https://"),
        ("localhost:3000", "is not a URL"),
        ("", "is not a URL"),
        ("https://", "is not a URL"),
        ("https://exa mple.com", "is not a URL"),
        ("https://example.com:99999", "is not a URL"),
        ("https://example.com?a=b", "no user, password, query"),
        ("https://example.com/#a", "no user, password, query"),
        ("https://u:hunter2@example.com", "no user, password, query"),
        ("https://example.com?t=hunter2", "no user, password, query"),
        ("https://example.com#hunter2", "no user, password, query"),
        ("https://[::1", "is not a URL"),
        ("https://example.com\n.evil", "is not a URL"),
        ("https://example..com", "is not a URL"),
        ("https://" + "a" * 64 + ".com", "is not a URL"),
    ],
)
def test_a_base_url_that_is_unsafe_or_none_is_refused(base: str, why: str) -> None:
    with pytest.raises(HttpError) as caught:
        Client(base)
    assert why in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    ["https://example.com", "http://localhost:3000", "http://127.8.9.1", "http://[::1]:80/x/"],
)
def test_a_base_url_with_encryption_or_on_this_machine_is_taken(base: str) -> None:
    assert str(check_base(base)) == base.rstrip("/").replace(":80/", "/")


def test_a_redirect_to_another_server_is_not_followed(serve: Serve) -> None:
    other = serve()
    server = serve(Reply(302, {"Location": other.url + "/stolen?x=" + TOKEN}))
    error = fails(server)
    assert "a redirect to http://127.0.0.1, which is another server" in str(error)
    assert other.requests == []


@pytest.mark.parametrize("target", ["https://127.0.0.1/x", "//evil.example/x", "http://u:p@{}/x"])
def test_nor_is_one_that_changes_scheme_host_or_user(serve: Serve, target: str) -> None:
    server = serve(Reply(307, {"Location": ""}))
    server.replies[0] = Reply(307, {"Location": target.format(server.url[7:])})
    assert "another server" in str(fails(server))
    assert len(server.requests) == 1


def test_a_get_follows_redirects_on_the_same_server_a_few_times(serve: Serve) -> None:
    server = serve(Reply(301, {"Location": "/b?page=2"}), Reply(body=b"1"))
    assert client(server).get("/a").json() == 1
    assert [request.path for request in server.requests] == ["/a", "/b?page=2"]
    assert all("authorization" in request.headers for request in server.requests)
    looping = serve(Reply(301, {"Location": "/again"}))
    assert "more than 3 redirects" in str(fails(looping))
    assert len(looping.requests) == 4


def test_a_post_is_sent_again_whole_or_not_at_all(serve: Serve) -> None:
    same = serve(Reply(307, {"Location": "/b"}), Reply(201))
    assert client(same).request("POST", "/a", json={"n": 1}).status == 201
    assert [(r.method, r.path, r.body) for r in same.requests] == [
        ("POST", "/a", b'{"n": 1}'),
        ("POST", "/b", b'{"n": 1}'),
    ]
    changed = serve(Reply(301, {"Location": "/moved"}))
    assert f"it has moved to {changed.url}/moved" in str(fails(changed, "POST"))
    assert len(changed.requests) == 1


@pytest.mark.parametrize("location", ["/made/1", "https://elsewhere.example/made/1", "http://["])
def test_a_post_that_leads_to_what_it_made_may_have_been_carried_out(
    serve: Serve, location: str
) -> None:
    server = serve(Reply(303, {"Location": location}))
    assert fails(server, "POST").unsure
    assert len(server.requests) == 1
    assert not fails(serve(Reply(301, {"Location": location})), "POST").unsure


def test_no_proxy_sees_what_goes_to_this_machine(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = serve(), serve()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    client(server).get("/a")
    assert (len(proxy.requests), len(server.requests)) == (0, 1)


def use_proxy(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Whatever the environment says about proxies, this is the one for https."""
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", url)


class Refusing(QuietHandler):
    """A proxy that lets nobody through. seen: the requests that it has had."""

    seen: ClassVar[list[str]] = []

    def refuse(self) -> None:
        self.seen.append(f"{self.path}\n{self.headers}")
        self.send_error(407)

    do_CONNECT = refuse  # noqa: N815


def test_a_proxy_that_refuses_is_told_and_has_seen_no_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Refusing.seen.clear()
    with running() as start:
        proxy = start(LocalServer(Refusing))
        use_proxy(monkeypatch, proxy.url)
        caller = Client("https://api.example", limits=QUICK, credentials={"x-token": TOKEN})
        with pytest.raises(HttpError) as caught:
            caller.get("/x")
    assert "/x: the proxy does not let it through: 407 " in str(caught.value)
    assert Refusing.seen
    assert all(seen.startswith("api.example:443\n") for seen in Refusing.seen)
    assert TOKEN not in "".join(Refusing.seen)


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5://bob:hunter2@127.0.0.1:1",
        "ftp://bob:hunter2@127.0.0.1:1",
        "http://bob:hunter2@127.0.0.1:port",
        "http://bob:hunter2@proxy..example:1",
    ],
)
def test_a_proxy_that_cannot_be_used_is_an_error_like_others(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    use_proxy(monkeypatch, proxy)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(HttpError) as caught:
        Client("https://api.example", limits=QUICK).get("/x")
    assert "the proxy that HTTPS_PROXY or ALL_PROXY names cannot be used" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_certificates_of_the_environment_that_are_not_there_are_an_error_like_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    _tls.cache_clear()
    with pytest.raises(HttpError, match="no certificates could be read from what SSL_CERT_FILE"):
        Client("https://api.example", limits=QUICK).get("/x")


def test_credentials_that_no_header_can_hold_are_not_sent_and_not_shown(serve: Serve) -> None:
    server = serve()
    error = fails(server, credentials={"private-token": f"{TOKEN}\r\nx: y"})
    assert str(error) == "the credentials hold what the header private-token cannot hold"
    assert server.requests == []


# --- new credentials


def test_after_401_new_credentials_are_asked_for_once_and_the_body_is_sent_whole(
    serve: Serve,
) -> None:
    server, asked = serve(Reply(401), Reply(401)), []

    def credentials(renew: bool) -> dict[str, str]:
        asked.append(renew)
        return {"authorization": f"Bearer {TOKEN}-{len(asked)}"}

    error = fails(server, "POST", credentials=credentials)
    assert isinstance(error, StatusError)
    assert error.status == 401
    assert asked == [False, True]
    sent = [(r.headers["authorization"][-1], r.body) for r in server.requests]
    assert sent == [("1", b'{"a": 1}'), ("2", b'{"a": 1}')]


def test_the_same_credentials_are_not_sent_again_after_401(serve: Serve) -> None:
    server, header = serve(Reply(401)), {"authorization": f"Bearer {TOKEN}"}
    assert "HTTP 401 Unauthorized" in str(fails(server))
    assert "HTTP 401 Unauthorized" in str(fails(server, credentials=lambda _renew: header))
    assert len(server.requests) == 2


def test_credentials_may_come_from_a_request_of_their_own(serve: Serve) -> None:
    sso, server = serve(Reply(body=b'{"access_token": "abcdefgh"}')), serve()

    def credentials(_renew: bool) -> dict[str, str]:
        answer = Client(sso.url, limits=QUICK).request("POST", "/token", form={"r": TOKEN})
        return {"authorization": "Bearer " + answer.json()["access_token"]}

    client(server, credentials=credentials).get("/x")
    assert server.requests[0].headers["authorization"] == "Bearer abcdefgh"


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


# --- encryption


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that signs itself, and a server's context with it."""
    import ipaddress

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - day).not_valid_after(now + day)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    folder = tmp_path_factory.mktemp("tls")
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    return folder / "ca.pem", context


def test_a_certificate_nobody_vouches_for_is_refused_at_once(
    serve: Serve, authority: tuple[Path, ssl.SSLContext]
) -> None:
    server = serve(tls=authority[1])
    assert "its certificate is not trusted" in str(fails(server, "POST"))
    assert server.requests == []


def test_an_authority_of_ones_own_can_be_named(
    serve: Serve, authority: tuple[Path, ssl.SSLContext], tmp_path: Path
) -> None:
    server = serve(tls=authority[1])
    assert client(server, ca_file=str(authority[0])).get("/x").json() == {}
    missing = str(tmp_path / "missing.pem")
    assert f"no certificates could be read from {missing}" in str(fails(server, ca_file=missing))
