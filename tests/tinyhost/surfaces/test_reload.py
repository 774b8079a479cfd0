"""Reading the configuration anew: what is to be done, and that nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tinyhost import Session
from tinyhost.config import Config, load_config
from tinyhost.model import PluginSpec
from tinyhost.permissions import Action
from tinyhost.reload import plan
from tinyhost.surfaces import serving

from .conftest import Hosted, InService, alive, until

AddPlugin = Callable[[str, str], Path]
PLAIN = "handshake()\nserve()\n"

# --- the plan

_OPTIONS = st.sampled_from([{}, {"level": 1}, {"level": 2}])
_LISTS = st.dictionaries(st.sampled_from("abcdef"), _OPTIONS, max_size=6)


def config(listed: dict[str, dict[str, Any]]) -> Config:
    specs = [PluginSpec(name, options) for name, options in listed.items()]
    return Config(file="/c", exists=True, specs=specs)


@given(_LISTS, _LISTS, st.sets(st.sampled_from("abcdefxyz")))
def test_carrying_out_a_plan_gives_what_the_new_configuration_lists_and_what_came_by_hand(
    old: dict[str, Any], new: dict[str, Any], loaded: set[str]
) -> None:
    todo = plan(config(old), config(new), loaded)
    restart, load = [s.name for s in todo.restart], [s.name for s in todo.load]
    names = [*todo.unload, *load, *restart, *todo.keep]
    assert len(names) == len(set(names))
    assert set(names) == new.keys() | (old.keys() & loaded)
    by_hand = loaded - old.keys() - new.keys()
    after = (loaded - set(todo.unload)) | set(load)
    assert after == new.keys() | by_hand
    assert all(spec.options == new[spec.name] for spec in (*todo.load, *todo.restart))
    assert all(old[name] == new[name] and name in loaded for name in todo.keep)
    assert set(load).isdisjoint(loaded)
    for part in (load, restart, list(todo.keep)):
        assert part == [name for name in new if name in part]  # in their order


@given(_LISTS)
def test_the_same_configuration_changes_nothing(listed: dict[str, Any]) -> None:
    todo = plan(config(listed), config(listed), listed.keys())
    assert (todo.unload, todo.load, todo.restart) == ([], [], [])
    assert list(todo.keep) == list(listed)


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("settings", {"one": {"timeouts": {"hook": "9s"}}}),
        ("settings", {"*": {"env": {"A": "b"}}}),
        ("settings", {"two": {"timeouts": {"hook": "9s"}}}),
        ("permissions", {"deny": ["bash(rm *)"]}),
    ],
)
def test_a_plugin_is_restarted_when_what_it_runs_with_has_changed(
    tmp_path: Path, key: str, changed: dict[str, Any]
) -> None:
    file = tmp_path / "config.json"

    def read(**more: Any) -> Config:
        file.write_text(json.dumps({"plugins": ["one"], **more}))
        return load_config(file)

    todo = plan(read(), read(**{key: changed}), {"one"})
    wanted = ["one"] if key == "settings" and "two" not in changed else []
    assert [spec.name for spec in todo.restart] == wanted


# --- carried out


async def reloaded(host: Hosted) -> dict[str, Any]:
    async with host.connect() as client:
        return await client.call("host/reload")  # type: ignore[no-any-return]


async def test_only_what_has_changed_is_swapped_and_the_order_follows_the_file(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    for name in ("stays", "changes", "goes", "comes", "by-hand"):
        add_plugin(name, PLAIN)
    configure("stays", "changes", "goes")
    async with in_service() as host:
        async with host.connect() as client:
            await client.call("plugin/load", names=["by-hand"])
        before = host.pids()
        configure("comes", ["changes", {"level": 2}], "stays")
        done = await reloaded(host)
        after = host.pids()
    assert {key: done[key] for key in ("loaded", "restarted", "unloaded", "unchanged")} == {
        "loaded": ["comes"],
        "restarted": ["changes"],
        "unloaded": ["goes"],
        "unchanged": ["stays"],
    }
    assert list(after) == ["comes", "changes", "stays", "by-hand"]
    assert [name for name in before if after.get(name) == before[name]] == ["stays", "by-hand"]
    assert not alive(before["goes"])
    assert not alive(before["changes"])


async def test_a_configuration_that_the_system_does_not_give_changes_nothing(
    in_service: InService,
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreadable() -> Config:
        raise FileNotFoundError("on purpose")

    add_plugin("one", PLAIN)
    configure("one")
    async with in_service() as host, host.connect() as client:
        monkeypatch.setattr(host.running, "_reread", unreadable)
        error = await client.error("host/reload")
        await serving.reload(host.running)  # as on SIGHUP
        assert host.pids().keys() == {"one"}
    assert (error["code"], error["data"]["type"]) == (-32003, "ConfigError")
    assert "on purpose" in error["message"]


async def test_plugins_are_asked_in_the_order_of_the_file_after_a_reload(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    for name in ("one", "two", "three"):
        add_plugin(name, "handshake(hooks=['permission.ask'])\nserve()\n")
    configure("one", "two", "three")
    use = {"toolName": "bash", "toolArgs": "{}"}
    async with in_service() as host, host.connect() as client:
        for order in (["one", "two", "three"], ["three", "one", "two"]):
            configure(*order)
            await client.call("host/reload")
            done = await client.call("hook/invoke", hook="permission.ask", input=use)
            assert [answer["name"] for answer in done["plugins"]] == order


async def test_a_bad_configuration_is_refused_and_changes_nothing(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    add_plugin("one", PLAIN)
    configure("one")
    async with in_service() as host, host.connect() as client:
        before, told = host.pids(), host.running.host.config
        (home / "config" / "config.json").write_text('{"plugins": ')
        error = await client.error("host/reload")
        assert (error["code"], error["data"]["type"]) == (-32003, "ConfigError")
        assert host.pids() == before
        assert host.running.host.config is told


async def test_a_configuration_that_is_gone_takes_no_guard_away(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    add_plugin("one", PLAIN)
    configure("one")
    async with in_service() as host, host.connect() as client:
        before = host.pids()
        (home / "config" / "config.json").unlink()
        error = await client.error("host/reload")
        assert (error["code"], error["data"]["type"]) == (-32003, "ConfigError")
        assert "it is gone, so nothing was changed" in error["message"]
        assert host.pids() == before
        (home / "config" / "config.json").write_text("{}")
        assert (await client.call("host/reload"))["unloaded"] == ["one"]


async def test_rules_and_shell_hooks_count_from_the_reload_on(
    in_service: InService, configure: Callable[..., None]
) -> None:
    judge = {"tool": "bash", "args": {"command": "rm -rf x"}, "session": "s"}
    hook = {"hooks": {"tool.execute.before": [{"command": "echo no >&2; exit 1"}]}}
    rule = {"permissions": {"deny": ["bash(rm *)"]}}
    async with in_service() as host, host.connect() as client:
        for keys, action in (({}, None), (rule, "deny"), ({}, None), (hook, "deny"), ({}, None)):
            configure(**keys)
            await client.call("host/reload")
            assert (await client.call("call/judge", **judge))["action"] == action


async def test_a_guard_that_is_being_restarted_lets_nothing_through(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    go, begun = home / "go", home / "begun"
    body = f"""
        if os.path.exists({str(begun)!r}):
            open({str(begun) + ".again"!r}, "w").close()
            while not os.path.exists({str(go)!r}):
                time.sleep(0.01)
        open({str(begun)!r}, "w").close()
        handshake(hooks=["permission.ask"])
        serve()
    """
    add_plugin("guard", body)
    judge = {"tool": "bash", "args": {"command": "true"}, "session": "s", "origin": "program"}
    allow = {"permissions": {"allow": ["bash"]}}
    configure("guard", **allow)
    async with in_service() as host, host.connect() as client, host.connect() as other:
        assert (await other.call("call/judge", **judge))["action"] == "allow"
        configure(["guard", {"level": 2}], **allow)
        asked = await client.start("host/reload")
        await until(Path(f"{begun}.again").exists)
        # One that came in before the reload.
        verdict = await host.running.host.judge("bash", {"command": "true"}, Session("s", "/"))
        assert verdict.action is Action.DENY
        assert "guard" in verdict.reason
        assert "started anew" in verdict.reason
        # One that comes in now waits for the guard.
        waiting = await other.start("call/judge", **judge)
        await other.call("host/status")
        assert waiting not in other.answers
        go.touch()
        assert (await client.answer(asked))["result"]["restarted"] == ["guard"]
        assert (await other.answer(waiting))["result"]["action"] == "allow"


async def test_a_call_of_a_plugin_that_is_being_restarted_waits_for_it(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    add_plugin("slow", "time.sleep(0.3)\nhandshake()\nserve()\n")
    configure("slow")
    async with in_service() as host, host.connect() as client, host.connect() as other:
        configure(["slow", {"level": 2}])
        asked = await client.start("host/reload")
        while host.running.plugins()[-1]["name"] == "slow":
            await trio.sleep(0.001)
        assert (await other.call("tool/call", tool="plugin__slow__t"))["content"] == "ok"
        assert (await client.answer(asked))["result"]["restarted"] == ["slow"]


async def test_a_guard_that_does_not_come_back_lets_nothing_through_until_it_is_dropped(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    script = add_plugin("guard", "handshake(hooks=['permission.ask'])\nserve()\n")
    allow = {"permissions": {"allow": ["bash"]}}
    judge = {"tool": "bash", "args": {"command": "true"}, "session": "s", "origin": "program"}
    configure("guard", **allow)
    async with in_service() as host, host.connect() as client:
        script.write_text("#!/bin/sh\nexit 4\n")
        configure(["guard", {"level": 2}], **allow)
        done = await client.call("host/reload")
        assert [one["name"] for one in done["failed"]] == ["guard"]
        assert (await client.call("call/judge", **judge))["action"] == "deny"
        configure(**allow)
        assert (await client.call("host/reload"))["failed"] == []
        assert (await client.call("call/judge", **judge))["action"] == "allow"


async def test_one_that_failed_is_tried_again_by_a_reload(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    configure("late")
    async with in_service() as host, host.connect() as client:
        assert [one["name"] for one in host.running.failed()] == ["late"]
        add_plugin("late", PLAIN)
        done = await client.call("host/reload")
        assert (done["loaded"], done["failed"]) == (["late"], [])


async def test_what_is_built_in_stays_though_the_file_names_it_and_then_does_not(
    in_service: InService, configure: Callable[..., None]
) -> None:
    async with in_service() as host, host.connect() as client:
        built_in = [one["name"] for one in host.running.plugins()]
        assert built_in
        for listed in ([built_in[0]], [[built_in[0], {"level": 2}]], []):
            configure(*listed)
            done = await client.call("host/reload")
            assert (done["unloaded"], done["failed"]) == ([], [])
            assert [one["name"] for one in host.running.plugins()] == built_in


async def test_a_reload_is_done_to_its_end_when_its_client_goes(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    go, begun = home / "go", home / "begun"
    body = f"""
        if os.path.exists({str(begun)!r}):
            while not os.path.exists({str(go)!r}):
                time.sleep(0.01)
        open({str(begun)!r}, "w").close()
        handshake()
        serve()
    """
    add_plugin("one", body)
    configure("one")
    async with in_service() as host:
        before = host.pids()
        configure(["one", {"level": 2}])
        async with host.connect() as client:
            await client.start("host/reload")
            await until(lambda: host.pids() == {})
        go.touch()
        await until(lambda: host.pids() not in ({}, before))


async def test_a_reload_does_not_hold_up_a_stop(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    begun = home / "begun"
    add_plugin("stuck", f"open({str(begun)!r}, 'w').close()\ntime.sleep(600)\n")
    settings = {"settings": {"*": {"timeouts": {"handshake": "10m"}}}}
    configure(**settings)
    with trio.fail_after(20):
        async with in_service(grace=0.1) as host, host.connect() as client:
            configure("stuck", **settings)
            await client.start("host/reload")
            await until(begun.exists)


async def test_reloads_at_once_are_done_one_after_the_other(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    for name in ("one", "two"):
        add_plugin(name, PLAIN)
    configure("one")
    async with in_service() as host, host.connect() as client:
        configure("two")
        asked = [await client.start("host/reload") for _ in range(3)]
        done = [(await client.answer(id))["result"] for id in asked]
        assert sorted(one["loaded"] for one in done) == [[], [], ["two"]]
        assert list(host.pids()) == ["two"]
