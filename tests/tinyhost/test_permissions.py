from __future__ import annotations

import json
import stat
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tinyhost import config_schema
from tinyhost.config import load_config, parse_config
from tinyhost.config_edit import allow_in_project
from tinyhost.dispatch import Answer, PermissionResult
from tinyhost.errors import ConfigError, InvalidCall
from tinyhost.model import PluginSettings
from tinyhost.permissions import (
    Action,
    FailedGuard,
    Mode,
    Origin,
    Policy,
    ReasonKind,
    RuleVerdict,
    ToolUse,
    decide_call,
    failed_guards,
)

VALIDATOR = jsonschema.Draft202012Validator(config_schema.build())


def policy_of(permissions: Any) -> Policy:
    config = parse_config(json.dumps({"permissions": permissions}), "/c.json")
    policy, problems = Policy.from_config(config)
    assert problems == []
    return policy


def bash(command: str, **fields: Any) -> ToolUse:
    args = {"command": command}
    return ToolUse(tool_id="bash", args=args, args_text=json.dumps(args), **fields)


def tool(**fields: Any) -> ToolUse:
    return ToolUse(tool_id="plugin__demo__read", plugin="demo", **fields)


# --- rules


def test_no_rules_say_nothing() -> None:
    assert policy_of({}).decide(bash("ls")) == RuleVerdict()


def test_deny_beats_ask_beats_allow_wherever_they_stand() -> None:
    policy = policy_of({"deny": ["bash(a*)"], "ask": ["bash(*b)"], "allow": ["*"]})
    assert policy.decide(bash("ab")).action is Action.DENY
    assert policy.decide(bash("b")).action is Action.ASK
    assert policy.decide(bash("c")).action is Action.ALLOW


def test_the_verdict_names_the_first_rule_that_matches_and_its_line() -> None:
    text = '{"permissions": {\n"allow": [\n"x",\n"bash(l*)", "bash"]}}'
    policy, _ = Policy.from_config(parse_config(text, "/c.json"))
    assert policy.decide(bash("ls")) == RuleVerdict(Action.ALLOW, "bash(l*)", "/c.json:4")


def test_rules_of_a_project_count_in_that_directory_alone() -> None:
    policy = policy_of({"projects": {"/a/b/": {"allow": ["bash(make)"]}}})
    assert policy.decide(bash("make", directory="/a/b")).action is Action.ALLOW
    assert policy.decide(bash("make", directory="/a/x/../b/")).action is Action.ALLOW
    for directory in ("", "/a", "/a/b/c", "a/b", "/"):
        assert policy.decide(bash("make", directory=directory)).action is None


def test_a_rule_added_at_run_time_counts_like_a_written_one() -> None:
    policy = policy_of({}).with_project_rule("/a", "bash(make)")
    assert policy.decide(bash("make", directory="/a")).action is Action.ALLOW
    assert policy.decide(bash("make", directory="/b")).action is None


# --- categories


def test_a_category_is_honoured_only_where_it_is_listed_for_the_plugin() -> None:
    policy = policy_of({"categories": {"demo": ["read"]}})
    assert policy.honoured_category("demo", "read") == "read"
    assert policy.honoured_category("demo", "write") == "plugin"
    assert policy.honoured_category("other", "read") == "plugin"
    assert policy.honoured_category("demo", "") == "plugin"
    assert policy.honoured_category(None, "bash") == "bash"
    assert policy.honoured_category(None, "") == "plugin"


def test_a_plugin_cannot_claim_its_way_into_an_allowed_category() -> None:
    policy = policy_of({"allow": ["category:read"]})
    assert policy.decide(tool(permission="read")).action is None
    listed = policy_of({"allow": ["category:read"], "categories": {"demo": ["read"]}})
    assert listed.decide(tool(permission="read")).action is Action.ALLOW


def test_a_claimed_category_and_the_honoured_one_can_both_be_denied() -> None:
    assert policy_of({"deny": ["category:write"]}).decide(tool(permission="write")).action
    assert policy_of({"deny": ["category:plugin"]}).decide(tool(permission="write")).action


# --- mistakes in the file


@pytest.mark.parametrize(
    "permissions",
    [
        [],
        {"deny": "bash"},
        {"deny": [1]},
        {"deny": ["bash("]},
        {"ask": ["a b"]},
        {"ask": ["x"] * 1001},
        {"mode": "strickt"},
        {"denny": ["bash"]},
        {"projects": {"/a": {"deny": ["bash"]}}},
    ],
    ids=json.dumps,
)
def test_what_might_have_denied_makes_every_call_an_ask(permissions: Any) -> None:
    if isinstance(permissions, dict):
        permissions["allow"] = ["bash"]
    config = parse_config(json.dumps({"permissions": permissions}), "/c.json")
    policy, problems = Policy.from_config(config)
    assert problems
    verdict = policy.decide(bash("ls"))
    assert verdict.action is Action.ASK
    assert "/c.json:1:" in verdict.source


