"""A project's configuration over the person's: it adds, and never allows."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tinyhost
from tinyhost import CallDenied, LoadError, PluginNotFound, ToolResult
from tinyhost.config import Config, parse_config
from tinyhost.contents import Contents
from tinyhost.dispatch import Answer, PermissionResult
from tinyhost.hooks import PermissionOutput
from tinyhost.host import Command
from tinyhost.layers import load_layers, notices, with_project
from tinyhost.opening import open_host
from tinyhost.permissions import Action, Origin, Policy, ToolUse, decide_call, failed_guards
from tinyhost.resolve import PROJECT_FOLDER, Resolver
from tinyhost.shell_hooks import ShellHooks
from tinyhost.trust import Project, Standing, State

ProjectFolder = Any  # of conftest.py
PEERS = Path(__file__).parent.parent / "peers"


def configure(home: Path, **keys: Any) -> None:
    (home / "config" / "config.json").write_text(json.dumps(keys))


def script(body: str) -> str:
    """A plugin's program, with the words of peers/rawplugin.py."""
    return (
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(PEERS)!r})\n"
        f"from rawplugin import *\n{body}\n"
    )


# --- what is in force, and when


def mark(project: ProjectFolder, name: str) -> Path:
    found: Path = project.root / f"{name}-ran"
    return found


def bring_everything(project: ProjectFolder) -> None:
    plugin = mark(project, "plugin")
    project.program("mine", script(f"handshake(); open({str(plugin)!r}, 'w'); serve()"))
    project.configure(
        {
            "plugins": ["mine"],
            "settings": {"mine": {"timeouts": {"tool": "7s"}}},
            "hooks": {"session.start": [{"command": f"touch {mark(project, 'hook')}"}]},
            "permissions": {"deny": ["bash(denied*)"], "ask": ["bash(asked*)"], "mode": "strict"},
            "mcpServers": {"server": {"command": "x"}},
        }
    )


def make_trusted(project: ProjectFolder) -> None:
    project.trust()


def make_untrusted(project: ProjectFolder) -> None:
    pass


def make_changed(project: ProjectFolder) -> None:
    project.trust()
    project.program("other")


def make_foreign(project: ProjectFolder) -> None:
    project.trust()
    project.file.chmod(0o666)


def make_revoked(project: ProjectFolder) -> None:
    from tinyhost.trust import revoke

    project.trust()
    assert revoke(str(project.root))


STATES = [make_trusted, make_untrusted, make_changed, make_foreign, make_revoked]


async def outcome(host: tinyhost.Host, command: str) -> str:
    async def run(_command: Command) -> ToolResult:
        return ToolResult("ran")

    try:
        session = tinyhost.Session("s", host.directory)
        return (await host.run_command(command, session, run)).content
    except CallDenied as error:
        return error.reason


@pytest.mark.parametrize("make", STATES)
async def test_nothing_of_a_project_is_in_force_unless_it_is_trusted_as_it_is(
    home: Path, project: ProjectFolder, make: Any
) -> None:
    bring_everything(project)
    make(project)
    config = project.load()
    trusted = make is make_trusted
    assert [spec.name for spec in config.specs] == (["mine", "server"] if trusted else [])
    assert config.settings_for("mine").timeouts.tool == (7.0 if trusted else 30.0)
    assert bool(config.layers[1].raw.get("mcpServers")) is trusted
    assert "mcpServers" not in config.raw
    assert len(notices(config)) == (0 if trusted else 1)
    async with open_host(config, directory=project.root, origin=Origin.PERSON) as host:
        results = await host.load_all()
        loaded = [result.spec.name for result in results if result.plugin]
        assert loaded == (["mine"] if trusted else [])  # there is no program x
        await host.session_start()
        assert mark(project, "plugin").exists() is trusted
        assert mark(project, "hook").exists() is trusted
        assert (await outcome(host, "denied x") == "ran") is not trusted
        assert (await outcome(host, "asked x") == "ran") is not trusted
        # The mode is strict, and nobody can be asked.
        assert (await outcome(host, "anything") == "ran") is not trusted
        if trusted:
            assert f"({project.file}:1)" in await outcome(host, "denied x")


