"""How the page looks and is used: keyboard, names for readers, contrast, narrow screens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

# Read here, as fixtures take such variables away.
PICTURES = os.environ.get("TINYHOST_PAGE_PICTURES")

FORECAST = "plugin__weather__forecast"
FOCUSED = "(e => e.innerText || e.ariaLabel || e.id)(document.activeElement)"
TABS = ("plugins", "timeline", "tools", "logs")

# Texts with too little contrast to what is behind them, as [ratio, text]. WCAG AA asks for 4.5.
FAINT = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const paint = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((n) => n / 255)
      .map((n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility() || element.closest('.hidden, noscript')) continue;
    const grounds = [];
    for (let one = element; one; one = one.parentElement) {
      grounds.unshift(getComputedStyle(one).backgroundColor);
    }
    const ground = paint(grounds);
    const colour = paint([...grounds, getComputedStyle(element).color]);
    const [dark, bright] = [light(ground), light(colour)].sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dark + 0.05);
    if (ratio < 4.5) faint.push([Number(ratio.toFixed(2)), text.slice(0, 40)]);
  }
  return faint;
})()"""


async def make_busy(host: Any) -> None:
    """Let something happen that each tab shows."""
    await host.call(FORECAST, place="Berlin", days=2)
    await host.call("plugin__weather__stations")
    await host.call("plugin__flaky__go")


async def full_page(host: Any, tab: str, **features: Any) -> Any:
    """A page of a busy host that shows a tab with all that can be opened in it."""
    page = await host.page(tab, **features)
    if tab == "plugins":
        await page.click("[data-plugin=weather] .more")
    if tab == "timeline":
        await page.click("li[data-kind=decision] button")
    if tab == "tools":
        await page.click("[data-tool=plugin__weather__stations]")
        await page.click("[data-tried] button[type=submit]")
        await page.until("document.querySelector('.outcome').dataset.kind === 'deny'")
        await page.click(f"[data-tool={FORECAST}]")
        await page.click("[data-tried] button[type=submit]")
    return page


