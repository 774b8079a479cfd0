"""plugin.json, where it is looked for, and how its program is started."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tinyhost
from tinyhost.bingo.discovery import discover, layers
from tinyhost.bingo.manifest import BadManifest, Entry, read_folder
from tinyhost.errors import LoadError
from tinyhost.resolve import Resolver

GOOD = {"name": "demo", "version": "1", "entry": {"command": "python3"}}


def write(folder: Path, manifest: Any = GOOD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    (folder / "plugin.json").write_text(text)
    return folder


def test_a_manifest_in_full(tmp_path: Path) -> None:
    entry = {"command": "node", "args": ["a"], "env": {"A": "1"}}
    said = {**GOOD, "entry": entry, "config": {"type": "object"}, "unknown": [1]}
    manifest = read_folder(str(write(tmp_path / "demo", said)))
    assert manifest.entry == Entry(command="node", args=("a",), env={"A": "1"})
    assert manifest.config == {"type": "object"}
    least = read_folder(str(write(tmp_path / "demo")))
    assert (least.entry.args, least.entry.env, least.config) == ((), {}, None)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("{", "cannot be used: "),
        ("[]", "cannot be used: the value is an array"),
        ({**GOOD, "name": "other"}, "names the plugin 'other'; rename the folder"),
        ({**GOOD, "version": 1}, "version is a number, not a string"),
        ({"name": "demo", "version": "1"}, "entry is missing"),
        ({**GOOD, "entry": {}}, "entry.command is missing"),
        ({**GOOD, "entry": {"command": ""}}, "entry.command is empty"),
        ({**GOOD, "entry": {"command": "a", "args": "b"}}, "entry.args is a string"),
        ({**GOOD, "entry": {"command": "a", "env": {"A": 1}}}, "entry.env.A is a number"),
        ({**GOOD, "entry": {"command": "a", "env": {"A=": ""}}}, "no program can be started with"),
        ({**GOOD, "entry": {"command": "a\0"}}, "no program can be started with"),
        (" " * (1024 * 1024) + json.dumps(GOOD), "more than 1048576 bytes"),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(tmp_path: Path, manifest: Any, words: str) -> None:
    with pytest.raises(BadManifest, match=words):
        read_folder(str(write(tmp_path / "demo", manifest)))


def test_a_manifest_that_others_can_change_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "demo")
    (folder / "plugin.json").chmod(0o666)
    with pytest.raises(BadManifest, match="can be written by everybody; fix it with: chmod go-w"):
        read_folder(str(folder))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*GOOD, "command", "args", "env", "x"]), inner, max_size=4
            )
        ),
        max_leaves=10,
    )
)
def test_any_manifest_is_read_or_refused(tmp_path: Path, value: Any) -> None:
    folder = write(tmp_path / "demo", value)
    try:
        manifest = read_folder(str(folder))
    except BadManifest:
        return
    assert (manifest.name, type(manifest.entry.command)) == ("demo", str)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("${PLUGIN_ROOT}/a", "/r/a"),
        ("${PLUGIN_ROOT}:${PLUGIN_ROOT}", "/r:/r"),
        ("$PLUGIN_ROOT ${HOME} $${PLUGIN_ROOT}", "$PLUGIN_ROOT ${HOME} $/r"),
    ],
)
def test_the_plugins_folder_is_put_into_command_arguments_and_values(
    text: str, expanded: str
) -> None:
    entry = Entry(command=text, args=(text,), env={text: text}).expanded("/r")
    assert entry == Entry(command=expanded, args=(expanded,), env={text: expanded})


def test_the_layers_are_looked_at_in_order(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    project = tmp_path / "project"
    found = layers(tmp_path / "config", compat=["bingo"], environ=environ, project=project)
    assert [layer.path for layer in found] == [
        str(tmp_path / "config" / "plugins"),
        str(tmp_path / "home" / ".bingo" / "plugins"),
        str(project / ".tinyhost" / "plugins"),
        str(project / ".bingo" / "plugins"),
    ]
    assert len(layers(tmp_path / "config", environ=environ)) == 1
    assert len(layers(tmp_path / "config", environ=environ, project=project)) == 2


def test_the_earlier_layer_has_the_name_unless_it_is_broken(tmp_path: Path) -> None:
    found = layers(tmp_path / "config", project=tmp_path / "project")
    user, project = (Path(layer.path) for layer in found)
    for folder, name, manifest in (
        (user, "both", {**GOOD, "name": "both", "version": "user"}),
        (project, "both", {**GOOD, "name": "both", "version": "project"}),
        (user, "broken", "{"),
        (project, "broken", {**GOOD, "name": "broken"}),
        (user, "alone", GOOD),
        (project, "Bad", {**GOOD, "name": "Bad"}),
    ):
        write(folder / name, manifest)
    (user / "no-plugin").mkdir()
    said = {plugin.name: plugin for plugin in discover(found)}
    assert list(said) == ["Bad", "alone", "both", "broken"]
    assert said["both"].manifest is not None
    assert said["both"].manifest.version == "user"
    assert said["broken"].source == "project's plugin folder"
    assert "names the plugin 'demo'" in said["alone"].problem
    assert "not allowed" in said["Bad"].problem


def test_layers_that_are_missing_hold_nothing_and_one_that_is_reached_twice_is_read_once(
    tmp_path: Path,
) -> None:
    found = layers(tmp_path / "config", project=tmp_path / "project")
    assert discover(found) == []
    write(Path(found[0].path) / "demo")
    Path(found[1].path).parent.mkdir(parents=True)
    Path(found[1].path).symlink_to(found[0].path)
    assert [plugin.source for plugin in discover(found)] == ["plugin folder"]


def test_a_folder_with_a_manifest_is_a_bingo_plugin(tmp_path: Path) -> None:
    folder = write(tmp_path / "config" / "plugins" / "demo")
    found = Resolver(tmp_path / "config", "", scripts="").resolve("demo")
    assert (found.path, found.dialect, found.folder) == (str(folder), "bingo", str(folder))


@pytest.mark.parametrize("compat", [(), ("bingo",)])
def test_bingos_own_folder_counts_when_compat_says_so(
    tmp_path: Path, compat: tuple[str, ...]
) -> None:
    folder = write(tmp_path / "home" / ".bingo" / "plugins" / "demo")
    environ = {"HOME": str(tmp_path / "home")}
    resolver = Resolver(tmp_path / "config", "", scripts="", compat=compat, environ=environ)
    if compat:
        assert resolver.resolve("demo").path == str(folder)
        assert str(folder) in resolver.searched("demo")
    else:
        with pytest.raises(tinyhost.PluginNotFound):
            resolver.resolve("demo")


def test_a_broken_manifest_in_a_plugin_folder_is_told_and_nothing_else_is_taken(
    tmp_path: Path,
) -> None:
    write(tmp_path / "config" / "plugins" / "demo", "{")
    with pytest.raises(LoadError, match=r"demo has a plugin\.json that cannot be used"):
        Resolver(tmp_path / "config", "", scripts="").resolve("demo")


# --- started


Add = Callable[..., Path]


async def test_the_manifests_variables_are_added_to_ours_and_give_way_to_the_persons(
    add_stub: Add, configured: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_ONLY", "1")
    env = {"OWN": "${PLUGIN_ROOT}!", "BOTH": "manifest"}
    entry = {"command": "python3", "args": ["-S", "${PLUGIN_ROOT}/main.py"], "env": env}
    folder = add_stub(entry=entry)
    config = configured({"stub": {"env": {"BOTH": "person"}}}, stub={})
    async with tinyhost.open_manager(config) as manager:
        await manager.load("stub")

        async def seen(name: str) -> str:
            return (await manager.call_tool("stub", "echo", {"env": name})).content

        assert await seen("OWN") == f"{folder}!"
        assert await seen("BOTH") == "person"
        assert await seen("HOST_ONLY") == ""
        assert await seen("HOME") != ""


async def test_the_program_runs_in_its_folder_and_is_told_where_the_host_has_its_own(
    home: Path, add_stub: Add, configured: Any, tmp_path: Path
) -> None:
    folder = add_stub()
    (tmp_path / "project").mkdir()
    config = configured(stub={"a": 1})
    async with tinyhost.open_manager(config, directory=tmp_path / "project") as manager:
        plugin = await manager.load("stub")
        assert plugin.info.pid is not None
        assert Path(f"/proc/{plugin.info.pid}/cwd").readlink() == folder
        store = json.loads((await manager.call_tool("stub", "echo", {"show": "store"})).content)
        call = json.loads((await manager.call_tool("stub", "echo", {})).content)
        direct = json.loads((await plugin.call_tool("echo", {})).content)
    assert store["initialize"] == {
        "protocol": 6,
        "pluginRoot": str(folder),
        "config": {"a": 1},
        "env": {
            "home": str(home),
            "configDir": str(home / "config"),
            "dataDir": str(home / "state" / "plugin-data"),
        },
    }
    assert (home / "state" / "plugin-data").is_dir()
    assert call["cwd"] == direct["cwd"] == str(tmp_path / "project")


SCHEMA = {"type": "object", "properties": {"limit": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("config", "options", "words"),
    [
        (SCHEMA, {"limit": "x"}, "do not fit the schema .*limit.*; correct the entry of stub"),
        ({"type": "nonsense"}, {"limit": 1}, "config is no JSON Schema"),
        ({"$ref": "https://example.invalid/x"}, {"limit": 1}, "nothing is fetched for it"),
    ],
)
async def test_options_that_do_not_fit_the_manifests_schema_are_refused(
    add_stub: Add, configured: Any, config: Any, options: Any, words: str
) -> None:
    add_stub(config=config)
    async with tinyhost.open_manager(configured(stub=options)) as manager:
        with pytest.raises(LoadError, match=words) as caught:
            await manager.load("stub")
        assert caught.value.stage == "resolve"


@pytest.mark.parametrize(
    ("config", "options"), [(SCHEMA, {"limit": 3}), (SCHEMA, {}), (True, {"a": 1})]
)
async def test_options_that_fit_are_handed_over(
    add_stub: Add, configured: Any, config: Any, options: Any
) -> None:
    add_stub(config=config)
    async with tinyhost.open_manager(configured(stub=options)) as manager:
        await manager.load("stub")
        store = json.loads((await manager.call_tool("stub", "echo", {"show": "store"})).content)
        assert store["initialize"]["config"] == (options or None)


@pytest.mark.parametrize(
    ("command", "stage", "words"),
    [
        ("no-such-program", "resolve", "'no-such-program' is not on PATH"),
        ("./missing", "spawn", "missing"),
    ],
)
async def test_a_program_that_is_not_there_is_named(
    add_stub: Add, command: str, stage: str, words: str
) -> None:
    add_stub(entry={"command": command})
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=words) as caught:
            await manager.load("stub")
        assert caught.value.stage == stage


async def test_a_script_that_others_can_change_is_not_run(add_stub: Add) -> None:
    (add_stub() / "main.py").chmod(0o666)
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=r"main.py can be written by everybody"):
            await manager.load("stub")


async def test_a_command_with_a_slash_counts_from_the_plugins_folder(add_stub: Add) -> None:
    folder = add_stub(entry={"command": "./main.py"})
    script = folder / "main.py"
    script.write_text("#!/usr/bin/env python3\n" + script.read_text())
    script.chmod(0o755)
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("stub")
        assert plugin.info.path == str(script)


async def test_a_projects_own_plugin_runs_when_the_project_is_trusted(
    project: Any, add_stub: Add
) -> None:
    source = (add_stub("spare") / "main.py").read_text()
    folder = write(
        project.plugins / "stub",
        {
            "name": "stub",
            "version": "1",
            "entry": {"command": "python3", "args": ["-S", "main.py"]},
        },
    )
    (folder / "main.py").write_text(source)
    project.configure({"plugins": ["stub"]})
    async with tinyhost.open_manager(project.load(), directory=project.root) as manager:
        with pytest.raises(tinyhost.PluginNotFound):
            await manager.load("stub")
    project.trust()
    async with tinyhost.open_manager(project.load(), directory=project.root) as manager:
        assert (await manager.load("stub")).info.dialect == "bingo"


async def test_a_plugin_in_bingos_folder_of_a_trusted_project_has_to_be_pinned(
    home: Path, project: Any, add_stub: Add
) -> None:
    (home / "config" / "config.json").write_text('{"compat": ["bingo"]}')
    folder = write(
        project.root / ".bingo" / "plugins" / "stub",
        {
            "name": "stub",
            "version": "1",
            "entry": {"command": "python3", "args": ["-S", "main.py"]},
        },
    )
    (folder / "main.py").write_text((add_stub("spare") / "main.py").read_text())
    project.configure({"plugins": ["stub"]})
    project.trust()
    async with tinyhost.open_manager(project.load(), directory=project.root) as manager:
        with pytest.raises(LoadError, match="tinyhost plugin pin stub"):
            await manager.load("stub")
