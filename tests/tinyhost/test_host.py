"""The guarded path: every call is judged, may be rewritten, runs once, and is reviewed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import CallDenied, OutcomeUncertain, State, ToolNotFound, ToolResult
from tinyhost.asking import Question, Reply
from tinyhost.builtins.base import BuiltinPlugin, BuiltinTool
from tinyhost.config import parse_config
from tinyhost.hooks import (
    PermissionAsk,
    PermissionOutput,
    SessionStart,
    SessionStartOutput,
    ShellEnv,
    ShellEnvOutput,
    ToolExecuteAfter,
    ToolExecuteAfterOutput,
    ToolExecuteBefore,
    ToolExecuteBeforeOutput,
)
from tinyhost.host import Command
from tinyhost.opening import open_host
from tinyhost.permissions import Action, Origin
from tinyhost.process_plugin import ProcessPlugin

AddPlugin = Callable[[str, str], Path]

ECHO = "handshake(tools=['echo'])\nserve(lambda p: {'content': json.dumps(p['args'])})"


def config(home: Path, **keys: Any) -> tinyhost.Config:
    parsed = parse_config(json.dumps(keys), str(home / "config" / "config.json"))
    assert not parsed.problems, parsed.problems
    return parsed


def journal(home: Path) -> list[dict[str, Any]]:
    (file,) = (home / "state" / "journal").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()[1:]]


class Person:
    """Answers questions from a list, and remembers them."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        return self.replies.pop(0)

    def refusal(self, question: Question) -> str:
        return "the person said no"


class Watcher(BuiltinPlugin):
    """Has every hook, keeps what it sees, and answers what it is told to."""

    name = "watcher"

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = answers
        self.seen: list[Any] = []

    async def session_start(self, event: SessionStart) -> SessionStartOutput | None:
        self.seen.append(event)
        return SessionStartOutput(additional_context=("be careful",))

    async def permission_ask(self, event: PermissionAsk) -> PermissionOutput | None:
        self.seen.append(event)
        deny = self.answers.get("deny")
        return PermissionOutput(allowed=not (deny and deny in event.tool_args), reason="no")

    async def tool_execute_before(self, event: ToolExecuteBefore) -> ToolExecuteBeforeOutput | None:
        self.seen.append(event)
        if "block" in self.answers:
            raise ValueError("gate closed")
        return ToolExecuteBeforeOutput(
            additional_context=("before",), tool_args=self.answers.get("rewrite")
        )

    async def shell_env(self, event: ShellEnv) -> ShellEnvOutput | None:
        self.seen.append(event)
        return ShellEnvOutput(env={"ADDED": "1", "GONE": None})

    async def tool_execute_after(self, event: ToolExecuteAfter) -> ToolExecuteAfterOutput | None:
        self.seen.append(event)
        return ToolExecuteAfterOutput(
            output=self.answers.get("output"), additional_context=("after",)
        )

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.seen if type(event) is kind]


