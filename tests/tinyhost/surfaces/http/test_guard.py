"""What every request passes before anything of the host is reached."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tinyhost.surfaces.http import openapi
from tinyhost.surfaces.http.guard import BODY_MAX

GUARDED = [
    (method.upper(), path)
    for path, methods in openapi.build()["paths"].items()
    for method, row in methods.items()
    if row.get("security") != []
]


async def test_nothing_is_told_or_done_without_the_token(served: Any) -> None:
    assert len(GUARDED) > 20
    async with served() as host, host.new_client() as anyone:
        for method, path in GUARDED:
            answer = await anyone.request(method, path.replace("{", "").replace("}", ""))
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert set(answer.json()) == {"error", "detail"}


@pytest.mark.parametrize("given", ["Bearer wrong", "Basic {}", "{}", "Bearer {}x"])
async def test_a_wrong_token_is_no_token(served: Any, given: str) -> None:
    async with served() as host:
        headers = {"Authorization": given.format(host.token)}
        async with host.new_client(headers) as stranger:
            answer = await stranger.get("/status")
    assert answer.status_code == 401
    assert host.token not in answer.text


async def test_health_needs_no_token_and_says_nothing_secret(served: Any) -> None:
    async with served() as host, host.new_client() as anyone:
        answer = await anyone.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_the_status_names_the_tokens_file_and_not_the_token(served: Any) -> None:
    async with served() as host:
        answer = await host.client.get("/status")
    assert answer.json()["addresses"]["httpToken"].endswith("/http-token")
    assert host.token not in answer.text


async def test_a_name_that_was_made_to_lead_here_is_refused(served: Any) -> None:
    async with served() as host:
        for path in ("/status", "/health", "/"):
            answer = await host.client.get(path, headers={"Host": "evil.example"})
            assert answer.status_code == 421
            assert "Host" in answer.json()["error"]


async def test_a_further_name_can_be_given_to_the_server(served: Any) -> None:
    async with served(names=["Tiny.example"]) as host:
        answer = await host.client.get("/health", headers={"Host": "tiny.example:80"})
    assert answer.status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://{}", "http://{}0"])
async def test_pages_of_other_origins_are_refused(served: Any, origin: str) -> None:
    async with served() as host:
        headers = {"Origin": origin.format(host.url.removeprefix("http://"))}
        answer = await host.client.post("/reload", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


async def test_the_own_page_may_ask(served: Any) -> None:
    async with served() as host:
        answer = await host.client.get("/status", headers={"Origin": host.url})
    assert answer.status_code == 200


async def test_every_answer_forbids_guessing_framing_and_keeping(served: Any) -> None:
    async with served() as host:
        answer = await host.client.get("/status")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


async def test_a_body_that_is_too_large_is_refused_and_the_client_reads_why(served: Any) -> None:
    async with served() as host:
        answer = await host.client.post("/plugin/load", content=b"x" * (BODY_MAX + 1))

        async def parts() -> Any:
            for _ in range(BODY_MAX // 2**20 + 1):
                yield b"x" * 2**20

        in_parts = await host.client.post("/plugin/load", content=parts())
    assert (answer.status_code, in_parts.status_code) == (413, 413)
    assert answer.json()["detail"]["type"] == "RequestEntityTooLarge"


async def test_json_that_nests_too_deeply_is_refused(served: Any) -> None:
    async with served() as host:
        body = '{"name":' + "[" * 200 + "]" * 200 + "}"
        answer = await host.client.post("/plugin/load", content=body)
        deep = await host.client.post("/plugin/load", content="[" * 5_000_000)
    assert (answer.status_code, deep.status_code) == (400, 400)
    assert "nested deeper than 128" in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b'{"name": NaN}'])
async def test_a_body_that_is_no_json_object_is_a_bad_request(served: Any, body: bytes) -> None:
    async with served() as host:
        answer = await host.client.post("/plugin/load", content=body)
    assert answer.status_code == 400
    assert "body" in answer.json()["error"]


async def test_an_unknown_path_is_not_found_as_json(served: Any) -> None:
    async with served() as host:
        answer = await host.client.get("/nosuch")
    assert answer.status_code == 404
    assert answer.json()["detail"] == {"type": "NotFound", "path": "/nosuch"}


async def test_a_method_that_a_path_does_not_know_names_those_that_it_does(served: Any) -> None:
    async with served() as host:
        answer = await host.client.put("/plugin/echo")
        load = await host.client.get("/plugin/load")
    assert (answer.status_code, load.status_code) == (405, 405)
    assert answer.headers["allow"] == "GET, DELETE, HEAD"
    assert load.headers["allow"] == "POST"


async def test_a_head_request_is_answered_without_a_body(served: Any) -> None:
    async with served() as host:
        answer = await host.client.head("/status")
        again = await host.get("/status")
    assert (answer.status_code, answer.content) == (200, b"")
    assert again["ready"] is True


async def test_a_websocket_is_not_opened(served: Any) -> None:
    async with served() as host:
        head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {host.token}\r\n"
        more = "Connection: upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        text = head.replace("/events", "/status") + more + "Sec-WebSocket-Key: AAAA\r\n\r\n"
        answer = await host.raw(text.encode())
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["ready"] is True
