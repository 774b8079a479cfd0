"""Tools, hooks, sessions and the journal over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

AddPlugin = Callable[[str, str], Path]

ALLOW = {"permissions": {"allow": ["*"]}}

ECHO = """
handshake(tools=("echo",), hooks=("session.start", "tool.execute.before"))
serve(
    on_tool=lambda p: {"content": json.dumps(p)},
    on_hook=lambda p: {"output": {"additionalContext": "from " + p["name"]}},
)
"""


@pytest.fixture
def configure(home: Path) -> Callable[..., None]:
    def write(**config: Any) -> None:
        (home / "config" / "config.json").write_text(json.dumps(config))

    return write


async def test_tools_are_listed_and_shown(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("echo", ECHO)
    configure(plugins=["echo"])
    async with served() as host:
        everything = await host.get("/tool")
        [own] = await host.get("/tool?plugin=echo&plugin=other")
        one = await host.get("/tool/plugin__echo__echo")
        unknown = await host.client.get("/tool/plugin__echo__nosuch")
    assert own == one
    assert own["id"] == "plugin__echo__echo"
    assert len(everything) > 1
    assert unknown.status_code == 404
    assert "plugin__echo__echo" in unknown.json()["detail"]["known"]


async def test_a_call_gets_arguments_as_they_are_written_and_a_session(
    served: Any, add_plugin: AddPlugin, configure: Any, home: Path
) -> None:
    add_plugin(
        "echo", "handshake()\nlines = []\nwhile (r := recv()): reply(r, {'content': str(r)})"
    )
    configure(plugins=["echo"], **ALLOW)
    async with served() as host:
        body = b'{"args": {"n": 12345678901234567890123, "f": 1.10}}'
        answer = await host.client.post("/tool/plugin__echo__t/call", content=body)
        sessions = await host.get("/session")
    said = answer.json()
    assert said["tool"] == "plugin__echo__t"
    assert "12345678901234567890123" in said["content"]
    assert said["isError"] is False
    assert said["ms"] > 0
    assert sessions == []


async def test_a_call_that_a_rule_denies_is_forbidden_with_the_decision(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("echo", ECHO)
    configure(plugins=["echo"], permissions={"deny": ["plugin__echo__*"]})
    async with served() as host:
        refused = await host.post("/tool/plugin__echo__echo/call", {}, 403)
    assert refused["detail"]["type"] == "CallDenied"
    assert refused["detail"]["decision"]


async def test_a_call_that_a_person_would_be_asked_about_is_denied_with_the_way_out(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("echo", ECHO)
    configure(plugins=["echo"], permissions={"ask": ["plugin__echo__*"]})
    async with served() as host:
        refused = await host.post("/tool/plugin__echo__echo/call", {}, 403)
    assert "config.json" in refused["error"]


async def test_a_call_of_a_plugin_that_dies_is_a_failure_behind_the_host(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("echo", "handshake()\nrecv()\nsys.exit(3)")
    configure(plugins=["echo"], **ALLOW)
    async with served() as host:
        refused = await host.post("/tool/plugin__echo__t/call", {}, 502)
    assert refused["detail"]["type"] == "OutcomeUncertain"


async def test_a_call_that_is_not_answered_in_time_is_a_timeout_behind_the_host(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("echo", "handshake()\nwhile recv(): pass")
    configure(plugins=["echo"], settings={"echo": {"timeouts": {"tool": "50ms"}}}, **ALLOW)
    async with served() as host:
        refused = await host.post("/tool/plugin__echo__t/call", {}, 504)
    assert refused["detail"]["type"] == "CallTimeout"


async def test_a_client_that_goes_away_takes_its_call_along(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    script = """
    r = recv()
    reply(r, {"tools": [{"name": "t"}], "capabilities": {"cancel": True}, "hooks": []})
    while (r := recv()): print(r["method"], file=sys.stderr, flush=True)
    """
    add_plugin("slow", script)
    configure(plugins=["slow"], **ALLOW)
    async with served() as host:
        with trio.move_on_after(10), trio.CancelScope() as impatient:
            async with trio.open_nursery() as nursery:

                async def give_up() -> None:
                    while "tool/call" not in (await host.get("/plugin/slow/log"))["lines"]:
                        await trio.sleep(0.01)
                    impatient.cancel()

                nursery.start_soon(give_up)
                async with host.new_client(dict(host.client.headers)) as other:
                    await other.post("/tool/plugin__slow__t/call", json={})
        with trio.fail_after(10):
            while await host.get("/session"):
                await trio.sleep(0.01)


async def test_a_hook_is_called_and_its_meaning_told(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    script = """
    handshake(hooks=("permission.ask",))
    serve(on_hook=lambda p: {"output": {"allowed": False, "reason": "no " + p["input"]["toolName"]}})
    """
    add_plugin("guard", script)
    configure(plugins=["guard"])
    async with served() as host:
        body = {"input": {"toolName": "bash"}}
        said = await host.post("/hook/permission.ask", body)
        nobody = await host.post("/hook/permission.ask", {**body, "plugins": []})
        absent = await host.post(
            "/hook/permission.ask", {**body, "plugins": ["guard", "gard"]}, 404
        )
        wrong = await host.post("/hook/permission.ask", {"input": {"toolName": 3}}, 400)
        dispose = await host.post("/hook/dispose", {}, 400)
    assert said["stopped"] is True
    assert "no bash" in said["verdict"]
    assert nobody["plugins"] == []
    assert absent["detail"] == {"type": "NotLoaded", "plugins": ["gard"]}
    assert "toolName" in wrong["error"]
    assert "dispose" in dispose["error"]


async def test_a_plugin_that_did_not_load_is_among_those_that_a_hook_did_not_reach(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("guard", "sys.exit(9)")
    configure(plugins=["guard"])
    async with served() as host:
        [failed] = (await host.post("/hook/permission.ask", {}))["plugins"]
        some = await host.post("/hook/permission.ask", {"plugins": []})
    assert failed["name"] == "guard"
    assert "status 9" in failed["error"]
    assert some["plugins"] == []


async def test_a_session_begins_once_and_ends_once(
    served: Any, add_plugin: AddPlugin, configure: Any, home: Path
) -> None:
    add_plugin("echo", ECHO)
    configure(plugins=["echo"], **ALLOW)
    async with served() as host:
        begun = await host.post("/session", {"sessionID": "s1", "directory": "/tmp"}, 201)
        twice = await host.post("/session", {"sessionID": "s1"}, 409)
        listed = await host.get("/session")
        said = await host.post("/tool/plugin__echo__echo/call", {"sessionID": "s1"})
        ended = await host.client.delete("/session/s1")
        again = await host.client.delete("/session/s1")
    assert begun == {"id": "s1", "directory": "/tmp", "contexts": ["from session.start"]}
    assert listed == [begun]
    assert "s1" in twice["error"]
    assert json.loads(said["content"])["context"] == {"sessionId": "s1", "directory": "/tmp"}
    assert said["additionalContext"] == ["from tool.execute.before"]
    assert (ended.status_code, again.status_code) == (204, 404)


async def test_a_directory_that_is_not_absolute_is_refused(served: Any) -> None:
    async with served() as host:
        await host.post("/session", {"directory": "here"}, 400)


@pytest.mark.parametrize("session", ["", ".", "..", "a/b", "a\nb", "a\x7f", "x" * 201])
async def test_a_session_whose_id_no_path_can_name_does_not_begin(
    served: Any, session: str
) -> None:
    async with served() as host:
        await host.post("/session", {"sessionID": session}, 400)


async def test_the_journal_of_a_session_is_read_in_parts_and_filtered(
    served: Any, add_plugin: AddPlugin, configure: Any
) -> None:
    add_plugin("echo", ECHO)
    configure(plugins=["echo"], **ALLOW)
    async with served() as host:
        await host.post("/session", {"sessionID": "s1"}, 201)
        await host.post("/tool/plugin__echo__echo/call", {"sessionID": "s1"})
        await host.client.delete("/session/s1")
        [listed] = await host.get("/journal")
        whole = await host.get("/journal/s1")
        first = await host.get("/journal/s1?limit=2")
        rest = await host.get(f"/journal/s1?after={first['next']}")
        calls = await host.get("/journal/s1?kind=call&tool=plugin__*&since=2020-01-01T00:00:00Z")
        late = await host.get("/journal/s1?since=2999-01-01T00:00:00%2B02:00")
        unknown = await host.client.get("/journal/nosuch")
        for query in ("kind=x", "limit=0", "after=-1", "since=yesterday", "limit=1&limit=2"):
            assert (await host.client.get(f"/journal/s1?{query}")).status_code == 400
    assert listed["session"] == "s1"
    assert [r["seq"] for r in first["records"] + rest["records"]] == [
        r["seq"] for r in whole["records"]
    ]
    assert whole["next"] is None
    assert [record["kind"] for record in calls["records"]] == ["call"]
    assert late["records"] == []
    assert unknown.status_code == 404