@pytest.mark.parametrize(
    "text",
    [
        '{"permissions": {"deny": ["bash"]}, "permissions": {}}',
        '{"permissions": {"deny": ["bash"], "deny": []}}',
    ],
)
def test_a_repeated_key_makes_every_call_an_ask(text: str) -> None:
    policy, problems = Policy.from_config(parse_config(text, "/c.json"))
    assert problems
    assert policy.decide(bash("ls")).action is Action.ASK


@pytest.mark.parametrize(
    "permissions",
    [
        {"allow": ["bash(", "bash"]},
        {"allow": ["bash"], "categories": {"demo": [1]}},
        {"allow": ["bash"], "projects": {"/a": {"allow": [1]}}},
    ],
    ids=json.dumps,
)
def test_what_could_only_allow_is_left_out_and_reported(permissions: Any) -> None:
    config = parse_config(json.dumps({"permissions": permissions}), "/c.json")
    policy, problems = Policy.from_config(config)
    assert len(problems) == 1
    assert policy.decide(bash("ls")).action is Action.ALLOW


def test_a_sound_deny_rule_denies_beside_a_mistake() -> None:
    config = parse_config('{"permissions": {"deny": [1, "bash"]}}', "/c.json")
    assert Policy.from_config(config)[0].decide(bash("ls")).action is Action.DENY


def test_the_mode_is_read() -> None:
    assert policy_of({}).mode is Mode.STANDARD
    assert policy_of({"mode": "strict"}).mode is Mode.STRICT


# --- the schema and the loader agree

GOOD: list[Any] = [
    {},
    {"mode": "strict", "allow": [], "ask": [], "deny": [], "categories": {}, "projects": {}},
    {"allow": ["bash", "plugin__a__*", "bash(git push*)", "bash(a\n(b)c)", "category:read"]},
    {"categories": {"a.b": ["read", "Write_2"]}},
    {"projects": {"/a b": {"allow": ["x"]}, "~/x": {}}},
]
BAD: list[Any] = [
    1,
    {"mode": 1},
    {"mode": "Strict"},
    {"allow": {}},
    {"allow": [None]},
    {"allow": [""]},
    {"allow": ["bash\n"]},
    {"allow": ["a b"]},
    {"allow": ["bash("]},
    {"allow": ["bash)"]},
    {"allow": ["bash(a)b"]},
    {"allow": ["category:"]},
    {"allow": ["category:a b"]},
    {"allow": ["category:a\n"]},
    {"allow": ["x" * 4097]},
    {"allow": ["x"] * 1001},
    {"categories": []},
    {"categories": {"A": []}},
    {"categories": {"a": "read"}},
    {"categories": {"a": [""]}},
    {"categories": {"a": ["x\n"]}},
    {"projects": []},
    {"projects": {"a": {}}},
    {"projects": {"/a": []}},
    {"projects": {"/a": {"allow": [1]}}},
    {"projects": {"/a": {"ask": []}}},
    {"other": 1},
]


@pytest.mark.parametrize("value", GOOD, ids=json.dumps)
def test_what_the_schema_accepts_loads_without_a_problem(value: Any) -> None:
    VALIDATOR.validate({"permissions": value})
    assert parse_config(json.dumps({"permissions": value}), "/f").problems == ()


@pytest.mark.parametrize("value", BAD, ids=lambda value: json.dumps(value)[:40])
def test_what_the_schema_refuses_has_a_problem_when_loaded(value: Any) -> None:
    assert not VALIDATOR.is_valid({"permissions": value})
    assert parse_config(json.dumps({"permissions": value}), "/f").problems


def test_a_problem_points_at_its_rule() -> None:
    [problem] = parse_config('{"permissions": {\n"deny": ["a", "b("]}}', "/f").problems
    assert (problem.key, problem.line, problem.severity) == ("permissions.deny[1]", 2, "error")


# --- decisions say why


def asked(*answers: tuple[str, Exception | None]) -> PermissionResult:
    return PermissionResult(
        hook="permission.ask",
        answers=[Answer(name, "id", None, None, error, 1.0) for name, error in answers],
    )


def test_failed_guards_carry_the_policy_of_their_settings() -> None:
    settings = {"a": "deny", "b": "ask", "c": "skip"}
    found = failed_guards(
        asked(("a", ValueError("x" * 9999)), ("b", None), ("c", OSError("gone"))),
        lambda name: PluginSettings(on_guard_failure=settings[name]),
    )
    assert [(g.plugin, g.policy) for g in found] == [("a", "deny"), ("c", "skip")]
    assert len(found[0].error) < 600
    assert found[1] == FailedGuard("c", "skip", "gone")


