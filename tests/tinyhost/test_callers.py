"""One host, several callers: each call is judged by who makes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tinyhost import CallDenied, Origin, Session
from tinyhost.asking import Question, Reply
from tinyhost.config import Config, parse_config
from tinyhost.host import Command, Host
from tinyhost.model import ToolResult
from tinyhost.opening import open_host
from tinyhost.permissions import Action

AddPlugin = Callable[[str, str], Path]
ECHO = "handshake(tools=['echo'])\nserve(lambda p: {'content': 'done'})"


class Person:
    """Gives one answer, and counts the questions."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.asked = reply, 0

    async def ask(self, question: Question) -> Reply:
        self.asked += 1
        return self.reply

    def refusal(self, question: Question) -> str:
        return f"no to {question.tool_id}"


def empty(home: Path, text: str = "{}") -> Config:
    return parse_config(text, str(home / "config" / "config.json"))


async def call(host: Host, session: Session) -> str:
    return (await host.call("plugin__mine__echo", {}, session)).content


async def test_what_no_rule_covers_goes_by_the_origin_of_the_caller(
    home: Path, add_plugin: AddPlugin
) -> None:
    add_plugin("mine", ECHO)
    async with open_host(empty(home), origin=Origin.PROGRAM) as host:
        await host.load_all(["mine"])
        begun = await host.session_start()
        with pytest.raises(CallDenied, match="Nobody can be asked here"):
            await call(host, begun)
        person = attrs.evolve(begun, caller=host.caller(Origin.PERSON))
        assert await call(host, person) == "done"
        client = attrs.evolve(begun, caller=host.caller(Origin.CLIENT))
        verdict = await host.judge("edit", {}, client)
        assert verdict.no_objection


async def test_a_caller_brings_whom_to_ask_and_grants_are_the_sessions(
    home: Path, add_plugin: AddPlugin
) -> None:
    add_plugin("mine", ECHO)
    yes, no = Person(Reply.SESSION), Person(Reply.NO)
    async with open_host(empty(home), asker=no) as host:
        await host.load_all(["mine"])
        begun = await host.session_start()
        with pytest.raises(CallDenied, match="no to plugin__mine__echo"):
            await call(host, begun)
        asking = attrs.evolve(begun, caller=host.caller(Origin.PROGRAM, yes))
        assert await call(host, asking) == "done"
        assert (yes.asked, no.asked) == (1, 1)
        assert await call(host, begun) == "done"  # it was allowed for the session
        assert (yes.asked, no.asked) == (1, 1)


async def test_a_rule_counts_for_every_caller(home: Path, add_plugin: AddPlugin) -> None:
    add_plugin("mine", ECHO)
    config = empty(home, '{"permissions": {"deny": ["plugin__mine__*"]}}')
    async with open_host(config, origin=Origin.PERSON) as host:
        await host.load_all(["mine"])
        begun = await host.session_start()
        for origin in Origin:
            session = attrs.evolve(begun, caller=host.caller(origin, Person(Reply.ONCE)))
            with pytest.raises(CallDenied):
                await call(host, session)


async def test_a_command_starts_from_the_callers_variables(home: Path) -> None:
    seen: dict[str, str] = {}

    async def run(command: Command) -> ToolResult:
        seen.update(command.env)
        return ToolResult("")

    async with open_host(empty(home), origin=Origin.PERSON, environ={"MINE": "host"}) as host:
        caller = host.caller(Origin.PERSON, environ={"MINE": "caller", "TOKEN": "kept"})
        begun = await host.session_start(caller=caller)
        await host.run_command("true", begun, run)
        assert seen == {"MINE": "caller", "TOKEN": "kept"}
        assert host.environ_of(Session("", "/")) == {"MINE": "host"}


async def test_the_asking_of_a_caller_is_recorded(home: Path) -> None:
    async with open_host(empty(home)) as host:
        events: list[str] = []
        host.record_listeners.append(lambda _session, kind, _fields: events.append(kind))
        caller = host.caller(Origin.PROGRAM, Person(Reply.ONCE))
        begun = await host.session_start(caller=caller)
        verdict = await host.judge("edit", {}, begun)
        assert verdict.action is Action.ALLOW
        assert "ask" in events