@pytest.mark.parametrize("make", STATES)
async def test_a_projects_program_is_found_only_when_it_is_trusted_as_it_is(
    home: Path, project: ProjectFolder, make: Any
) -> None:
    bring_everything(project)
    make(project)
    config = project.load()
    async with tinyhost.open_manager(config, directory=project.root) as manager:
        if make is make_trusted:
            assert (await manager.load("mine")).info.path == str(project.plugins / "mine")
        else:
            with pytest.raises(PluginNotFound):
                await manager.load("mine")
    assert mark(project, "plugin").exists() is (make is make_trusted)


async def test_open_host_by_itself_takes_the_layers_and_warns(
    home: Path, project: ProjectFolder, caplog: pytest.LogCaptureFixture
) -> None:
    bring_everything(project)
    with caplog.at_level(logging.WARNING):
        async with open_host(directory=project.root, journal=False) as host:
            assert not host.config.specs
    assert f"tinyhost trust {project.root}" in caplog.text
    project.trust()
    async with open_host(directory=project.root / "deep" / "..", journal=False) as host:
        assert [spec.name for spec in host.config.specs] == ["mine", "server"]


async def test_a_project_that_changes_while_it_is_used_starts_nothing_more(
    home: Path, project: ProjectFolder
) -> None:
    bring_everything(project)
    project.program("lib.py")
    project.trust()
    config = project.load()
    async with tinyhost.open_manager(config, directory=project.root) as manager:
        plugin = await manager.load("mine")
        project.program("lib.py", "# other\n")
        with pytest.raises(LoadError, match="has changed since you trusted it") as caught:
            await plugin.restart()
        assert caught.value.stage == "resolve"
        await manager.unload("mine")
        with pytest.raises(LoadError, match="has changed since you trusted it"):
            await manager.load("mine")


async def test_a_python_plugin_with_modules_does_not_change_its_own_project(
    home: Path, project: ProjectFolder
) -> None:
    project.configure({"plugins": ["mine"]})
    project.program("mine/helper.py", "WORD = 'hi'\n")
    project.program("mine/plugin", script("import helper\nhandshake(); serve()"))
    project.trust()
    for _ in range(2):
        async with tinyhost.open_manager(project.load(), directory=project.root) as manager:
            await manager.load("mine")
    assert not (project.plugins / "mine" / "__pycache__").exists()
    assert project.load().layers[1].in_force


# --- how it is merged


def merged(home: Path, project: ProjectFolder, own: Any, theirs: Any) -> Config:
    configure(home, **own)
    project.configure(theirs)
    project.trust()
    config: Config = project.load()
    assert config.layers[1].in_force, config.layers[1]
    return config


def texts(config: Config) -> list[str]:
    return [f"{problem.key}: {problem.message}" for problem in config.problems]


def test_a_projects_plugins_come_behind_and_take_none_away(
    home: Path, project: ProjectFolder
) -> None:
    config = merged(
        home,
        project,
        {"plugins": ["guard", ["b", {"mine": 1}]], "disabledPlugins": ["off"]},
        {"plugins": ["new", ["b", {"theirs": 2}], "off"], "disabledPlugins": ["guard"]},
    )
    assert [(spec.name, spec.options) for spec in config.specs] == [
        ("guard", {}),
        ("b", {"mine": 1}),
        ("new", {}),
    ]
    assert list(config.disabled) == ["off"]
    user = home / "config" / "config.json"
    assert texts(config) == [
        "disabledPlugins: only your own configuration can do that; not used",
        f"plugins[1]: b is in {user} already, and what it says there counts",
        f"plugins[2]: off is not loaded: it is disabled in {user}",
    ]
    assert {problem.severity for problem in config.problems} == {"warning"}