def test_the_deciding_reasons_come_first_and_all_are_kept() -> None:
    decision = decide_call(
        RuleVerdict(Action.ALLOW, "bash", "/c:1"),
        asked(),
        [FailedGuard("a", "ask", "hung"), FailedGuard("b", "deny", "died")],
        origin=Origin.PERSON,
        mode=Mode.STRICT,
    )
    assert decision.action is Action.DENY
    assert [r.kind for r in decision.deciding] == [ReasonKind.GUARD_FAILURE]
    assert decision.explain() == "guard b failed: died"
    assert [r.who for r in decision.reasons] == ["b", "bash", "a"]
    assert decision.to_json() == {
        "action": "deny",
        "byDefault": False,
        "reasons": [reason.to_json() for reason in decision.reasons],
    }


def test_a_denial_of_a_plugin_gives_its_reason() -> None:
    result = PermissionResult(hook="h", allowed=False, reason="not on Fridays", plugin="cal")
    decision = decide_call(RuleVerdict(), result, origin=Origin.PERSON)
    assert decision.explain() == "plugin cal denies it: not on Fridays"


# --- writing a project's rule


def test_a_written_rule_is_read_back_and_keeps_the_comments(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{\n  // mine\n  "permissions": {"mode": "strict"}\n}\n')
    assert allow_in_project(file, "/a/", "bash(x \\* y)")
    assert not allow_in_project(file, "/a", "bash(x \\* y)")
    assert allow_in_project(file, "/a", "bash(two)")
    assert "// mine" in file.read_text()
    policy, problems = Policy.from_config(load_config(file))
    assert problems == []
    assert policy.mode is Mode.STRICT
    assert policy.decide(bash("x * y", directory="/a")).action is Action.ALLOW
    assert policy.decide(bash("x z y", directory="/a")).action is None
    assert policy.decide(bash("two", directory="/a")).action is Action.ALLOW


def test_a_rule_creates_the_file_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.json"
    assert allow_in_project(file, "/a", "bash(x)")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_edited_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    for text in ("{", '{"permissions": 1}', '{"permissions": {"projects": []}}'):
        file.write_text(text)
        with pytest.raises(ConfigError):
            allow_in_project(file, "/a", "bash(x)")
        assert file.read_text() == text


@pytest.mark.parametrize(("directory", "rule"), [("a", "bash"), ("", "bash"), ("/a", "b(")])
def test_a_bad_directory_or_rule_is_not_written(tmp_path: Path, directory: str, rule: str) -> None:
    with pytest.raises(InvalidCall):
        allow_in_project(tmp_path / "config.json", directory, rule)
    assert not (tmp_path / "config.json").exists()


def test_rules_written_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    writers = [
        threading.Thread(target=allow_in_project, args=(file, f"/{i % 3}", f"bash({i})"))
        for i in range(12)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    policy, problems = Policy.from_config(load_config(file))
    assert problems == []
    assert sorted(rule.pattern.text for rule in policy.rules) == sorted(
        f"bash({i})" for i in range(12)
    )


@pytest.mark.parametrize(
    ("hooks", "lost"),
    [
        ('{"permission.ask": [{"comand": "./guard"}]}', True),
        ('{"permission.ask": {"command": "./guard"}}', True),
        ('{"permission.ask": [{"command": "./guard", "match": {"tol": "bash"}}]}', True),
        ('{"permision.ask": [{"command": "./guard"}]}', True),
        ('{"permission.ask": [{"command": "./guard"}], "permission.ask": []}', True),
        ('{"tool.execute.before": ["./guard"]}', True),
        ('["./guard"]', True),
        ('{"permission.ask": [{"command": "./guard"}]}', False),
        ('{"session.start": ["./notes"], "tool.execute.after": 7, "shell.env": []}', False),
    ],
)
@pytest.mark.parametrize("policy", ["ask", "deny", "skip"])
def test_a_shell_hook_that_may_be_lost_by_a_mistake_is_a_failed_guard(
    hooks: str, lost: bool, policy: str
) -> None:
    settings = f'{{"shell-hooks": {{"onGuardFailure": "{policy}"}}}}'
    text = f'{{"hooks": {hooks}, "settings": {settings}, "permissions": {{"allow": ["bash"]}}}}'
    found, _ = Policy.from_config(parse_config(text, "/config.json"))
    verdict = found.decide(ToolUse(tool_id="bash"))
    expected = policy if lost and policy != "skip" else "allow"
    assert verdict.action is Action(expected)
    if expected != "allow":
        assert verdict.source.startswith("until it is corrected: /config.json:1:")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"permission": {"deny": ["bash"]}}', "ask"),
        ('{"Permissions": {"deny": ["bash"]}}', "ask"),
        ('{"hook": {"permission.ask": [{"command": "./guard"}]}}', "ask"),
        ('{"plugin": ["safety-net"], "note": "none"}', None),
        ('{"plugins": [], "plugins": []}', None),
    ],
)
def test_rules_under_a_misspelt_key_are_not_lost_in_silence(text: str, action: str | None) -> None:
    found, _ = Policy.from_config(parse_config(text, "/config.json"))
    assert found.decide(ToolUse(tool_id="bash")).action == action
