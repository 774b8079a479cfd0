"""The timeline: what happens appears as it happens, and can be narrowed down."""

from __future__ import annotations

from typing import Any

from page_plugins import HOSTILE

# The rows as [kind, mark, text], the newest first.
ROWS = """[...document.querySelectorAll('li[data-seq]')].map(row => [row.dataset.kind,
    row.querySelector('.mark').innerText, row.querySelector('.what').innerText])"""
COUNT = "document.querySelectorAll('li[data-seq]').length"
WHICH = f"[...new Set({ROWS}.map(row => row[0]))]"


async def test_a_call_appears_live_with_who_allowed_and_who_changed_it(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page("timeline")
        assert await host.call("plugin__weather__forecast", place="Berlin", days=5) == 200
        await page.until(
            f"{ROWS}.some(([kind, , text]) => kind === 'session' && text.match('ended'))"
        )
        rows = await page.value(ROWS)
        assert page.problems == []
    found = {kind + " " + mark: text for kind, mark, text in rows}
    assert 'the rule "plugin__*"' in found["decision allowed"]
    assert "guard changed the arguments" in found["hook changed"]
    assert "plugin__weather__forecast with changed arguments: sunny" in found["call done"]


async def test_a_denial_shows_who_denied_and_opens_to_all_reasons(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page("timeline")
        assert await host.call("plugin__weather__stations") == 403
        await page.until(f"{ROWS}[0]?.[2].endsWith('ended')")  # and no row moves any more
        await page.click("li[data-kind=decision] button.event")
        opened = await page.until("document.querySelector('.detail')?.innerText")
        expanded = await page.value(
            "document.querySelector('li[data-kind=decision] button').ariaExpanded"
        )
        rows = await page.value(ROWS)
    assert ["hook", "denies"] in [row[:2] for row in rows]
    [text] = [text for kind, mark, text in rows if (kind, mark) == ("decision", "denied")]
    assert "plugin guard denies it: stations are secret" in text
    assert expanded == "true"
    deny, allow = opened.index("plugin guard\tdeny"), opened.index("rule\tallow")
    assert deny < allow


async def test_a_plugin_that_dies_in_a_call_is_shown(shown: Any) -> None:
    async with shown("flaky") as host:
        page = await host.page("timeline")
        await host.call("plugin__flaky__go")
        await page.until(f"{ROWS}.some(([kind, mark]) => kind === 'call' && mark === 'error')")
        rows = await page.value(ROWS)
    assert ["plugin", "died"] in [row[:2] for row in rows]


async def test_events_are_filtered_by_kind_plugin_session_and_text(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        await host.call("plugin__weather__forecast", place="Bern", days=2)
        await host.call("plugin__weather__forecast", place="Rome", days=3)
        page = await host.page("timeline")
        everything = host.running.events.last
        await page.until(f"{COUNT} === {everything}")
        for kind in ("hook", "decision", "plugin", "session"):
            await page.click(f".chip input[value={kind}]")
        assert await page.value(WHICH) == ["call"]
        await page.value("document.querySelector('#panel-timeline input[type=search]').focus()")
        await page.type("rome")
        assert await page.value(COUNT) == 1
        await page.click("li[data-kind=call] button")
        await page.click(".detail button.small")  # only this session
        await page.click("#panel-timeline .tools > button")  # all filters off
        assert await page.value(COUNT) == everything
        choose = """((label, value) => {
            const select = [...document.querySelectorAll('#panel-timeline label')]
                .find(one => one.innerText.startsWith(label)).querySelector('select');
            select.value = value ?? select.options[1].value;
            select.dispatchEvent(new Event('change'));
        })"""
        await page.value(f"{choose}('Plugin', 'guard')")
        of_guard = await page.value(ROWS)
        await page.value(f"{choose}('Plugin', ''), {choose}('Session')")
        of_last = await page.value(ROWS)
        assert page.problems == []
    assert 0 < len(of_guard) < everything
    assert {kind for kind, _, _ in of_guard} == {"hook", "plugin"}
    assert "Rome" in str(of_last)
    assert "Bern" not in str(of_last)


async def test_hooks_without_an_opinion_can_be_left_out(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        await host.call("plugin__weather__forecast", place="Bern", days=2)
        page = await host.page("timeline")
        await page.until(f"{ROWS}.some(row => row[2].includes('no opinion'))")
        await page.click("#panel-timeline .check input")
        assert await page.value(f"{ROWS}.every(row => !row[2].includes('no opinion'))")
        assert await page.value(COUNT) > 3


async def test_pausing_holds_what_comes_until_it_is_resumed(shown: Any) -> None:
    pause = "#panel-timeline .head button"
    async with shown("weather") as host:
        page = await host.page("timeline")
        await page.click(pause)
        before = await page.value(COUNT)
        host.running.events.publish("event", {"event": "later", "data": {"n": 1}})
        await page.until("document.querySelector('.head').innerText.match('Paused. 1 new event')")
        assert await page.value(COUNT) == before
        await page.click(pause)
        await page.until(f"{COUNT} === {before + 1}")


async def test_what_was_missed_is_shown_as_a_gap(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.page("timeline")
        known = host.running.events.last
        await page.until(f"{COUNT} === {known}")
        for number in range(2500):  # more than the host keeps, before anybody can read it
            host.running.events.publish("event", {"event": f"e{number}", "data": None})
        await page.until(f"{ROWS}[0]?.[2] === 'e2499'")
        await page.click(".chip input[value=event]")  # not those, but what is between them
        gap = await page.value("document.querySelector('.gap').innerText")
    assert gap.startswith("500 events missed")


async def test_what_a_hostile_plugin_says_is_text_in_the_timeline(shown: Any) -> None:
    async with shown("weather", "hostile") as host:
        page = await host.page("timeline")
        await host.call("plugin__hostile__t")
        await page.until(f"{ROWS}.some(row => row[0] === 'call')")
        await page.value("document.querySelectorAll('button.event').forEach(one => one.click())")
        text = await page.value("document.querySelector('.events').innerText")
        foreign = await page.value("document.querySelectorAll('main img, main script').length")
        assert await page.value("document.title") == "tinyhost"
        assert page.problems == []
    assert text.count(HOSTILE) >= 2
    assert foreign == 0
