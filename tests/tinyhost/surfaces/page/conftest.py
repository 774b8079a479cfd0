"""The page of a real host in a real browser."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio

from tinyhost.config import load_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.http import PAGE, http_surface
from tinyhost.surfaces.http.access import page_url
from tinyhost.surfaces.serving import Service, serve

HERE = Path(__file__).parent
TESTS = HERE.parents[2]
sys.path[1:1] = [str(HERE), str(TESTS / "support")]

from chromium import Browser, Page, browsing  # noqa: E402
from page_plugins import PLUGINS  # noqa: E402


class Shown:
    """A running host, and a browser in which it is looked at."""

    def __init__(self, running: RunningHost, browser: Browser) -> None:
        self.running, self.browser = running, browser
        self.url = running.addresses["http"]
        self.token = Path(running.addresses["httpToken"]).read_text().strip()

    async def call(self, tool: str, **args: Any) -> int:
        """Call a tool as any other program would; the status of the answer."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as client:
            answer = await client.post(f"{self.url}/tool/{tool}/call", json={"args": args})
            return int(answer.status_code)

    async def page(self, tab: str = "plugins", **features: Any) -> Page:
        """A page that shows the host, live, and that tab of it."""
        page = await self.browser.new_page(**features)
        await page.open(page_url(self.url, self.token))
        await self.live(page)
        if tab != "plugins":
            await page.click(f"#tab-{tab}")
        return page

    async def live(self, page: Page) -> None:
        """Wait until the page shows what the host has."""
        await page.until("document.querySelector('#link')?.dataset.state === 'live'")
        count = len(self.running.plugins())
        await page.until(f"document.querySelectorAll('[data-plugin]').length === {count}")


Show = Callable[..., AbstractAsyncContextManager[Shown]]
Host = Callable[..., AbstractAsyncContextManager[RunningHost]]


@pytest.fixture
def configured(home: Path, add_plugin: Callable[[str, str], Path]) -> Callable[..., None]:
    """configured(*names, **more): a configuration with these plugins, all of whose tools may
    be called unless `permissions` says otherwise."""

    def write(*names: str, **more: Any) -> None:
        for name in names:
            add_plugin(name, textwrap.dedent(PLUGINS[name]))
        config = {"plugins": list(names), "permissions": {"allow": ["plugin__*"]}, **more}
        (home / "config" / "config.json").write_text(json.dumps(config))

    return write


@pytest.fixture
def hosting(home: Path) -> Host:
    """`async with hosting() as running:` a host in service with what is configured."""

    @asynccontextmanager
    async def run(bind: str = "127.0.0.1:0") -> AsyncIterator[RunningHost]:
        ready, hosts, ended = trio.Event(), [], trio.Event()

        def loaded(running: RunningHost) -> None:
            hosts.append(running)
            ready.set()

        service = Service(
            read_config=load_config,
            directory=str(home),
            environ=dict(os.environ),
            surfaces=(http_surface(bind, pages=PAGE),),
            on_ready=loaded,
        )

        async def serving() -> None:
            await serve(service)
            ended.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(serving)
            await ready.wait()
            yield hosts[0]
            hosts[0].stop()
            await ended.wait()

    return run


@pytest.fixture
def shown(hosting: Host, configured: Callable[..., None], tmp_path: Path) -> Show:
    """`async with shown(*plugins, **configuration) as s:` runs a host and a browser."""

    @asynccontextmanager
    async def run(*names: str, **more: Any) -> AsyncIterator[Shown]:
        configured(*names, **more)
        async with browsing(tmp_path / "browser") as browser, hosting() as running:
            yield Shown(running, browser)

    return run