def test_a_project_has_settings_for_what_it_adds_and_the_persons_win(
    home: Path, project: ProjectFolder
) -> None:
    theirs = {"passEnv": ["B"], "directory": "here", "timeouts": {"hook": "1s", "tool": "1s"}}
    config = merged(
        home,
        project,
        {"plugins": ["guard"], "settings": {"*": {"timeouts": {"hook": "2s"}, "passEnv": ["A"]}}},
        {
            "plugins": ["new", "handoff"],
            "settings": {
                "new": {**theirs, "onGuardFailure": "skip"},
                "guard": theirs,
                "*": theirs,
                "shell-hooks": theirs,
                "handoff": theirs,
            },
        },
    )
    new = config.settings_for("new")
    assert (new.timeouts.hook, new.timeouts.tool) == (2.0, 1.0)
    assert set(new.pass_env) == {"A", "B"}
    assert new.directory == str(project.folder / "here")
    assert new.on_guard_failure == "ask"
    assert [spec.settings for spec in config.specs if spec.name == "new"] == [new]
    for name in ("guard", "shell-hooks", "handoff", "unknown"):
        assert config.settings_for(name).timeouts.tool == 30.0
        assert config.settings_for(name).pass_env == ("A",)
    keys = [problem.key for problem in config.problems]
    assert keys == [
        "settings.new.onGuardFailure",
        "settings.guard",
        "settings.*",
        "settings.shell-hooks",
        "settings.handoff",
    ]


def test_a_project_cannot_open_the_sandbox_that_is_for_all_plugins(
    home: Path, project: ProjectFolder
) -> None:
    theirs = {
        "plugins": ["a", "b"],
        "settings": {"a": {"sandbox": {"network": True}}, "b": {"sandbox": False}},
    }
    config = merged(home, project, {"settings": {"*": {"sandbox": {}}}}, theirs)
    for name in ("a", "b"):
        sandbox = config.settings_for(name).sandbox
        assert sandbox is not None
        assert not sandbox.network
    assert [problem.key for problem in config.problems] == [
        "settings.a.sandbox",
        "settings.b.sandbox",
    ]
    named = merged(home, project, {"settings": {"a": {"sandbox": {}}}}, theirs)
    assert named.settings_for("a").sandbox == sandbox
    own = merged(home, project, {}, theirs).settings_for("a").sandbox
    assert own is not None
    assert own.network


def test_a_projects_servers_come_behind_and_replace_nothing(
    home: Path, project: ProjectFolder
) -> None:
    theirs = {"command": "theirs", "env": {"A": "${B}"}, "timeout": "9s"}
    config = merged(
        home,
        project,
        {"mcpServers": {"one": {"command": "mine"}, "off": {"command": "x", "disabled": True}}},
        {"mcpServers": dict.fromkeys(["one", "off", "two", "safety-net"], theirs)},
    )
    found = {spec.name: spec.server.command for spec in config.specs if spec.server}
    assert found == {"one": ("mine",), "two": ("theirs",)}
    assert config.settings_for("two").timeouts.tool == 9.0
    assert config.settings_for("two").env == {"A": "${B}"}
    assert config.settings_for("one").env == {}


def test_a_project_adds_rules_that_deny_or_ask_and_no_others(
    home: Path, project: ProjectFolder
) -> None:
    config = merged(
        home,
        project,
        {"permissions": {"mode": "strict", "allow": ["a"], "deny": ["d"]}},
        {
            "compat": ["tinycode"],
            "permissions": {
                "mode": "standard",
                "allow": ["*"],
                "categories": {"x": ["read"]},
                "projects": {str(project.root): {"allow": ["*"]}},
                "deny": ["e"],
                "ask": ["f"],
            },
        },
    )
    policy, _ = Policy.from_config(config)
    assert [(rule.action.value, rule.pattern.text) for rule in policy.rules] == [
        ("deny", "d"),
        ("deny", "e"),
        ("ask", "f"),
        ("allow", "a"),
    ]
    assert policy.mode == "strict"
    assert config.compat == ()
    keys = [problem.key for problem in config.problems]
    assert keys == [
        "compat",
        "permissions.mode",
        "permissions.allow",
        "permissions.categories",
        "permissions.projects",
    ]


def test_a_rule_of_a_project_that_cannot_be_read_makes_every_call_a_question(
    home: Path, project: ProjectFolder
) -> None:
    config = merged(home, project, {}, {"permissions": {"deny": ["bash("]}})
    policy, _ = Policy.from_config(config)
    assert policy.decide(ToolUse(tool_id="anything")).action is Action.ASK


