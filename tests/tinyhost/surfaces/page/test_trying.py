"""A tool is tried with a form made from its schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from page_plugins import HOSTILE, PICTURES

FORECAST, STATIONS = "plugin__weather__forecast", "plugin__weather__stations"
OUTCOME = "document.querySelector('.outcome')"
RESULT = "document.querySelector('.answer').innerText"


def field(name: str) -> str:
    return f"[data-field={name}]"


async def choose(page: Any, name: str, value: str) -> None:
    """Choose of a field's options the one with that value."""
    await page.value(f"document.querySelector('{field(name)} select').value = '{value}'")


async def test_the_form_has_a_field_for_each_kind_and_calls_with_what_is_in_it(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page("tools")
        await page.click(f"[data-tool={FORECAST}]")
        marks = await page.until("document.querySelector('[data-tried] form').innerText")
        await page.click(f"{field('place')} textarea")
        await page.type('Bern "old town"')
        await page.click(f"{field('days')} input")
        await page.type("12345678901234567890")
        await choose(page, "units", '"imperial"')
        await choose(page, "hourly", "false")
        await page.click(f"{field('limit')} input")
        await page.type("1.50")
        for entry in ("wind", "rain"):
            await page.click(f"{field('fields')} > div > button")
            await page.type(entry)
        await page.click(f"{field('options')} textarea")
        await page.type('{"deep": [1, {"x": null}]}')
        await page.click("[data-tried] button[type=submit]")
        await page.until(f"{OUTCOME}.dataset.kind === 'good'")
        result = await page.value(RESULT)
        assert page.problems == []
    assert "place\nrequired" in marks.replace(" ", "\n")
    assert "A city." in marks
    assert "integer, at least 1" in marks
    assert (
        'sunny {"place": "Bern \\"old town\\"", "days": 12345678901234567890,'
        ' "units": "imperial", "hourly": false, "limit": 1.5, "fields": ["wind", "rain"],'
        ' "options": {"deep": [1, {"x": null}]}}'
    ) in result


async def test_what_is_missing_or_wrong_is_told_at_its_field_and_nothing_is_called(
    shown: Any,
) -> None:
    async with shown("weather") as host:
        page = await host.page("tools")
        await page.click(f"[data-tool={FORECAST}]")
        await page.click(f"{field('days')} input")
        await page.type("two")
        before = host.running.events.last
        await page.click("[data-tried] button[type=submit]")
        focused = await page.value("document.activeElement.closest('[data-field]').dataset.field")
        place = await page.value(f"document.querySelector('{field('place')}').innerText")
        days = await page.value(f"document.querySelector('{field('days')}').innerText")
        invalid = await page.value("document.querySelectorAll('[aria-invalid=true]').length")
        assert host.running.events.last == before
    assert focused == "place"
    assert "place has to be given" in place
    assert "days must be a whole number" in days
    assert invalid == 2


async def test_arguments_are_written_as_json_and_go_back_into_the_form(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.page("tools")
        await page.click(f"[data-tool={FORECAST}]")
        await page.click(f"{field('place')} textarea")
        await page.type("Bern")
        await page.click("[data-tried] input[value=json]")
        text = await page.value(
            "document.querySelector('[data-tried] textarea.code[rows=\"8\"]').value"
        )
        put = "document.querySelector('[data-tried] textarea.code[rows=\"8\"]').value = "
        await page.value(
            put + '\'{"place": "Bern", "days": 98765432109876543210, "fields": ["a"]}\''
        )
        await page.click("[data-tried] input[value=form]")
        days = await page.value(f"document.querySelector('{field('days')} input').value")
        await page.click("[data-tried] input[value=json]")
        await page.value(put + "'{\"unknown\": 1}'")
        await page.click("[data-tried] input[value=form]")
        kept = await page.value("document.querySelector('[data-tried] input[value=json]').checked")
        refusal = await page.value("document.querySelector('[data-tried] [role=alert]').innerText")
        await page.value(put + "'[1'")
        await page.click("[data-tried] button[type=submit]")
        broken = await page.value("document.querySelector('[data-tried] [role=alert]').innerText")
        await page.value(put + "'{\"any\": 1.0}'")
        await page.click("[data-tried] button[type=submit]")
        await page.until(
            f"{OUTCOME}.dataset.kind !== 'none' && {OUTCOME}.dataset.kind !== 'running'"
        )
    assert text == '{\n  "place": "Bern"\n}'
    assert days == "98765432109876543210"
    assert kept
    assert 'no field for "unknown"' in refusal
    assert "not JSON" in broken


async def test_a_denial_is_shown_with_who_denied_and_why(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page("tools")
        await page.click(f"[data-tool={STATIONS}]")
        await page.click("[data-tried] button[type=submit]")
        await page.until(f"{OUTCOME}.dataset.kind === 'deny'")
        result = await page.value(RESULT)
    assert "Denied" in result
    assert "plugin guard\tdeny\tplugin guard denies it: stations are secret" in result
    assert "rule\tallow" in result


async def test_a_call_that_would_be_asked_about_says_how_to_allow_it(shown: Any) -> None:
    async with shown("weather", permissions={}) as host:
        page = await host.page("tools")
        await page.click(f"[data-tool={STATIONS}]")
        await page.click("[data-tried] button[type=submit]")
        await page.until(f"{OUTCOME}.dataset.kind === 'deny'")
        assert "config.json" in await page.value(RESULT)


async def test_a_plugin_that_dies_is_an_error_with_what_it_wrote_last(shown: Any) -> None:
    async with shown("flaky") as host:
        page = await host.page("tools")
        await page.click("[data-tool=plugin__flaky__go]")
        await page.click("[data-tried] button[type=submit]")
        await page.until(f"{OUTCOME}.dataset.kind === 'error'")
        assert "flaky: out of luck" in await page.value(RESULT)


async def test_a_call_can_be_cancelled(shown: Any) -> None:
    async with shown("weather") as host:
        page = await host.page("tools")
        await page.click("[data-tool=plugin__weather__slow]")
        await page.click("[data-tried] button[type=submit]")
        await page.until(f"{OUTCOME}.dataset.kind === 'running'")
        await page.click("[data-tried] form .line button:nth-of-type(2)")
        await page.until(f"{OUTCOME}.innerText.startsWith('Cancelled')")


async def test_pictures_and_structured_content_are_shown(shown: Any, home: Path) -> None:
    program = home / "pictures.py"
    program.write_text(PICTURES)
    servers = {"pictures": {"command": sys.executable, "args": [str(program)]}}
    async with shown("weather", mcpServers=servers) as host:
        page = await host.page("tools")
        await page.click("[data-tool=plugin__pictures__draw]")
        tags = await page.until("document.querySelector('[data-tried] .tags')?.innerText")
        await page.click("[data-tried] button[type=submit]")
        await page.until(f"{OUTCOME}.dataset.kind === 'good'")
        widths = await page.until(
            "(found => found.every(one => one.complete) && found.map(one => one.naturalWidth))"
            "([...document.querySelectorAll('.answer img')])"
        )
        result = await page.value(RESULT)
        assert page.problems == []
    assert "reads only" in tags
    assert widths == [1]
    assert "of a kind that is not shown here" in result  # markup with scripts may be in an SVG
    assert '"size": 12345678901234567890' in result


async def test_what_a_hostile_plugin_names_and_puts_out_is_text(shown: Any) -> None:
    async with shown("hostile") as host:
        page = await host.page("tools")
        await page.click("[data-tool=plugin__hostile__t]")
        form = await page.until("document.querySelector('[data-tried]').innerText")
        await page.click("[data-tried] form textarea")  # its field named requestSubmit
        await page.press("Enter", ctrl=True)
        await page.until(f"{OUTCOME}.dataset.kind === 'good'")
        result = await page.value(RESULT)
        for tab in ("plugins", "logs"):
            await page.click(f"#tab-{tab}")
            await page.until(f"document.querySelector('#panel-{tab}').innerText.includes('<img')")
        foreign = await page.value("document.querySelectorAll('main img, main script').length")
        assert await page.value("document.title") == "tinyhost"
        assert page.problems == []
    assert form.count(HOSTILE) >= 3
    assert "⟨U+202E⟩gpj.exe" in form  # which would be shown as exe.jpg
    assert result.count(HOSTILE) >= 2
    assert foreign == 0


async def test_a_form_is_kept_while_the_plugin_and_other_tools_change(shown: Any) -> None:
    async with shown("weather", "guard") as host:
        page = await host.page("tools")
        await page.click(f"[data-tool={FORECAST}]")
        await page.click(f"{field('place')} textarea")
        await page.type("Bern")
        await host.running.unload("guard")
        await page.until("!document.querySelector('[data-plugin=guard]')")
        await page.click(f"[data-tool={STATIONS}]")
        await page.click(f"[data-tool={FORECAST}]")
        assert (
            await page.value(f"document.querySelector('{field('place')} textarea').value") == "Bern"
        )
        await host.running.unload("weather")
        await page.until(
            "document.querySelector('[data-tried]').innerText.includes('not loaded any more')"
        )