async def test_a_call_goes_through_every_hook_once_and_is_recorded(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", ECHO)
    watcher = Watcher(output="changed")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        host.register(watcher)
        await host.load_all(["demo"])
        session = await host.session_start("/")
        assert session.contexts == ("be careful",)
        outcome = await host.call("plugin__demo__echo", {"a": 1}, session)
        await host.session_end(session)
    assert (outcome.content, outcome.is_error) == ("changed", False)
    assert outcome.text() == "changed\n\n[Hook Context]\nbefore\nafter"
    assert [type(event).__name__ for event in watcher.seen] == [
        "SessionStart",
        "PermissionAsk",
        "ToolExecuteBefore",
        "ToolExecuteAfter",
    ]
    asked, before, after = watcher.seen[1:]
    assert asked == PermissionAsk(
        session_id=session.id,
        tool_name="plugin__demo__echo",
        tool_args='{"a":1}',
        permission="plugin",
    )
    assert before.tool_args == after.tool_args == '{"a":1}'
    assert json.loads(after.output) == {"a": 1}
    records = journal(home)
    kinds = [record["kind"] for record in records]
    assert kinds[0] == kinds[-1] == "session"
    assert [kind for kind in kinds if kind in ("decision", "call")] == ["decision", "call"]
    (decision,) = [record for record in records if record["kind"] == "decision"]
    assert (decision["decision"], decision["tool"]) == ("allow", "plugin__demo__echo")
    (call,) = [record for record in records if record["kind"] == "call"]
    assert call["args"] == {"a": 1}
    assert "finalArgs" not in call
    assert {r["plugin"] for r in records if r["kind"] == "load"} >= {"demo", "watcher", "handoff"}


async def test_a_denial_names_the_plugin_and_nothing_runs(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", ECHO)
    watcher = Watcher(deny="secret")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        host.register(watcher)
        await host.load_all(["demo"])
        session = await host.session_start()
        with pytest.raises(CallDenied, match="plugin watcher denies it: no") as caught:
            await host.call("plugin__demo__echo", {"a": "secret"}, session)
        assert caught.value.tool == "plugin__demo__echo"
        assert host.manager.get("demo").info.counters.calls == 0
    assert watcher.of(ToolExecuteBefore) == watcher.of(ToolExecuteAfter) == []


async def test_a_gate_stops_the_call_with_its_reason(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", ECHO)
    async with open_host(config(home), origin=Origin.PERSON) as host:
        host.register(Watcher(block=True))
        await host.load_all(["demo"])
        session = await host.session_start()
        with pytest.raises(CallDenied, match="plugin watcher stopped it: gate closed"):
            await host.call("plugin__demo__echo", {}, session)
        assert host.manager.get("demo").info.counters.calls == 0


async def test_rewritten_arguments_are_judged_again_before_they_run(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", ECHO)
    async with open_host(config(home), origin=Origin.PERSON) as host:
        watcher = Watcher(rewrite='{"n": 1.10}')
        host.register(watcher)
        await host.load_all(["demo"])
        session = await host.session_start()
        outcome = await host.call("plugin__demo__echo", {"n": 5}, session)
        assert json.loads(outcome.content) == {"n": 1.1}
        assert outcome.verdict.rewritten
        assert [e.tool_args for e in watcher.of(PermissionAsk)] == ['{"n":5}', '{"n": 1.10}']
        assert [e.tool_args for e in watcher.of(ToolExecuteAfter)] == ['{"n": 1.10}']
        watcher.answers = {"rewrite": '{"a": "secret"}', "deny": "secret"}
        with pytest.raises(CallDenied, match="watcher denies it"):
            await host.call("plugin__demo__echo", {"n": 5}, session)
        watcher.answers = {"rewrite": "{not json"}
        with pytest.raises(CallDenied, match=r"watcher stopped it.*not JSON"):
            await host.call("plugin__demo__echo", {"n": 5}, session)
    finals = [r.get("finalArgs") for r in journal(home) if r["kind"] == "call"]
    assert finals == [{"n": 1.1}]


async def test_after_hooks_see_a_call_that_failed_and_the_error_stays_the_error(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", "handshake(tools=['t'])\nrecv()\nsys.exit(3)")
    watcher = Watcher(output="hidden")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        host.register(watcher)
        await host.load_all(["demo"])
        session = await host.session_start()
        with pytest.raises(OutcomeUncertain):
            await host.call("plugin__demo__t", {}, session)
    (after,) = watcher.of(ToolExecuteAfter)
    assert after.is_error
    assert "exited with status 3" in after.output
    events = [(r["kind"], r.get("event")) for r in journal(home)]
    assert ("exit", "died") in events


async def test_an_unknown_tool_says_which_there_are(add_plugin: AddPlugin, home: Path) -> None:
    async with open_host(config(home)) as host:
        with pytest.raises(ToolNotFound, match="plugin__notify__notify"):
            await host.call("plugin__nobody__t")


async def test_what_no_rule_covers_depends_on_who_calls(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", ECHO)
    async with open_host(config(home), origin=Origin.PROGRAM) as host:
        await host.load_all(["demo"])
        session = await host.session_start()
        with pytest.raises(CallDenied, match=r"Nobody can be asked here.*permissions\.allow"):
            await host.call("plugin__demo__echo", {}, session)
    async with open_host(config(home), origin=Origin.CLIENT) as host:
        session = await host.session_start()
        verdict = await host.judge("read", {"path": "x"}, session)
        assert verdict.action is Action.ALLOW
        assert verdict.no_objection


async def test_a_client_without_an_asker_gets_the_question_itself(home: Path) -> None:
    rules = config(home, permissions={"ask": ["bash(git push*)"], "allow": ["bash(ls)"]})
    async with open_host(rules, origin=Origin.CLIENT) as host:
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "git push"}, session)
        assert verdict.action is Action.ASK
        assert "git push*" in verdict.reason
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert (verdict.action, verdict.no_objection) == (Action.ALLOW, False)


async def test_the_person_is_asked_once_for_a_session(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", ECHO)
    person = Person(Reply.ONCE, Reply.SESSION, Reply.NO)
    async with open_host(config(home), asker=person) as host:
        await host.load_all(["demo"])
        session = await host.session_start()
        for _ in range(4):
            await host.call("plugin__demo__echo", {}, session)
        assert len(person.asked) == 2
        kinds = [record["kind"] for record in journal(home)]
        assert (kinds.count("ask"), kinds.count("decision")) == (2, 4)
        other = await host.session_start()
        with pytest.raises(CallDenied, match="the person said no"):
            await host.call("plugin__demo__echo", {}, other)


async def test_always_for_the_project_writes_a_rule_that_counts_at_once(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", ECHO)
    person = Person(Reply.PROJECT)
    async with open_host(config(home), asker=person) as host:
        await host.load_all(["demo"])
        session = await host.session_start(home)
        for _ in range(2):
            await host.call("plugin__demo__echo", {}, session)
    written = json.loads((home / "config" / "config.json").read_text())
    assert list(written["permissions"]["projects"]) == [str(home)]
    async with open_host() as host:
        await host.load_all(["demo"])
        session = await host.session_start(home)
        await host.call("plugin__demo__echo", {}, session)


GUARDS = [
    "handshake(hooks=['permission.ask'])\nrecv()\nsys.exit(1)",
    "handshake(hooks=['permission.ask'])\nrecv()\ntime.sleep(60)",
    "handshake(hooks=['permission.ask'])\nserve(on_hook=lambda p: {'output': {'allowed': 'yes'}})",
    "handshake(hooks=['permission.ask'])\nfail(recv(), -32000, 'bug')\nserve()",
]


@pytest.mark.parametrize("body", GUARDS)
@pytest.mark.parametrize("policy", ["ask", "deny", "skip"])
async def test_a_guard_that_fails_lets_nothing_through_by_its_silence(
    add_plugin: AddPlugin, home: Path, body: str, policy: str
) -> None:
    add_plugin("guard", body)
    settings = {"guard": {"onGuardFailure": policy, "timeouts": {"hook": "100ms", "stop": "100ms"}}}
    async with open_host(config(home, settings=settings), origin=Origin.PERSON) as host:
        await host.load_all(["guard"])
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "ls"}, session)
        if policy == "skip":
            assert verdict.action is Action.ALLOW
        else:
            assert verdict.action is Action.DENY
            assert "guard" in verdict.reason


@pytest.mark.parametrize("known", ["loaded before", "in the registry"])
async def test_a_guard_that_does_not_load_is_missed(
    add_plugin: AddPlugin, home: Path, known: str
) -> None:
    name = "safety-net" if known == "in the registry" else "guard"
    if known == "loaded before":
        add_plugin(name, "handshake(hooks=['permission.ask'])\nserve()")
        async with open_host(config(home)) as host:
            await host.load_all([name])
    add_plugin(name, "sys.exit(1)")
    add_plugin("other", "sys.exit(1)")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all([name, "other"])
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is Action.DENY
        assert f"guard {name} failed: it could not be loaded" in verdict.reason
        assert "other" not in verdict.reason
        add_plugin(name, "handshake()\nserve()")
        await host.load_all([name])
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is Action.ALLOW


async def test_a_plugin_that_is_no_guard_and_does_not_load_harms_no_call(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("broken", "sys.exit(1)")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["broken"])
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is Action.ALLOW


async def test_a_failed_guard_counts_until_it_is_unloaded(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("guard", "handshake(hooks=['permission.ask'])\nrecv()\nsys.exit(1)")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["guard"])
        session = await host.session_start()
        for _ in range(3):
            verdict = await host.judge("bash", {"command": "ls"}, session)
            assert verdict.action is Action.DENY
        await host.manager.unload("guard")
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is Action.ALLOW


async def runs(command: Command) -> ToolResult:
    done = await trio.run_process(
        list(command.argv), env=dict(command.env), cwd=command.directory, capture_stdout=True
    )
    return ToolResult(done.stdout.decode())


async def test_a_command_runs_with_the_plugins_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GONE", "x")
    monkeypatch.setenv("MY_TOKEN", "hush-hush-hush")
    watcher = Watcher()
    async with open_host(config(home), origin=Origin.PERSON) as host:
        host.register(watcher)
        session = await host.session_start(home)
        outcome = await host.run_command(
            'echo "$ADDED${GONE-gone}" "${MY_TOKEN+kept}"; pwd', session, runs
        )
        assert outcome.content == f"1gone kept\n{home}\n"
        outcome = await host.run_command(["printf", "%s", "a  b; c"], session, runs)
        assert outcome.content == "a  b; c"
    (first, second) = watcher.of(PermissionAsk)
    assert json.loads(second.tool_args) == {"command": "printf %s 'a  b; c'"}
    assert first.tool_name == "bash"
    for event in watcher.of(ShellEnv):
        assert "MY_TOKEN" not in event.env
        assert event.env["GONE"] == "x"


async def test_without_a_runner_the_output_is_captured(home: Path) -> None:
    async with open_host(config(home), origin=Origin.PERSON) as host:
        session = await host.session_start(home)
        outcome = await host.run_command(["printf", "%s", "a  b"], session)
        assert (outcome.content, outcome.is_error) == ("a  b", False)
        outcome = await host.run_command("pwd; echo oops >&2; exit 3", session)
        assert outcome.content == f"{home}\n\noops\n\n[the command exited with status 3]"
        assert outcome.is_error
        outcome = await host.run_command("cat; head -c 3000000 /dev/zero | tr '\\0' x", session)
        assert len(outcome.content) < 200_000
        assert outcome.content.startswith("xxx")


async def test_a_rewritten_command_runs_as_it_was_rewritten(home: Path) -> None:
    watcher = Watcher(rewrite='{"command": "echo rewritten"}')
    async with open_host(config(home), origin=Origin.PERSON) as host:
        host.register(watcher)
        session = await host.session_start()
        assert (await host.run_command(["false"], session, runs)).content == "rewritten\n"
        watcher.answers = {"rewrite": '{"something": "else"}'}
        with pytest.raises(tinyhost.InvalidCall, match='no "command" text'):
            await host.run_command(["true"], session, runs)


async def test_a_large_output_is_cut_for_all_and_kept_whole_in_a_file(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("small", "handshake(hooks=['tool.execute.after'])\nserve()")
    text = "\x01" * 2_000_000
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["small"])
        session = await host.session_start()
        after = await host.review("t", "{}", text, False, session)
        assert not after.failures
        assert len(after.text) < 200_000
        assert host.manager.get("small").info.counters.deaths == 0
    path = Path(after.text.partition("is in ")[2].partition("]")[0])
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o600


class Calculator(BuiltinPlugin):
    name = "calculator"

    def tools(self) -> list[BuiltinTool]:
        return [BuiltinTool(name="add", description="", parameters={}, execute=self.add)]

    async def add(self, args: Mapping[str, Any], context: tinyhost.CallContext) -> str:
        return str(sum(args["numbers"]))


async def test_a_host_authors_own_builtin_is_called_like_any_other(home: Path) -> None:
    rules = config(home, permissions={"allow": ["plugin__calculator__*"]})
    async with open_host(rules) as host:
        host.register(Calculator())
        outcome = await host.call("plugin__calculator__add", {"numbers": [1, 2]})
        assert outcome.content == "3"
        outcome = await host.call("plugin__calculator__add", {})
        assert outcome.is_error
        assert "KeyError" in outcome.content
        with pytest.raises(tinyhost.PluginSkipped):
            await host.manager.load("calculator")


async def test_builtins_come_first_and_shell_hooks_last(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", ECHO)
    hooks = {"session.start": [{"command": "true"}]}
    async with open_host(config(home, hooks=hooks)) as host:
        await host.load_all(["demo"])
        host.register(Watcher())
        names = [info.name for info in host.manager.list()]
    assert names == [
        "context-pruning",
        "notify",
        "code-review",
        "handoff",
        "demo",
        "watcher",
        "shell-hooks",
    ]


async def test_a_shell_hook_stops_a_call_with_its_own_words(home: Path) -> None:
    hooks = {
        "tool.execute.before": [
            {"command": 'grep -q forbidden && echo "not on my watch" >&2 && exit 2; true'}
        ]
    }
    async with open_host(config(home, hooks=hooks), origin=Origin.PERSON) as host:
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "forbidden"}, session)
        assert verdict.action is Action.DENY
        assert "not on my watch" in verdict.reason
        verdict = await host.judge("bash", {"command": "fine"}, session)
        assert verdict.action is Action.ALLOW


async def test_cancelling_a_call_cancels_the_plugins_part(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "cancelled"
    add_plugin(
        "demo",
        f"""
        handshake(tools=["t"], protocol={{"concurrency": 2, "cancel": True}})
        request = recv()
        cancel = recv()
        open({str(mark)!r}, "w").write(cancel["method"])
        serve()
        """,
    )
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["demo"])
        with trio.move_on_after(0.3) as scope:
            await host.call("plugin__demo__t", {})
        assert scope.cancelled_caught
        with trio.fail_after(5):
            while not mark.exists() or not mark.read_text():
                await trio.sleep(0.01)
    assert mark.read_text() == "tool/cancel"


def diary(file: Path, *, hooks: str = "'session.start', 'permission.ask', 'session.end'") -> str:
    """A plugin that writes down what it is told, in the order in which it is told."""
    return f"""
    def note(word):
        with open({str(file)!r}, "a") as file:
            file.write(word + "\\n")

    def on_hook(params):
        note(params["name"] + " " + params["input"]["sessionId"])
        if params["name"] == "session.start":
            return {{"output": {{"additionalContext": ["hello"]}}}}
        return {{}}

    handshake(tools=["t"], hooks=[{hooks}])
    note("begin")
    serve(lambda params: note("call") or {{"content": "ok"}}, on_hook)
    """


async def test_a_plugin_that_joins_late_is_told_of_the_session_once_and_first(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "diary"
    add_plugin("late", diary(file))
    async with open_host(config(home), origin=Origin.PERSON) as host:
        ended = await host.session_start("/", "ses_0")
        await host.session_end(ended)
        session = await host.session_start("/", "ses_1")
        assert session.contexts == ()
        await host.load_all(["late"])
        first = await host.call("plugin__late__t", {}, session)
        assert first.contexts == ["hello"]
        second = await host.call("plugin__late__t", {}, session)
        assert second.contexts == []
        await host.session_end(session)
    assert file.read_text().splitlines() == [
        *("begin", "session.start ses_1", "permission.ask ses_1", "call"),
        *("permission.ask ses_1", "call", "session.end ses_1"),
    ]


async def test_a_plugin_there_from_the_beginning_is_told_once(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "diary"
    add_plugin("early", diary(file))
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["early"])
        session = await host.session_start("/", "ses_1")
        assert session.contexts == ("hello",)
        host.register(Watcher())  # what joins does not make others hear it again
        outcome = await host.call("plugin__early__t", {}, session)
        assert outcome.contexts == ["be careful", "before", "after"]
        await host.session_end(session)
    assert file.read_text().count("session.start") == 1


async def test_a_plugin_that_is_started_again_is_told_of_each_session_first(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "diary"
    add_plugin("demo", diary(file))
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["demo"])
        one = await host.session_start("/", "ses_1")
        two = await host.session_start("/", "ses_2")
        plugin = host.manager.get("demo")
        assert plugin.info.pid is not None
        os.kill(plugin.info.pid, signal.SIGKILL)
        while plugin.state is not State.RESTARTING or not plugin.info.counters.deaths:
            await trio.sleep(0.001)
        file.write_text("")
        await host.call("plugin__demo__t", {}, one)
        await host.call("plugin__demo__t", {}, two)
        await host.call("plugin__demo__t", {}, one)
        assert file.read_text().splitlines() == [
            *("begin", "session.start ses_1", "permission.ask ses_1", "call"),
            *("session.start ses_2", "permission.ask ses_2", "call"),
            *("permission.ask ses_1", "call"),
        ]
        assert isinstance(plugin, ProcessPlugin)
        await plugin.restart()
        file.write_text("")
        await host.call("plugin__demo__t", {}, one)
        # Its first line may come before or after the file was emptied.
        told = [line for line in file.read_text().splitlines() if line != "begin"]
        assert told == ["session.start ses_1", "permission.ask ses_1", "call"]


async def test_calls_side_by_side_tell_a_late_plugin_once(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "diary"
    add_plugin("late", diary(file))
    async with open_host(config(home), origin=Origin.PERSON) as host:
        session = await host.session_start("/", "ses_1")
        await host.load_all(["late"])
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(host.call, "plugin__late__t", {}, session)
    lines = file.read_text().splitlines()
    assert lines[:2] == ["begin", "session.start ses_1"]
    assert lines.count("session.start ses_1") == 1
    assert lines.count("call") == 5


async def test_a_plugin_that_failed_to_hear_of_the_session_is_told_when_it_lives_again(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "diary"
    add_plugin(
        "demo",
        f"""
        handshake(hooks=["session.start"])
        request = recv()
        with open({str(file)!r}, "a") as file:
            file.write(request["params"]["name"] + "\\n")
        if open({str(file)!r}).read().count("session.start") == 1:
            os._exit(7)
        reply(request, {{}})
        serve()
        """,
    )
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["demo"])
        session = await host.session_start("/")
        await host.call("plugin__demo__t", {}, session)
        await host.call("plugin__demo__t", {}, session)
    assert file.read_text() == "session.start\n" * 2


async def test_a_session_interrupted_at_its_start_or_end_is_over(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("slow", "handshake(hooks=['session.start', 'session.end'])\nrecv()\nrecv()")
    async with open_host(config(home), origin=Origin.PERSON) as host:
        await host.load_all(["slow"])
        with trio.move_on_after(0.02) as scope:
            await host.session_start("/", "ses_1")
        assert scope.cancelled_caught
        assert host.directory_of("ses_1") == host.directory
        await host.manager.unload("slow")
        session = await host.session_start("/", "ses_2")
        await host.load_all(["slow"])
        with trio.move_on_after(0.02) as scope:
            await host.session_end(session)
        assert scope.cancelled_caught
        assert host.directory_of("ses_2") == host.directory
    files = (home / "state" / "journal").glob("*.jsonl")
    events = [json.loads(file.read_text().splitlines()[-1]) for file in files]
    assert [event.get("event") for event in events] == ["end", "end"]
