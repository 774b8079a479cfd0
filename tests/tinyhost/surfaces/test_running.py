"""What clients do with a running host: calls, questions, commands, sessions, events."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tinyhost import events, running
from tinyhost.paths import state_dir

from .conftest import InService, until

AddPlugin = Callable[[str, str], Path]


@pytest.fixture
def add_listener(add_plugin: AddPlugin, home: Path) -> Callable[..., Callable[[], list[Any]]]:
    """add_listener(*hooks, name=...): a plugin of which one can see what hooks it was sent.

    Gives back a function for that: [hook, input] for each, in order.
    """

    def add(*hooks: str, name: str = "listener") -> Callable[[], list[Any]]:
        log = home / f"{name}.log"
        log.touch()
        body = f"""
            log = open({str(log)!r}, "a", buffering=1)
            handshake(hooks={list(hooks)!r})
            def hook(params):
                print(json.dumps([params["name"], params["input"]]), file=log)
                return {{}}
            serve(on_hook=hook)
        """
        add_plugin(name, body)
        return lambda: [json.loads(line) for line in log.read_text().splitlines()]

    return add


# --- questions to the client


ASK = {"permissions": {"ask": ["bash"]}}
JUDGE = {"tool": "bash", "args": {"command": "make"}, "session": "s", "asks": True}


@pytest.mark.parametrize(
    ("answer", "action", "why"),
    [
        ({"result": {"reply": "once"}}, "allow", ""),
        ({"result": {"reply": "no"}}, "deny", "did not allow it"),
        ({"result": {"reply": "no", "refusal": "she is away"}}, "deny", "she is away"),
        ({"result": {"reply": "perhaps"}}, "deny", ""),
        ({"result": "once"}, "deny", ""),
        ({"result": {"reply": True}}, "deny", ""),
        ({"error": {"code": 1, "message": "no terminal"}}, "deny", ""),
        ({"result": {}, "error": {"code": 1, "message": "both"}}, "deny", ""),
    ],
)
async def test_only_a_yes_of_the_client_allows_a_call(
    in_service: InService,
    configure: Callable[..., None],
    answer: dict[str, Any],
    action: str,
    why: str,
) -> None:
    configure(**ASK)
    async with in_service() as host, host.connect() as client:
        asked = await client.start("call/judge", **JUDGE)
        question = await client.request("ask")
        assert question["params"]["tool"] == "bash"
        assert question["params"]["argsText"] == '{"command":"make"}'
        assert {"once", "session", "no"} <= set(question["params"]["replies"])
        await client.send({"jsonrpc": "2.0", "id": question["id"], **answer})
        verdict = (await client.answer(asked))["result"]
        assert verdict["action"] == action
        assert why in verdict["reason"]


async def test_a_question_goes_to_the_client_that_calls_and_to_no_other(
    in_service: InService, configure: Callable[..., None]
) -> None:
    configure(**ASK)
    async with in_service() as host, host.connect() as one, host.connect() as two:
        asked = {client: await client.start("call/judge", **JUDGE) for client in (one, two)}
        for client, reply in ((two, "no"), (one, "once")):
            question = await client.request("ask")
            result = {"jsonrpc": "2.0", "id": question["id"], "result": {"reply": reply}}
            await client.send(result)
        actions = [(await client.answer(id))["result"]["action"] for client, id in asked.items()]
        assert actions == ["allow", "deny"]
        assert not one.requests
        assert not two.requests


async def test_a_client_that_cannot_ask_is_denied_with_the_way_out(
    in_service: InService, configure: Callable[..., None]
) -> None:
    configure(**ASK)
    async with in_service() as host, host.connect() as client:
        verdict = await client.call("call/judge", **{**JUDGE, "asks": False})
        assert verdict["action"] == "deny"
        assert host.running.host.config.file in verdict["reason"]


async def test_a_client_with_a_user_of_its_own_is_left_to_ask(
    in_service: InService, configure: Callable[..., None]
) -> None:
    configure(**ASK)
    async with in_service() as host, host.connect() as client:
        verdict = await client.call("call/judge", **{**JUDGE, "asks": False, "origin": "client"})
        assert verdict["action"] == "ask"
        wrong = await client.error("call/judge", **{**JUDGE, "origin": "root"})
        assert "origin must be one of person, client, program" in wrong["message"]


async def test_an_answer_for_the_session_counts_in_it_and_ends_with_it(
    in_service: InService, configure: Callable[..., None]
) -> None:
    configure(**ASK)
    async with in_service() as host, host.connect() as client, host.connect() as other:
        await client.call("session/start", session="s")
        asked = await client.start("call/judge", **JUDGE)
        question = await client.request("ask")
        result = {"jsonrpc": "2.0", "id": question["id"], "result": {"reply": "session"}}
        await client.send(result)
        assert (await client.answer(asked))["result"]["action"] == "allow"
        # Another connection, the same session.
        judge = {**JUDGE, "asks": False}
        assert (await other.call("call/judge", **judge))["action"] == "allow"
        assert (await other.call("call/judge", **{**judge, "session": "t"}))["action"] == "deny"
        await client.call("session/end", session="s")
        assert (await other.call("call/judge", **judge))["action"] == "deny"


async def test_a_client_that_goes_instead_of_answering_leaves_no_call_behind(
    in_service: InService, configure: Callable[..., None]
) -> None:
    configure(**ASK)
    async with in_service() as host:
        async with host.connect() as client:
            await client.start("shell/run", command=["make"], asks=True)
            await client.request("ask")
            assert host.running.status()["sessions"] == 1
        await until(lambda: host.running.status()["sessions"] == 0)


# --- commands that the client runs


async def test_the_client_runs_the_command_that_plugins_agreed_on(
    in_service: InService,
    add_plugin: AddPlugin,
    add_listener: Callable[..., Callable[[], list[Any]]],
    configure: Callable[..., None],
    home: Path,
) -> None:
    body = """
        handshake(hooks=["shell.env"])
        serve(on_hook=lambda p: {"output": {"env": {"ADDED": "1", "CHANGED": "new"}}})
    """
    add_plugin("env", body)
    heard = add_listener("tool.execute.after")
    configure("env", "listener")
    async with in_service() as host, host.connect() as client:
        env = {"CHANGED": "old", "KEPT": "k"}
        asked = await client.start("shell/run", command=["make", "a b"], env=env)
        wanted = await client.request("exec")
        assert wanted["params"] == {
            "argv": ["make", "a b"],
            "env": {"ADDED": "1", "CHANGED": "new"},
            "directory": str(home),
        }
        await client.send({"jsonrpc": "2.0", "id": wanted["id"], "result": {"returncode": 3}})
        done = (await client.answer(asked))["result"]
    assert (done["denied"], done["args"], done["contexts"]) == (False, None, [])
    [[_, after]] = heard()
    assert json.loads(after["toolArgs"]) == {"command": "make 'a b'"}
    assert (after["output"], after["isError"]) == ("the command exited with status 3", True)


async def test_a_denied_command_is_not_run_and_why_is_told(
    in_service: InService, configure: Callable[..., None]
) -> None:
    configure(permissions={"deny": ["bash(make *)"]})
    async with in_service() as host, host.connect() as client:
        text = {"shell": "make all"}
        done = await client.call("shell/run", **text)
        assert done["denied"]
        assert "make *" in done["reason"]
        assert not client.requests


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"error": {"code": -1, "message": "make: there is no such program"}}, "no such program"),
        ({"result": {}}, "did not say how it ended"),
        ({"result": {"returncode": True}}, "did not say how it ended"),
        ({"result": {"returncode": "0"}}, "did not say how it ended"),
    ],
)
async def test_a_command_that_the_client_could_not_run_is_an_error(
    in_service: InService, answer: dict[str, Any], said: str
) -> None:
    async with in_service() as host, host.connect() as client:
        asked = await client.start("shell/run", command=["make"])
        wanted = await client.request("exec")
        await client.send({"jsonrpc": "2.0", "id": wanted["id"], **answer})
        assert said in (await client.answer(asked))["error"]["message"]
        assert (await client.call("host/status"))["sessions"] == 0


@pytest.mark.parametrize("given", [{}, {"command": []}, {"command": ["a"], "shell": "a"}])
async def test_a_command_is_words_or_text(in_service: InService, given: dict[str, Any]) -> None:
    async with in_service() as host, host.connect() as client:
        told = await client.error("shell/run", **given)
        assert (told["code"], told["message"]) == (-32602, "give command, or shell")


async def test_a_directory_is_absolute(in_service: InService) -> None:
    async with in_service() as host, host.connect() as client:
        for method in ("shell/run", "session/start", "tool/call"):
            more = {"command": ["a"], "tool": "plugin__handoff__handoff_list", "directory": "here"}
            told = await client.error(method, **more)
            assert told["code"] in (-32602, -32000)
        told = await client.error("session/start", directory="here")
        assert told["message"] == "directory must be an absolute path"


# --- sessions


async def test_each_connection_has_sessions_of_its_own_and_plugins_hear_of_each_once(
    in_service: InService,
    add_listener: Callable[..., Callable[[], list[Any]]],
    configure: Callable[..., None],
    home: Path,
) -> None:
    heard = add_listener("session.start", "session.end")
    configure("listener")
    async with in_service() as host, host.connect() as one, host.connect() as two:
        first = await one.call("session/start", session="first", directory="/")
        second = await two.call("session/start")
        assert first["session"] == "first"
        assert second["session"].startswith("ses_")
        directories = {session.id: session.directory for session in host.running.host.sessions}
        assert directories == {"first": "/", second["session"]: str(home)}
        # A call in a session that has begun begins no other, whoever makes it.
        await two.call("shell/env", session="first")
        await one.call("session/end", session="first")
        assert host.running.status()["sessions"] == 1
        await two.call("session/end", session=second["session"])
    names = [(name, input["sessionId"]) for name, input in heard()]
    assert names == [
        ("session.start", "first"),
        ("session.start", second["session"]),
        ("session.end", "first"),
        ("session.end", second["session"]),
    ]


async def test_a_call_works_where_its_session_does_unless_it_says_otherwise(
    in_service: InService,
    add_listener: Callable[..., Callable[[], list[Any]]],
    configure: Callable[..., None],
    home: Path,
) -> None:
    heard = add_listener("shell.env")
    configure("listener")
    async with in_service() as host, host.connect() as client:
        await client.call("session/start", session="s", directory="/")
        await client.call("shell/env", session="s")
        await client.call("shell/env", session="s", directory=str(home / "config"))
    assert [input["directory"] for _, input in heard()] == ["/", str(home / "config")]


async def test_a_session_outlives_the_connection_that_began_it(in_service: InService) -> None:
    async with in_service() as host:
        async with host.connect() as client:
            await client.call("session/start", session="s")
        async with host.connect() as client:
            assert host.running.begun("s")
            await client.call("session/end", session="s")
        assert not host.running.begun("s")


async def test_sessions_that_are_never_ended_are_bounded_and_the_longest_unused_go(
    in_service: InService,
    add_listener: Callable[..., Callable[[], list[Any]]],
    configure: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "_SESSIONS", 3)
    heard = add_listener("session.end")
    configure("listener", permissions={"deny": ["bash"]})
    async with in_service() as host, host.connect() as client:

        def there() -> list[str]:
            return sorted(session.id for session in host.running.host.sessions)

        for name in "abc":
            await client.call("session/start", session=name)
        await client.call("call/judge", **{**JUDGE, "session": "a"})  # so that b is the oldest
        await client.call("session/start", session="d")
        assert there() == ["a", "c", "d"]
        assert [input["sessionId"] for _, input in heard()] == ["b"]
        await client.call("session/end", session="c")
        await client.call("session/start", session="e")
        assert there() == ["a", "d", "e"]
        # What is done in one that is over is still judged, and it can begin again.
        assert (await client.call("call/judge", **{**JUDGE, "session": "b"}))["action"] == "deny"
        await client.call("session/start", session="b")
        assert "b" in there()
        for number in range(20):
            await client.start("session/start", session=str(number))
        await client.call("session/start", session="last")
        await until(lambda: len(there()) <= 3)


async def test_a_session_of_a_call_is_over_when_the_call_is(
    in_service: InService,
    add_plugin: AddPlugin,
    add_listener: Callable[..., Callable[[], list[Any]]],
    configure: Callable[..., None],
) -> None:
    add_plugin("good", "handshake()\nserve()\n")
    heard = add_listener("session.start", "session.end")
    configure("good", "listener")
    async with in_service() as host, host.connect() as client:
        await client.call("tool/call", tool="plugin__good__t", session="mine")
        assert (await client.error("tool/call", tool="plugin__none__t"))["code"] == -32000
        assert [name for name, _ in heard()] == ["session.start", "session.end"]
        assert {input["sessionId"] for _, input in heard()} == {"mine"}
        assert host.running.status()["sessions"] == 0


# --- events


async def test_events_are_numbered_without_gaps_and_told_to_all_who_follow(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    add_plugin("good", "handshake()\nserve()\n")
    configure("good")
    async with in_service() as host, host.connect() as one, host.connect() as two:
        last = (await one.call("events/follow", since=0))["last"]
        assert last > 0
        await two.call("events/follow")  # from now on
        await two.call("tool/call", tool="plugin__good__t", session="s")
        end = host.running.events.last
        seen = []
        while not seen or seen[-1]["seq"] < end:
            seen.append(await one.note("event"))
        assert [event["seq"] for event in seen] == list(range(1, end + 1))
        loaded = [e["plugin"] for e in seen if e["kind"] == "plugin" and e["event"] == "loaded"]
        assert "good" in loaded
        kinds = [event["kind"] for event in seen if event.get("session") == "s"]
        assert (kinds[0], kinds[-1]) == ("session", "session")
        assert {"decision", "call"} <= set(kinds)
        assert (await two.note("event"))["seq"] == last + 1


async def test_a_follower_that_was_too_slow_sees_a_gap(
    in_service: InService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_PAST", 5)
    async with in_service() as host, host.connect() as client:
        for number in range(20):
            host.running.events.publish("notice", {"text": str(number)})
        end = host.running.events.last
        await client.call("events/follow", since=0)
        numbers = [(await client.note("event"))["seq"] for _ in range(5)]
        assert numbers == list(range(end - 4, end + 1))


async def test_one_who_reads_at_once_misses_nothing_however_much_happens_at_a_time(
    in_service: InService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_PAST", 200)
    async with in_service() as host, host.connect() as client, trio.open_nursery() as nursery:
        last = (await client.call("events/follow"))["last"]
        end = last + 3000
        nursery.start_soon(publish_ten_at_a_time, host.running.events, 3000)
        numbers = []
        while not numbers or numbers[-1] < end:
            numbers.append((await client.note("event"))["seq"])
        assert numbers == list(range(last + 1, end + 1))


async def publish_ten_at_a_time(bus: events.EventBus, count: int) -> None:
    for number in range(count):
        bus.publish("notice", {"text": str(number)})
        if number % 10 == 9:
            await trio.lowlevel.checkpoint()


def test_a_batch_is_bounded_and_never_empty_while_there_is_more() -> None:
    bus = events.EventBus()
    for size in (100_000, 10, 10, 70_000):
        bus.publish("notice", {"text": "x" * size})
    assert [event.seq for event in bus.batch(0)] == [1]
    assert [event.seq for event in bus.batch(1)] == [2, 3]
    assert [event.seq for event in bus.batch(3)] == [4]
    assert bus.batch(4) == []


async def test_one_who_does_not_read_misses_the_oldest_and_costs_a_bounded_past(
    in_service: InService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_PAST_SIZE", 100_000)
    async with in_service() as host, host.connect() as client:
        await client.call("events/follow")
        bus = host.running.events
        for _ in range(300):
            bus.publish("notice", {"text": "x" * 10_000})
            await trio.lowlevel.checkpoint()
        assert sum(len(event.text) for event in bus.since(0)) <= 110_000
        end, numbers = bus.last, [0]
        while numbers[-1] < end:
            numbers.append((await client.note("event"))["seq"])
        assert numbers == sorted(set(numbers))
        assert len(numbers) - 1 < 300


async def test_a_connection_follows_once_and_from_a_number_that_makes_sense(
    in_service: InService,
) -> None:
    async with in_service() as host, host.connect() as client:
        assert (await client.error("events/follow", since=-1))["code"] == -32602
        assert (await client.error("events/follow", since="1"))["code"] == -32602
        await client.call("events/follow", since=10**12)
        told = await client.error("events/follow")
        assert (told["code"], told["message"]) == (
            -32602,
            "this connection follows the events already",
        )
        host.running.events.publish("notice", {"text": "now"})
        assert (await client.note("event"))["text"] == "now"


async def test_an_event_shows_no_secret(
    in_service: InService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cr3t-and-long-enough")
    async with in_service() as host, host.connect() as client:
        await client.call("events/follow")
        judge = {**JUDGE, "asks": False, "args": {"command": "echo s3cr3t-and-long-enough"}}
        await client.call("call/judge", **judge)
        text = json.dumps(await client.note("event"))
        assert "echo" in text
        assert "s3cr3t" not in text


@pytest.mark.parametrize("method", ["call/judge", "shell/env"])
async def test_what_is_secret_for_a_client_is_no_less_so_in_events_and_journal(
    in_service: InService, method: str
) -> None:
    secret = "only-the-client-has-it"
    judge = {**JUDGE, "asks": False, "args": {"command": f"echo {secret}"}, "session": "ses_c"}
    async with in_service() as host, host.connect() as client:
        await client.call("session/start", session="ses_c")
        await client.call("events/follow")
        env = {"NPM_TOKEN": secret}
        if method == "shell/env":
            await client.call(method, session="ses_c", env=env)
            await client.call("call/judge", **judge)
        else:
            await client.call("call/judge", **judge, env=env)
        text = json.dumps(await client.note("event"))
        [journal] = (state_dir(os.environ) / "journal").glob("ses_c*")
        assert "echo [redacted]" in text
        assert "echo [redacted]" in journal.read_text()
        assert secret not in text + journal.read_text()


@pytest.mark.parametrize("where", ["options", "env"])
async def test_what_is_secret_for_a_plugin_gets_into_no_event_and_no_journal(
    where: str, in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    secret = "only-the-plugin-has-it"
    add_plugin(
        "leaky", f"handshake(tools=('t',))\nserve(on_tool=lambda p: {{'content': {secret!r}}})\n"
    )
    settings = {"leaky": {"env": {"LEAKY_TOKEN": secret}}} if where == "env" else {}
    configure(settings=settings, permissions={"allow": ["*"]})
    async with in_service() as host, host.connect() as client:
        options = {"apiToken": secret} if where == "options" else {}
        await client.call("plugin/load", names=["leaky"], options=options)
        await client.call("session/start", session="ses_c")
        outcome = await client.call("tool/call", tool="plugin__leaky__t", session="ses_c")
        assert outcome["content"] == secret
        [journal] = (state_dir(os.environ) / "journal").glob("ses_c*")
        told = "".join(event.text for event in host.running.events.since(0))
    for text in (told, journal.read_text()):
        assert '"result":"[redacted]"' in text.replace(": ", ":")
        assert secret not in text


# --- plugins


async def test_a_plugin_is_loaded_restarted_and_unloaded_by_a_client(
    in_service: InService, add_plugin: AddPlugin
) -> None:
    add_plugin("one", "handshake()\nserve()\n")
    add_plugin("two", "sys.exit(3)\n")
    async with in_service() as host, host.connect() as client:
        loaded = (await client.call("plugin/load", names=["one", "two", "one"]))["plugins"]
        assert [(one["name"], one["loaded"]) for one in loaded] == [("one", True), ("two", False)]
        told = [(await client.note("loaded"))["name"] for _ in range(2)]
        assert sorted(told) == ["one", "two"]
        again = (await client.call("plugin/load", names=["one"]))["plugins"]
        assert again[0]["error"]["type"] == "PluginAlreadyLoaded"
        before = host.pids()["one"]
        restarted = await client.call("plugin/restart", plugin="one")
        assert restarted["pid"] not in (None, before)
        await client.call("plugin/unload", plugin="one")
        assert host.pids() == {}
        assert (await client.error("plugin/unload", plugin="one"))["data"]["type"] == (
            "PluginNotFound"
        )


async def test_what_a_client_names_has_to_be_loaded(in_service: InService) -> None:
    async with in_service() as host, host.connect() as client:
        told = await client.error("tool/list", plugins=["none"])
        assert told["code"] == -32004
        for wrong in ("none", [1], {}):
            assert (await client.error("tool/list", plugins=wrong))["code"] == -32602


async def test_the_status_says_where_and_what_the_host_is(
    in_service: InService, home: Path
) -> None:
    async with in_service() as host, host.connect() as client:
        status = await client.call("host/status")
    assert status["pid"] == os.getpid()
    assert status["config"] == str(home / "config" / "config.json")
    assert (status["project"], status["directory"]) == (None, str(home))
    assert status["addresses"] == {"control": host.path}