def test_a_projects_hooks_run_behind_the_persons(home: Path, project: ProjectFolder) -> None:
    own = {"hooks": {"session.start": [{"command": "one"}]}}
    theirs = {"hooks": {"session.start": [{"command": "two"}], "session.end": [{"command": "x"}]}}
    config = merged(home, project, own, theirs)
    hooks, _ = ShellHooks.from_config(config)
    assert hooks is not None
    commands = [hook.command for hook in hooks._entries["session.start"]]
    assert commands == ["one", "two"]
    assert f"{project.file}:1" in hooks._entries["session.end"][0].where


def test_a_project_file_that_is_the_persons_own_is_read_once(
    home: Path, project: ProjectFolder
) -> None:
    project.configure({"permissions": {"allow": ["a"]}})
    config = load_layers(project.root, project.file)
    assert [layer.kind for layer in config.layers] == ["user"]
    assert config.permissions.allow


def test_a_trusted_file_that_cannot_be_parsed_is_told_and_harms_nothing_else(
    home: Path, project: ProjectFolder
) -> None:
    configure(home, plugins=["guard"])
    project.configure("{oops")
    project.trust()
    config = project.load()
    assert config.layers[1].state == "unusable"
    assert f"{project.file}:1:2: " in notices(config)[0]
    assert [spec.name for spec in config.specs] == ["guard"]


# --- where programs come from


def resolver(config: Config, path: str = "") -> Resolver:
    config_dir = Path(config.file).parent
    return Resolver(config_dir, path, scripts="", project=config.project)


def test_a_projects_program_never_takes_the_place_of_one_that_is_there(
    home: Path, project: ProjectFolder, tmp_path: Path
) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    config = merged(home, project, {}, {"plugins": ["tool", "bare"]})
    project.program("tool")
    project.program("unlisted")
    finder = resolver(config, str(bin))
    assert finder.resolve("tool").source == PROJECT_FOLDER
    assert str(project.plugins / "bare") in finder.searched("bare")
    with pytest.raises(PluginNotFound):
        finder.resolve("unlisted")
    for own in (bin / "tinyhost-plugin-tool", home / "config" / "plugins" / "tool"):
        own.write_text("#!/bin/sh\n")
        own.chmod(0o755)
        assert finder.resolve("tool").path == str(own)


def test_a_project_cannot_bring_a_plugin_under_a_name_that_people_know(
    home: Path, project: ProjectFolder
) -> None:
    config = merged(home, project, {}, {"plugins": ["safety-net", "handoff"]})
    project.program("safety-net")
    project.program("handoff")
    for name in ("safety-net", "handoff"):
        with pytest.raises(PluginNotFound):
            resolver(config).resolve(name)


def test_a_project_cannot_bring_the_program_of_a_plugin_that_the_person_lists(
    home: Path, project: ProjectFolder
) -> None:
    project.program("guard")
    for own in ({"plugins": ["guard"]}, {"disabledPlugins": ["guard"]}):
        config = merged(home, project, own, {"plugins": ["guard"]})
        with pytest.raises(PluginNotFound):
            resolver(config).resolve("guard")


# --- the law: no project, trusted or not, ever makes more calls go ahead

