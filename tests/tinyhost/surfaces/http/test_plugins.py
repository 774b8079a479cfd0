"""Plugins over HTTP, in the form that tinycode's clients know."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinyhost import registry

AddPlugin = Callable[[str, str], Path]

ECHO = """
handshake(tools=("echo",), hooks=("my.event",))
serve(
    on_tool=lambda p: {"content": json.dumps(p["args"])},
    on_hook=lambda p: print(json.dumps(p), file=sys.stderr, flush=True) or {},
)
"""


async def test_a_load_answers_with_the_id_under_which_the_plugin_is_then_listed(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        before = await host.get("/plugin")
        loaded = await host.post("/plugin/load", {"name": "echo"})
        listed = await host.get("/plugin")
    assert loaded["status"] == "loaded"
    assert loaded["name"] == "echo"
    assert [p["id"] for p in listed if p["name"] == "echo"] == [loaded["id"]]
    assert loaded["id"].startswith("plg_")
    assert "echo" not in [p["name"] for p in before]


async def test_options_of_a_load_reach_the_plugin(served: Any, add_plugin: AddPlugin) -> None:
    add_plugin(
        "echo", 'r = recv()\nreply(r, {"version": json.dumps(r["params"]["options"])})\nserve()'
    )
    async with served() as host:
        loaded = await host.post("/plugin/load", {"name": "echo", "options": {"a": [1]}})
    assert json.loads(loaded["plugin"]["version"]) == {"a": [1]}


async def test_a_plugin_that_is_loaded_already_is_a_conflict(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        loaded = await host.post("/plugin/load", {"name": "echo"})
        refused = await host.post("/plugin/load", {"name": "echo"}, 409)
    assert refused["detail"]["type"] == "PluginAlreadyLoaded"
    assert refused["detail"]["id"] == loaded["id"]
    assert "already loaded: echo" in refused["error"]


async def test_a_guard_that_is_not_there_any_more_is_shown_and_can_be_given_up(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    program = add_plugin("guard", 'handshake(hooks=("permission.ask",))\nserve()')
    configure(permissions={"allow": ["plugin__*"]})
    notify, args = "/tool/plugin__notify__notify/call", {"args": {"title": "a", "message": "b"}}
    async with served() as host:
        await host.post("/plugin/load", {"name": "guard"})
        await host.client.delete("/plugin/guard")
        program.unlink()
        await host.post("/plugin/load", {"name": "guard"}, 404)
        refused = await host.post(notify, args, 403)
        failed = (await host.get("/status"))["failed"]
        again = await host.post("/plugin/guard/restart", {}, 404)
        given_up = await host.client.delete("/plugin/guard")
        later = await host.client.post(notify, json=args)
    assert "restart the guard" in refused["error"]
    assert [one["name"] for one in failed] == ["guard"]
    assert again["detail"]["searched"]  # so it was looked for
    assert given_up.status_code == 204
    assert later.status_code != 403


async def test_an_unknown_plugin_is_not_found_with_the_places_that_were_looked_at(
    served: Any,
) -> None:
    async with served() as host:
        refused = await host.post("/plugin/load", {"name": "nosuch"}, 404)
        status = await host.get("/status")
    assert refused["detail"]["type"] == "PluginNotFound"
    assert refused["detail"]["searched"]
    assert status["failed"] == []


async def test_a_registry_plugin_that_is_not_installed_is_not_found_with_a_hint(
    served: Any,
) -> None:
    missing = next(entry for entry in registry.entries() if not entry.shipped)
    async with served() as host:
        refused = await host.post("/plugin/load", {"name": missing.name}, 404)
    assert refused["detail"]["type"] == "PluginNotInstalled"
    assert refused["detail"]["hint"]


async def test_a_builtin_needs_no_loading_and_is_skipped(served: Any) -> None:
    async with served() as host:
        skipped = await host.post("/plugin/load", {"name": "handoff"})
    assert skipped["status"] == "skipped"
    assert skipped["id"] == skipped["plugin"]["id"]


async def test_a_plugin_that_fails_to_start_is_a_failure_behind_the_host(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("broken", "sys.exit('no luck today')")
    async with served() as host:
        refused = await host.post("/plugin/load", {"name": "broken"}, 502)
        [failed] = (await host.get("/status"))["failed"]
    assert refused["detail"]["type"] == "LoadError"
    assert refused["detail"]["stage"] == "handshake"
    assert "no luck today" in refused["error"]
    assert failed["name"] == "broken"


async def test_a_load_without_a_good_name_is_refused(served: Any) -> None:
    async with served() as host:
        for body in ({}, {"name": ""}, {"name": 3}, {"name": "../../x"}, {"name": None}):
            refused = await host.post("/plugin/load", body, 400)
            assert "name" in refused["error"]
        refused = await host.post("/plugin/load", {"name": "x" * 100_000}, 400)
    assert len(refused["error"]) < 2000  # what does not fit is told, and not all of it


async def test_options_that_are_null_count_as_left_out(served: Any, add_plugin: AddPlugin) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        assert await host.post("/plugin/load", {"name": "echo", "options": None})


async def test_an_unload_by_id_answers_nothing_and_takes_the_plugin_away(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        loaded = await host.post("/plugin/load", {"name": "echo"})
        answer = await host.client.post("/plugin/unload", json={"id": loaded["id"]})
        again = await host.post("/plugin/unload", {"id": loaded["id"]}, 404)
        names = [plugin["name"] for plugin in await host.get("/plugin")]
    assert (answer.status_code, answer.content) == (204, b"")
    assert again["detail"]["type"] == "PluginNotFound"
    assert "echo" not in names


async def test_a_delete_by_name_unloads_too(served: Any, add_plugin: AddPlugin) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        await host.post("/plugin/load", {"name": "echo"})
        gone = await host.client.delete("/plugin/echo")
        again = await host.client.delete("/plugin/echo")
    assert (gone.status_code, again.status_code) == (204, 404)


async def test_a_builtin_can_be_neither_unloaded_nor_restarted(served: Any) -> None:
    async with served() as host:
        refused = await host.client.delete("/plugin/handoff")
        again = await host.client.post("/plugin/handoff/restart")
    assert (refused.status_code, again.status_code) == (409, 409)
    assert "built in" in refused.json()["error"]


async def test_a_restart_gives_the_plugin_another_process(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        loaded = await host.post("/plugin/load", {"name": "echo"})
        restarted = await host.post("/plugin/echo/restart")
    assert restarted["id"] == loaded["id"]
    assert restarted["pid"] != loaded["plugin"]["pid"]


async def test_an_event_reaches_the_plugins_that_declared_it(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("echo", ECHO)
    async with served() as host:
        await host.post("/plugin/load", {"name": "echo"})
        body = {"event": "my.event", "sessionID": "s1", "data": {"n": 1}}
        said = await host.post("/plugin/event", body)
        log = await host.get("/plugin/echo/log")
    assert said["status"] == "ok"
    assert [p["name"] for p in said["plugins"]] == ["echo"]
    expected = {"event": "my.event", "sessionId": "s1", "data": {"n": 1}}
    assert json.loads(log["lines"][-1])["input"] == expected


async def test_an_event_that_nobody_declared_is_taken_all_the_same(served: Any) -> None:
    async with served() as host:
        said = await host.post("/plugin/event", {"event": "nobody.cares"})
    assert said == {"status": "ok", "plugins": []}


async def test_the_names_of_hooks_are_reserved_and_no_events(
    served: Any, add_plugin: AddPlugin
) -> None:
    add_plugin("echo", ECHO.replace('"my.event"', '"dispose", "session.start"'))
    async with served() as host:
        await host.post("/plugin/load", {"name": "echo"})
        for name in ("dispose", "session.start", "permission.ask", "shell.env"):
            refused = await host.post("/plugin/event", {"event": name}, 400)
            assert name in refused["error"]
        log = await host.get("/plugin/echo/log")
    assert log["lines"] == []


async def test_the_registry_is_searched_by_word_and_category(served: Any) -> None:
    async with served() as host:
        everything = await host.get("/plugin/registry")
        some = await host.get("/plugin/registry?search=safety&category=security")
    assert len(everything) == len(registry.entries())
    assert "safety-net" in [entry["name"] for entry in some]
    assert len(some) < len(everything)
    assert all("repo" not in entry or entry["repo"] for entry in everything)


async def test_the_last_lines_of_a_log_are_shown_across_its_rotation(
    served: Any, add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("echo", ECHO)
    logs = home / "state" / "logs"
    logs.mkdir()
    (logs / "plugin-echo.log.1").write_text("one\ntwo\n")
    (logs / "plugin-echo.log").write_text("three\nfour\n")
    async with served() as host:
        await host.post("/plugin/load", {"name": "echo"})
        log = await host.get("/plugin/echo/log?lines=3")
        unknown = await host.client.get("/plugin/nosuch/log")
    assert log["lines"] == ["two", "three", "four"]
    assert log["path"].endswith("plugin-echo.log")
    assert unknown.status_code == 404
