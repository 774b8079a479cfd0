"""The server behind HAProxy with TLS, which is set up as the page says."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio
from tls_proxy import tls_proxy

NAME = "box.example"


@asynccontextmanager
async def through_proxy(host: Any, folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with the token that reaches the host as https://box.example:PORT."""
    async with tls_proxy(folder, NAME, f"127.0.0.1:{host.port}") as proxy:
        headers = {"Authorization": f"Bearer {host.token}", "Host": f"{NAME}:{proxy.port}"}
        async with httpx2.AsyncClient(
            base_url=f"https://127.0.0.1:{proxy.port}",
            headers=headers,
            verify=proxy.trust,
            timeout=30,
            trust_env=False,
        ) as client:

            async def add_name(request: httpx2.Request) -> None:
                request.extensions["sni_hostname"] = NAME

            client.event_hooks["request"].append(add_name)
            yield client


async def test_a_name_that_was_not_given_is_told_how_to_give_it(
    served: Any, tmp_path: Path
) -> None:
    async with served() as host, through_proxy(host, tmp_path) as client:
        answer = await client.get("/status")
    assert answer.status_code == 421
    assert "--http-name" in answer.json()["error"]


async def test_all_is_reached_by_the_name_that_was_given(served: Any, tmp_path: Path) -> None:
    async with served(names=[NAME]) as host, through_proxy(host, tmp_path) as client:
        own = f"https://{client.headers['host']}"
        answers = [await client.post("/reload", headers={"Origin": own}), await client.get("/tool")]
        others = [
            await client.post("/reload", headers={"Origin": origin})
            for origin in (f"https://{NAME}:1", f"https://{NAME}", "https://evil.example", "null")
        ]
        without_token = await client.get("/status", headers={"Authorization": ""})
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.status_code for answer in others] == [403, 403, 403, 403]
    assert "Host" in others[0].json()["error"]
    assert without_token.status_code == 401


async def test_events_come_through_as_they_happen(served: Any, tmp_path: Path) -> None:
    async with served(names=[NAME]) as host, through_proxy(host, tmp_path) as client:
        with trio.fail_after(30):
            async with client.stream("GET", "/events") as stream:
                host.running.events.publish("event", {"event": "hello", "data": None})
                found = False
                async for line in stream.aiter_lines():
                    found = found or "hello" in line
                    if found:
                        host.running.stop()  # which ends the stream
    assert found


@pytest.mark.parametrize("origin", [f"https://{NAME}", f"http://{NAME}"])
async def test_a_name_that_was_given_may_be_reached_with_tls_or_without(
    served: Any, origin: str
) -> None:
    async with served(names=[NAME]) as host:
        headers = {"Host": NAME, "Origin": origin}
        assert (await host.client.post("/reload", headers=headers)).status_code == 200


async def test_no_other_name_is_reached_with_tls(served: Any) -> None:
    async with served(names=[NAME]) as host:
        headers = {"Origin": host.url.replace("http:", "https:")}
        assert (await host.client.post("/reload", headers=headers)).status_code == 403


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--http-name", "box.example"], 2, "--http-name goes with --http"),
        (["--http", "127.0.0.1:0", "--http-name", "https://box.example"], 2, "without scheme"),
        (["--http", "127.0.0.1:65536"], 2, "'127.0.0.1:65536' is not an address to listen at"),
    ],
)
async def test_a_name_or_address_that_cannot_be_used_is_told_at_the_start(
    home: Path, words: list[str], code: int, said: str
) -> None:
    command = [sys.executable, "-m", "tinyhost_cli.main", "serve", *words]
    done = await trio.run_process(
        command, cwd=home, capture_stdout=True, capture_stderr=True, check=False
    )
    assert (done.returncode, said in done.stderr.decode()) == (code, True), done.stderr