NAMES = st.sampled_from(["a", "b", "guard", "shell-hooks"])
RULES = st.lists(
    st.sampled_from(["*", "bash", "bash(git *)", "plugin__a__*", "category:read", "bad("]),
    max_size=3,
)
CATEGORIES = st.dictionaries(NAMES, st.lists(st.just("read"), max_size=1), max_size=2)
PERMISSIONS = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["standard", "strict", "lax"]),
        "allow": RULES,
        "ask": RULES,
        "deny": RULES,
        "categories": CATEGORIES,
        "projects": st.just({"/proj": {"allow": ["*"]}}) | st.just({"/proj": {"deny": ["*"]}}),
        "alow": RULES,
    },
)
SETTINGS = st.dictionaries(
    NAMES | st.just("*"),
    st.fixed_dictionaries(
        {}, optional={"onGuardFailure": st.sampled_from(["ask", "deny", "skip"])}
    ),
    max_size=3,
)
# What somebody would write who wants to get more than they are given.
LOOSENING = st.fixed_dictionaries(
    {
        "permissions": st.sampled_from(
            [
                {"allow": ["*"]},
                {"mode": "standard"},
                {"categories": {"a": ["read"], "b": ["read"]}},
                {"projects": {"/proj": {"allow": ["*"]}}},
            ]
        ),
        "settings": st.sampled_from(
            [{name: {"onGuardFailure": "skip"}} for name in ("a", "guard", "shell-hooks", "*")]
        ),
    },
    optional={"plugins": st.just(["a", "guard", "shell-hooks"])},
)
LISTS = st.lists(NAMES | st.tuples(NAMES, st.just({"x": 1})), max_size=3)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "plugins": LISTS,
        "disabledPlugins": LISTS,
        "settings": SETTINGS,
        "permissions": PERMISSIONS | st.just([]),
        "compat": st.just(["tinycode"]),
    },
)
USES = [
    ToolUse(
        tool_id=f"plugin__{plugin}__t" if plugin else "bash",
        args={"command": command},
        plugin=plugin,
        permission=permission,
        side_effects=side_effects,
        directory="/proj",
    )
    for plugin in (None, "a", "b")
    for command in ("git status", "ls")
    for permission in ("", "read")
    for side_effects in (None, False)
]
# By plugin name: no answer, an opinion, or a failure.
ANSWERS = st.dictionaries(NAMES, st.sampled_from(["allow", "deny", "fail"]), max_size=3)
RANK = {Action.DENY: 0, Action.ASK: 1, Action.ALLOW: 2}


def layered(own: Mapping[str, Any], theirs: Mapping[str, Any], state: State) -> tuple[Config, ...]:
    user = parse_config(json.dumps(own), "/home/config.json")
    seen = Contents((), {"config.json": json.dumps(theirs).encode()})
    found = Standing(project=Project("/proj"), state=state, contents=seen)
    return user, with_project(user, found)


def decided(config: Config, use: ToolUse, answers: Mapping[str, str], origin: Origin) -> Action:
    policy, _ = Policy.from_config(config)
    said = [_answer(name, what) for name, what in answers.items()]
    denied = "deny" in answers.values()
    asked = PermissionResult(hook="permission.ask", answers=said, allowed=False if denied else None)
    decision = decide_call(
        policy.decide(use),
        asked,
        failed_guards(asked, config.settings_for),
        origin=origin,
        mode=policy.mode,
        side_effects=use.side_effects,
    )
    return decision.action


def _answer(name: str, what: str) -> Answer:
    output = None if what == "fail" else PermissionOutput(allowed=what == "allow")
    error = tinyhost.PluginDied(name, "died") if what == "fail" else None
    return Answer(name, f"plg_{name}", output, None, error, 0.0)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CONFIGS, LOOSENING | CONFIGS, ANSWERS)
def test_no_project_makes_more_calls_go_ahead_than_the_persons_own_configuration(
    own: dict[str, Any], theirs: dict[str, Any], answers: dict[str, str]
) -> None:
    user, both = layered(own, theirs, State.TRUSTED)
    assert both.project is not None, both.layers
    brought = both.project.names
    # What the project brings has no say where there is no project.
    heard = {name: answer for name, answer in answers.items() if name not in brought}
    for use in USES:
        for origin in Origin:
            alone = decided(user, use, heard, origin)
            together = decided(both, use, answers, origin)
            assert RANK[together] <= RANK[alone], (use, origin)
    # Everything that the person has stays, as it is and in its place.
    assert both.specs[: len(user.specs)] == user.specs
    assert both.disabled == user.disabled
    assert not {spec.name for spec in both.specs} & set(both.disabled)
    for spec in user.specs:
        assert both.settings_for(spec.name) == user.settings_for(spec.name)
        assert spec.name not in brought


@given(CONFIGS, CONFIGS, st.sampled_from([state for state in State if state is not State.TRUSTED]))
def test_a_project_that_is_not_trusted_changes_nothing(
    own: dict[str, Any], theirs: dict[str, Any], state: State
) -> None:
    user, both = layered(own, theirs, state)
    assert attrs.evolve(both, layers=()) == user
    assert both.layers[0].raw == {}