async def test_all_can_be_done_with_the_keyboard(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page()
        await page.press("Tab")
        assert await page.value(FOCUSED) == "Skip to content"
        outline = await page.value("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        await page.press("Enter")
        assert await page.value("document.activeElement.id") == "main"
        await page.value("document.querySelector('#reload').focus()")
        await page.press("Tab")
        assert await page.value(FOCUSED) == "Plugins"
        await page.press("ArrowRight")
        assert await page.value(FOCUSED) == "Timeline"
        await page.press("End")
        assert await page.value("!document.querySelector('#panel-logs').hidden")
        await page.press("ArrowRight")
        assert await page.value(FOCUSED) == "Plugins"
        await page.press("ArrowLeft")
        await page.press("ArrowLeft")
        assert await page.value(FOCUSED) == "Tools"
        await page.press("Tab")  # one stop for all tabs, then what the tab shows
        await page.type("forecast")
        await page.until("document.querySelectorAll('[data-tool]').length === 1")
        await page.press("Tab")
        await page.press("Enter")
        assert await page.value(FOCUSED) == "forecast"
        await page.press("Tab")
        assert await page.value("document.activeElement.value") == "form"
        await page.press("Tab")
        await page.type("Bern")
        await page.press("Tab")
        await page.type("3")
        await page.press("Enter")
        await page.until("document.querySelector('.outcome').dataset.kind === 'good'")
        assert (
            await page.value("document.activeElement.closest('[data-field]').dataset.field")
            == "days"
        )
        assert page.problems == []


async def test_the_question_before_unloading_is_answered_with_the_keyboard(shown: Any) -> None:
    unload = "[data-plugin=guard] [aria-label='Unload guard']"
    async with shown("weather", "guard") as host:
        page = await host.page()
        await page.value(f'document.querySelector("{unload}").focus()')
        await page.press("Enter")
        assert await page.value(FOCUSED) == "Cancel"
        await page.press("Escape")
        await page.until("!document.querySelector('dialog')")
        assert await page.value("document.activeElement.ariaLabel") == "Unload guard"
        await page.press(" ")
        await page.press("Tab")
        assert await page.value(FOCUSED) == "Unload"
        await page.press("Enter")
        await page.until("!document.querySelector('[data-plugin=guard]')")


async def test_what_has_the_focus_is_not_hidden_by_what_stays_at_the_top(shown: Any) -> None:
    covered = """(() => {
      const box = document.activeElement.getBoundingClientRect();
      const top = document.elementFromPoint(box.x + box.width / 2, box.y + 2);
      return !document.activeElement.contains(top) && document.activeElement.outerHTML;
    })()"""
    async with shown("weather", "guard", "flaky", "broken") as host:
        await make_busy(host)
        for tab in ("plugins", "timeline"):
            page = await host.page(tab, width=1280, height=300)
            await page.value(f"[...document.querySelectorAll('#panel-{tab} button')].pop().focus()")
            for _ in range(20):
                await page.press("Tab", shift=True)
                assert await page.value(covered) is False


async def test_the_heads_of_the_columns_stay_in_sight(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page(width=1280, height=300)
        await page.value("document.querySelector('[data-plugin=guard]').scrollIntoView()")
        assert await page.value("scrollY > 0")
        head = """(() => {
          const box = document.querySelector('.plugins thead th').getBoundingClientRect();
          return document.elementFromPoint(box.x + 20, box.y + box.height / 2).innerText;
        })()"""
        assert await page.value(head) == "Plugin"


async def test_a_button_keeps_the_focus_while_the_numbers_change(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page()
        await page.value("document.querySelector('[aria-label=\"Restart weather\"]').focus()")
        await host.call(FORECAST, place="Bern", days=2)
        cell = "document.querySelector('[data-plugin=weather] [data-head=Calls]').innerText"
        await page.until(f"{cell} === '1'")
        assert await page.value("document.activeElement.ariaLabel") == "Restart weather"


async def test_everything_that_can_be_used_has_a_name_for_those_who_listen(shown: Any) -> None:
    roles = {"button", "textbox", "searchbox", "combobox", "checkbox", "radio", "tab", "tabpanel"}
    async with shown("weather", "guard", "flaky", "broken") as host:
        await make_busy(host)
        for tab in TABS:
            page = await full_page(host, tab)
            tree = (await page.call("Accessibility.getFullAXTree"))["nodes"]
            used = [node for node in tree if node.get("role", {}).get("value") in roles]
            assert len(used) > 8
            assert [node for node in used if not node.get("name", {}).get("value")] == []
            landmarks = {node["role"]["value"] for node in tree if "role" in node}
            assert {"banner", "main", "tablist", "heading"} <= landmarks


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_texts_stand_out_in_light_and_dark(shown: Any, scheme: str) -> None:
    async with shown("weather", "guard", "flaky", "broken") as host:
        await make_busy(host)
        for tab in TABS:
            page = await full_page(
                host, tab, prefers_color_scheme=scheme, prefers_reduced_motion="reduce"
            )
            assert await page.value(FAINT) == [], tab
        ground = await page.value("getComputedStyle(document.body).backgroundColor")
        await page.value("document.querySelector('.facts').style.setProperty('color', '#777b')")
        assert len(await page.value(FAINT)) == 1  # what is too faint is found
    level = int(ground.removeprefix("rgb(").split(",")[0])
    assert level > 200 if scheme == "light" else level < 50


async def test_nothing_is_wider_than_a_narrow_screen(shown: Any) -> None:
    async with shown("weather", "guard", "flaky", "broken", "hostile") as host:
        await make_busy(host)
        for tab in TABS:
            page = await full_page(host, tab)
            for width in (320, 390, 1280):
                await page.resize(width, 844)
                wide = await page.value("document.documentElement.scrollWidth")
                assert wide <= width, (tab, width)


async def test_nothing_moves_for_those_who_want_no_motion(shown: Any) -> None:
    names = "[...document.querySelectorAll('.fresh')].map(e => getComputedStyle(e).animationName)"
    async with shown("weather") as host:
        for wish, expected in (("reduce", "none"), ("no-preference", "arrive")):
            page = await host.page("timeline", prefers_reduced_motion=wish)
            host.running.events.publish("event", {"event": "now", "data": None})
            assert set(await page.until(f"{names}.length && {names}")) == {expected}


async def test_the_page_is_drawn_to_be_looked_at(shown: Any, tmp_path: Path) -> None:
    """The pictures go to the folder TINYHOST_PAGE_PICTURES, if one is named."""
    folder = Path(PICTURES or tmp_path)
    async with shown("weather", "guard", "flaky", "broken") as host:
        await make_busy(host)
        for scheme in ("light", "dark"):
            for tab in TABS:
                page = await full_page(host, tab, prefers_color_scheme=scheme)
                for width, height in ((1280, 800), (390, 844)):
                    await page.resize(width, height)
                    await page.value("scrollTo(0, 0)")
                    file = folder / f"{tab}-{scheme}-{width}.png"
                    await page.screenshot(file)
                    assert file.read_bytes().startswith(b"\x89PNG")
                    assert file.stat().st_size > 15_000  # an empty page has a third of that
