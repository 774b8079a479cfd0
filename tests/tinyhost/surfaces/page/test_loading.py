"""The page as a whole: it loads, shows what there is, and knows who may look."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio
from chromium import PageError, browsing
from tls_proxy import tls_proxy

from tinyhost.surfaces.http import PAGE

STATE = "document.querySelector('#link').dataset.state"
ROW = "document.querySelector('[data-plugin={}]').innerText"


async def test_it_loads_without_a_problem_and_shows_plugins_with_state_and_numbers(
    shown: Any,
) -> None:
    async with shown("weather", "guard", "broken") as host:
        await host.call("plugin__weather__forecast", place="Bern", days=2)
        page = await host.page()
        weather = await page.value(ROW.format("weather"))
        broken = await page.value("document.querySelector('[data-failed=broken]').innerText")
        title = await page.value("document.title")
        assert page.problems == []
    assert title == "tinyhost"
    name, state, calls, *_ = re.split(r"\s*[\t\n]\s*", weather.strip())
    assert (name.split()[0], state, calls) == ("weather", "ready", "1")
    assert "MiB" in weather
    assert "there is no libfoo" in broken


async def test_the_token_leaves_the_address_and_outlives_a_reload_of_the_page(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.page()
        assert host.token not in await page.value("location.href")
        await page.call("Page.reload")
        await page.until(f"performance.now() < 20000 && {STATE} === 'live'")
        other = await host.browser.new_page()
        await other.open(host.url)
        await other.until("!document.querySelector('#gate').hidden")
        assert page.problems == other.problems == []


async def test_a_wrong_token_is_told_of_and_the_right_one_opens_the_page(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.browser.new_page()
        await page.open(f"{host.url}/#token=wrong")
        await page.until(f"{STATE} === 'refused'")
        why = await page.value("document.querySelector('#gate-why').innerText")
        panels = await page.value(
            "document.querySelectorAll('[role=tabpanel]:not([hidden])').length"
        )
        assert "wrong" not in await page.value("location.href")
        await page.until("document.activeElement.id === 'gate-token'")
        await page.type(host.token)
        await page.press("Enter")
        await host.live(page)
        assert await page.value("document.querySelector('#gate').hidden")
        # What the browser itself says of a refused request is no fault of the page.
        assert [text for text in page.problems if "401" not in text] == []
    assert "does not take this token" in why
    assert panels == 0


async def test_a_new_address_with_a_token_in_the_same_tab_is_taken(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.browser.new_page()
        await page.open(host.url)
        await page.until("!document.querySelector('#gate').hidden")
        await page.open(f"{host.url}/#token={host.token}")
        await host.live(page)


async def test_nothing_on_the_page_can_be_made_to_run_as_a_script(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.page()
        for script in (
            "document.body.innerHTML = '<b>'",
            "document.body.append(document.createRange().createContextualFragment('<b>'))",
            "document.createElement('script').src = 'app.js'",
            "trustedTypes.createPolicy('any', {})",
        ):
            with pytest.raises(PageError, match="TypeError"):
                await page.value(f"(() => {{ {script} }})()")
        await page.value(
            "document.body.append(Object.assign(document.createElement('a'),"
            " {href: 'javascript:void(document.title = `ran`)', id: 'bad', textContent: 'here'}))"
        )
        await page.click("#bad")
        assert await page.value("document.title") == "tinyhost"


async def test_files_of_the_page_are_all_there_with_their_types(hosting: Any, home: Path) -> None:
    types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/"}
    async with hosting() as running, httpx2.AsyncClient(trust_env=False) as client:
        for file in sorted(Path(PAGE).iterdir()):
            answer = await client.get(f"{running.addresses['http']}/{file.name}")
            assert answer.content == file.read_bytes()
            assert answer.headers["content-type"].startswith(types[file.suffix])
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_page_is_of_its_own_files_alone() -> None:
    for file in Path(PAGE).iterdir():
        text = file.read_text()
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), file
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\b", text), file
        if file.suffix == ".html":
            assert not re.search(r"<script(?! type=\"module\" src=)|<style|\son\w+=|\sstyle=", text)


async def test_the_page_finds_a_host_that_was_started_anew(
    hosting: Any, configured: Callable[..., None], tmp_path: Path, home: Path
) -> None:
    configured("weather")
    async with browsing(tmp_path / "browser") as browser:
        async with hosting() as running:
            url = running.addresses["http"]
            token = Path(running.addresses["httpToken"]).read_text().strip()
            page = await browser.new_page()
            await page.open(f"{url}/#token={token}")
            await page.until(f"{STATE} === 'live'")
        await page.until(f"{STATE} === 'waiting'")
        assert "Not connected" in await page.value("document.querySelector('#link').innerText")
        configured("weather", "guard")
        async with hosting(url.removeprefix("http://")) as running:
            await page.click("#reconnect")
            await page.until("document.querySelector('[data-plugin=guard]')")
            await page.click("#tab-timeline")
            gaps = await page.until("[...document.querySelectorAll('.gap')].map(e => e.innerText)")
            known = running.events.last
            await page.until(
                "[...document.querySelector('.gap').parentNode.children]"
                f".indexOf(document.querySelector('.gap')) === {known}"  # all of them above it
            )
    assert gaps == ["The host was started anew"]


async def test_the_command_serves_the_page(
    child: Callable[..., Any], configured: Callable[..., None], tmp_path: Path
) -> None:
    configured("weather")
    status = await child("--http", "127.0.0.1:0").ready()
    token = Path(status["addresses"]["httpToken"]).read_text().strip()
    async with browsing(tmp_path / "browser") as browser:
        page = await browser.new_page()
        await page.open(f"{status['addresses']['http']}/#token={token}")
        await page.until("document.querySelector('[data-plugin=weather]')")
        assert page.problems == []


async def test_the_page_works_behind_a_proxy_with_tls(
    child: Callable[..., Any], configured: Callable[..., None], tmp_path: Path
) -> None:
    configured("weather")
    name = "tiny.localhost"  # which a browser looks for on this machine
    status = await child("--http", "127.0.0.1:0", "--http-name", name).ready()
    token = Path(status["addresses"]["httpToken"]).read_text().strip()
    server = status["addresses"]["http"].removeprefix("http://")
    async with (
        tls_proxy(tmp_path, name, server) as proxy,
        browsing(tmp_path / "browser") as browser,
    ):
        page = await browser.new_page()
        await page.call("Security.setIgnoreCertificateErrors", ignore=True)
        await page.open(f"https://{name}:{proxy.port}/#token={token}")
        await page.until(f"{STATE} === 'live'")
        await page.click("#reload")  # which a browser sends with an Origin
        await page.until("document.querySelector('.message')?.innerText.includes('read again')")
        assert page.problems == []


async def test_plugins_are_unloaded_restarted_and_loaded_after_a_question(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page()
        await page.click("[data-plugin=weather] [aria-label='Unload weather']")
        await page.click("dialog button[value=no]")
        await page.until("!document.querySelector('dialog')")
        assert [plugin["name"] for plugin in host.running.plugins()][-2:] == ["weather", "guard"]
        await page.click("[data-plugin=weather] [aria-label='Unload weather']")
        await page.click("dialog button[value=yes]")
        await page.until("!document.querySelector('[data-plugin=weather]')")
        await page.click("#load-name")
        await page.type("weather")
        await page.click(".loader button[type=submit]")
        await page.until("document.querySelector('[data-plugin=weather]')")
        before = host.running.plugin("guard")["pid"]
        await page.click("[data-plugin=guard] [aria-label='Restart guard']")
        await page.click("dialog button[value=yes]")
        await page.until(
            "[...document.querySelectorAll('.message')].pop().innerText.match('restarted')"
        )
        assert host.running.plugin("guard")["pid"] != before
        assert page.problems == []


async def test_a_plugin_that_failed_is_tried_again_and_what_goes_wrong_is_told(
    shown: Any, configured: Callable[..., None], home: Path
) -> None:
    async with shown("weather", "broken") as host:
        page = await host.page()
        await page.click("[data-failed=broken] [aria-label='Try again: broken']")
        told = await page.until("document.querySelector('.message.bad')?.innerText")
        assert "there is no libfoo" in told
        (home / "config" / "plugins" / "broken").write_text(
            (home / "config" / "plugins" / "weather").read_text()
        )
        await page.click("[data-failed=broken] [aria-label='Try again: broken']")
        await page.until("document.querySelector('[data-plugin=broken]')")
        await page.until("!document.querySelector('[data-failed]')")


async def test_reloading_the_configuration_shows_what_changed(
    shown: Any, configured: Callable[..., None]
) -> None:
    async with shown("weather") as host:
        page = await host.page()
        configured("weather", "guard")
        await page.click("#reload")
        told = await page.until("document.querySelector('.message.good')?.innerText")
        await page.until("document.querySelector('[data-plugin=guard]')")
    assert "loaded guard" in told


async def test_a_log_is_shown_and_followed(shown: Any) -> None:
    log = "document.querySelector('.log').innerText"
    async with shown("weather", "flaky") as host:
        page = await host.page()
        await page.click("[data-plugin=weather] [aria-label='Log weather']")
        await page.until(f"{log} === 'weather: ready'")
        await host.call("plugin__weather__forecast", place="Bern", days=2)
        await page.until(f"{log} === 'weather: ready\\nweather: forecast'")
        await page.value("document.querySelector('#panel-logs input[type=search]').focus()")
        await page.type("ready")
        await page.until(f"{log} === 'weather: ready'")
        assert "1 of 2 lines" in await page.value("document.querySelector('#panel-logs').innerText")
        assert page.problems == []


async def test_a_tab_that_nobody_looks_at_holds_no_connection_and_catches_up(shown: Any) -> None:
    hide = """(hidden => {
        Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
        document.dispatchEvent(new Event('visibilitychange'));
    })"""
    async with shown("weather") as host:
        page = await host.page("timeline")
        await page.value(f"{hide}(true)")
        await page.until(f"{STATE} === 'hidden'")
        host.running.events.publish("event", {"event": "while-away", "data": None})
        await trio.sleep(0.2)
        found = "document.querySelector('.events').innerText.includes('while-away')"
        assert not await page.value(found)
        await page.value(f"{hide}(false)")
        await page.until(found)
        assert json.dumps(page.problems) == "[]"
