"""Plugins behind a launcher: what is started, with which words and variables, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import tinyhost
from tinyhost import ConfigError, LoadError, PluginNotFound, PluginSkipped
from tinyhost.check.target import find_target
from tinyhost.config import Config, load_config, parse_config
from tinyhost.errors import InvalidCall
from tinyhost.model import Limits, Resolved
from tinyhost.pins import pin_plugin
from tinyhost.resolve import Resolver

AddPlugin = Callable[[str, str], Path]
ProjectFolder = Any  # of conftest.py

PEERS = Path(__file__).parent.parent / "peers"

# Answers with its arguments and its environment.
MIRROR = f"""\
#!{sys.executable}
import sys
sys.path.insert(0, {str(PEERS)!r})
from rawplugin import *
handshake()
seen = json.dumps({{"argv": sys.argv[1:], "env": dict(os.environ), "nice": os.nice(0)}})
serve(lambda params: {{"content": seen}})
"""

# Notes how it was called, drops the words up to "--", and becomes what follows.
LAUNCHER = f"""\
#!{sys.executable}
import json, os, sys
with open(os.path.dirname(__file__) + "/seen", "w") as file:
    json.dump({{"argv": sys.argv[1:], "env": dict(os.environ)}}, file)
words = sys.argv[sys.argv.index("--") + 1:]
os.execvpe(words[0], words, {{"PATH": os.environ["PATH"], "FAR": "yes"}})
"""


class Machine:
    """A PATH with launchers on it, and a plugin that is meant for the far side."""

    def __init__(self, home: Path, tmp_path: Path) -> None:
        self.home = home
        self.bin = tmp_path / "bin"
        self.bin.mkdir()
        self.plugin = self.write("tinyhost-plugin-far", MIRROR)
        self.environ = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def write(self, name: str, text: str) -> Path:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    @property
    def seen(self) -> Any:
        """How the launcher was called."""
        return json.loads((self.bin / "seen").read_text())

    def parse(self, value: Mapping[str, Any], problems: int = 0) -> Config:
        found = parse_config(json.dumps(value), str(self.home / "config" / "config.json"))
        assert len(found.problems) == problems
        return found

    def config(self, **settings: Any) -> Config:
        return self.parse({"settings": {"far": settings}})

    def open(self, config: Config, **environ: str) -> tinyhost.open_manager:
        return tinyhost.open_manager(config, environ={**self.environ, **environ})

    async def run(self, config: Config, name: str = "far", **environ: str) -> Any:
        """Load the plugin and have it say what it sees."""
        async with self.open(config, **environ) as manager:
            with trio.fail_after(20):
                await manager.load(name)
                return json.loads((await manager.call_tool(name, "t")).content)

    async def command(self, config: Config, name: str = "far", **environ: str) -> Sequence[str]:
        """The words that would be started."""
        async with self.open(config, **environ) as manager:
            return manager.launch(name).command

    async def refused(self, config: Config, name: str = "far", **environ: str) -> LoadError:
        async with self.open(config, **environ) as manager:
            with pytest.raises(LoadError) as caught:
                await manager.load(name)
            assert manager.list() == []
        return caught.value


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    return Machine(home, tmp_path)


# --- the words


async def test_the_command_follows_the_launcher_and_is_looked_up_behind_it(
    machine: Machine,
) -> None:
    docker = machine.write("docker", LAUNCHER)
    launch = ["docker", "run", "-i", "some image", "--"]
    found = await machine.run(machine.config(launch=launch))
    assert found["env"]["FAR"] == "yes"
    assert machine.seen["argv"] == ["run", "-i", "some image", "--", "tinyhost-plugin-far"]
    command = await machine.command(machine.config(launch=launch))
    assert command == (str(docker), *launch[1:], "tinyhost-plugin-far")


@pytest.mark.parametrize("name", ["docker", "podman", "kubectl", "oc", "something-else"])
async def test_words_are_handed_over_one_by_one(machine: Machine, name: str) -> None:
    machine.write(name, LAUNCHER)
    words = ["two words", "it's", '"q"', "$HOME `id` \\ *", "", "line\nbreak", "-o"]
    config = machine.config(launch=[name, "--"], remoteCommand=[str(machine.plugin), *words])
    assert (await machine.run(config))["argv"] == words


@pytest.mark.parametrize(
    ("launch", "shell", "quoted"),
    [
        (["ssh", "box"], None, True),
        (["{bin}/ssh", "box"], None, True),
        (["${JUMP:-ssh}", "box"], None, True),
        (["ssh", "box"], False, False),
        (["docker", "ssh"], None, False),
        (["kubectl", "exec", "-i", "ssh", "--"], None, False),
        (["other", "box"], None, False),
        (["other", "box"], True, True),
        (["nice", "ssh", "box"], True, True),
    ],
)
async def test_the_command_is_quoted_where_a_shell_reads_it(
    machine: Machine, launch: list[str], shell: bool | None, quoted: bool
) -> None:
    for name in ("ssh", "docker", "kubectl", "other", "nice"):
        machine.write(name, LAUNCHER)
    words = [word.replace("{bin}", str(machine.bin)) for word in launch]
    more = {} if shell is None else {"remoteShell": shell}
    config = machine.config(launch=words, remoteCommand=["far", "it's"], env={"A": "b c"}, **more)
    command = await machine.command(config)
    far = ["env 'A=b c' far 'it'\"'\"'s'"] if quoted else ["env", "A=b c", "far", "it's"]
    assert list(command[len(launch) :]) == far


async def test_it_has_to_be_said_whether_a_shell_reads_what_a_wrapped_ssh_gets(
    machine: Machine,
) -> None:
    machine.write("sudo", LAUNCHER)
    error = await machine.refused(machine.config(launch=["sudo", "/usr/bin/ssh", "box"]))
    assert '"remoteShell": true or false' in error.reason


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=4))
@hypothesis_settings(max_examples=60)
def test_a_shell_gives_every_word_back_as_it_was(words: list[str]) -> None:
    command = ["printf", "%s\\0", "first", *(word.replace("$", "$$") for word in words)]
    settings = {"launch": ["sh", "-c"], "remoteShell": True, "remoteCommand": command}
    config = parse_config(json.dumps({"settings": {"far": settings}}), "/nowhere/config.json")

    async def started() -> Sequence[str]:
        async with tinyhost.open_manager(config) as manager:
            return manager.launch("far").command

    done = subprocess.run(trio.run(started), stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().split("\0")[:-1] == ["first", *words]


async def test_references_in_the_words_are_the_hosts_variables(machine: Machine) -> None:
    machine.write("kubectl", LAUNCHER)
    settings = {
        "launch": ["kubectl", "exec", "${POD}", "--"],
        "remoteCommand": ["far", "${MODE:-safe}", "$$HOME"],
    }
    command = await machine.command(machine.config(**settings), POD="pod-1")
    assert command[1:] == ("exec", "pod-1", "--", "far", "safe", "$HOME")
    async with machine.open(machine.config(**settings)) as manager:
        with pytest.raises(ConfigError, match="the variable POD is not set"):
            manager.launch("far")


async def test_an_empty_remote_command_leaves_it_to_the_launcher(machine: Machine) -> None:
    docker = machine.write("docker", LAUNCHER)
    config = machine.config(launch=["docker", "run", "-i", "image"], remoteCommand=[])
    assert await machine.command(config) == (str(docker), "run", "-i", "image")


async def test_a_reference_that_makes_an_option_of_the_command_is_refused(machine: Machine) -> None:
    machine.write("ssh", LAUNCHER)
    config = machine.config(launch=["ssh", "box"], remoteCommand=["${PROGRAM}"])
    error = await machine.refused(config, PROGRAM="-oProxyCommand=x")
    assert "which is not the name of a program" in error.reason


# --- launchers of this machine


@pytest.mark.parametrize("launch", [["nice", "-n", "5"], ["env", "-i"], ["env", "-u", "HOME"]])
async def test_a_wrapper_of_this_machine_is_a_launcher_too(
    machine: Machine, launch: list[str]
) -> None:
    command = [sys.executable, str(machine.plugin), "x y"]
    config = machine.config(launch=launch, remoteCommand=command, env={"SET": "for it"})
    found = await machine.run(config)
    assert found["argv"] == ["x y"]
    assert found["env"]["SET"] == "for it"
    assert found["nice"] == os.nice(0) + (5 if launch[0] == "nice" else 0)
    assert ("HOME" in found["env"]) is (launch[0] == "nice")
    if launch == ["env", "-i"]:
        assert {name for name in found["env"] if not name.startswith("LC_")} == {"SET"}


async def test_the_launcher_is_taken_from_the_home_by_a_tilde(machine: Machine) -> None:
    tool = machine.home / "jump"
    tool.write_text(LAUNCHER)
    tool.chmod(0o755)
    config = machine.config(launch=["~/jump", "--"])
    assert (await machine.command(config))[0] == str(tool)


@pytest.mark.parametrize(
    ("launch", "reason"),
    [
        (["./jump"], "its launcher ./jump must be a name on PATH or an absolute path"),
        (["no-such-launcher"], "no-such-launcher cannot be used: it is not on PATH; install it"),
        (["/no/such/launcher"], "cannot be used: /no/such/launcher does not exist"),
        (["open-to-all"], "/open-to-all can be written by everybody; fix it with: chmod go-w"),
        (["plain"], "/plain is not executable; fix it with: chmod +x"),
    ],
)
async def test_a_launcher_that_cannot_be_trusted_or_found_is_refused(
    machine: Machine, launch: list[str], reason: str
) -> None:
    machine.write("open-to-all", LAUNCHER).chmod(0o777)
    machine.write("plain", LAUNCHER).chmod(0o644)
    error = await machine.refused(machine.config(launch=launch))
    assert error.stage == "resolve"
    assert reason in error.reason


async def test_a_folder_of_path_that_is_relative_is_passed_over(machine: Machine) -> None:
    tool = machine.write("jump", LAUNCHER)
    path = f".::bin:{machine.bin}"
    assert (await machine.command(machine.config(launch=["jump"]), PATH=path))[0] == str(tool)


async def test_a_file_of_the_plugins_name_is_not_looked_at(
    machine: Machine, add_plugin: AddPlugin
) -> None:
    add_plugin("far", "sys.exit(9)").chmod(0o777)
    machine.write("jump", LAUNCHER)
    found = await machine.run(machine.config(launch=["jump", "--"]))
    assert found["env"]["FAR"] == "yes"


async def test_the_name_of_a_builtin_is_skipped(machine: Machine) -> None:
    config = machine.parse({"settings": {"*": {"launch": ["env"]}}})
    async with machine.open(config) as manager:
        with pytest.raises(PluginSkipped):
            await manager.load("notify")
        with pytest.raises(InvalidCall):
            await manager.load("../far")


# --- variables


@pytest.mark.parametrize(
    ("launcher", "names"),
    [
        ("ssh", {"SSH_AUTH_SOCK"}),
        ("kubectl", {"KUBECONFIG"}),
        ("oc", {"KUBECONFIG"}),
        ("docker", {"DOCKER_HOST"}),
        ("podman", {"CONTAINER_HOST"}),
        ("other", set()),
    ],
)
async def test_a_launcher_gets_what_plugins_get_and_what_it_needs_to_find_its_way(
    machine: Machine, launcher: str, names: set[str]
) -> None:
    machine.write(launcher, LAUNCHER)
    ways = ("SSH_AUTH_SOCK", "KUBECONFIG", "DOCKER_HOST", "CONTAINER_HOST")
    environ = {**dict.fromkeys(ways, "x"), "NAMED": "n", "UNNAMED": "u"}
    settings = {"launch": [launcher, "--"], "passEnv": ["NAMED"], "remoteShell": False}
    await machine.run(machine.config(**settings), **environ)
    seen = machine.seen["env"]
    assert {name for name in seen if name in ways} == names
    assert (seen["HOME"], seen["NAMED"]) == (str(machine.home), "n")
    assert "UNNAMED" not in seen


async def test_variables_are_set_on_the_far_side_and_not_for_the_launcher(
    machine: Machine,
) -> None:
    machine.write("jump", LAUNCHER)
    env = {"MODE": "${MODE:-safe} it's", "EMPTY": ""}
    found = await machine.run(machine.config(launch=["jump", "--"], env=env))
    assert machine.seen["argv"][1:] == ["env", "MODE=safe it's", "EMPTY=", "tinyhost-plugin-far"]
    assert not {"MODE", "EMPTY"} & set(machine.seen["env"])
    assert (found["env"]["MODE"], found["env"]["EMPTY"]) == ("safe it's", "")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"env": {"MY_TOKEN": "s3cret-value"}}, "its variable MY_TOKEN"),
        ({"env": {"PLAIN": "key ${HOST_TOKEN}"}}, "its variable PLAIN"),
        ({"env": {"URL": "https://me:s3cret-value@host/"}}, "its variable URL"),
        ({"remoteCommand": ["far", "--key=${HOST_TOKEN}"]}, "its command"),
        ({"launch": ["jump", "-e", "K=${HOST_TOKEN}", "--"]}, "its command"),
    ],
)
async def test_a_secret_in_the_argument_list_is_refused_without_being_told(
    machine: Machine, settings: dict[str, Any], what: str
) -> None:
    machine.write("jump", LAUNCHER)
    config = machine.config(**{"launch": ["jump", "--"], **settings})
    error = await machine.refused(config, HOST_TOKEN="s3cret-value")
    assert error.reason.startswith(f"{what} holds a secret")
    assert "passEnv" in error.reason
    assert "s3cret-value" not in str(error)


async def test_variables_without_a_command_to_set_them_for_are_refused(machine: Machine) -> None:
    machine.write("docker", LAUNCHER)
    config = machine.config(launch=["docker"], remoteCommand=[], env={"MODE": "x"})
    assert "docker does with -e NAME=value" in (await machine.refused(config)).reason


# --- limits, sandboxes, pins, projects: what does not reach over


async def test_a_sandbox_that_cannot_hold_is_refused(machine: Machine) -> None:
    machine.write("ssh", LAUNCHER)
    error = await machine.refused(machine.config(launch=["ssh", "box"], sandbox=True))
    assert error.stage == "spawn"
    assert "a sandbox, which cannot be had behind a launcher: only ssh would be" in error.reason
    assert not (machine.bin / "seen").exists()


async def test_limits_that_cannot_hold_are_refused(machine: Machine) -> None:
    machine.write("ssh", LAUNCHER)
    limits = {"memory": "64MiB", "nice": 3}
    error = await machine.refused(machine.config(launch=["ssh", "box"], limits=limits))
    assert error.stage == "spawn"
    assert "limits (memory 64MiB, nice 3), which cannot be had behind a launcher" in error.reason


async def test_a_sandbox_and_limits_of_all_plugins_can_be_lifted(machine: Machine) -> None:
    machine.write("jump", LAUNCHER)
    config = machine.parse(
        {
            "settings": {
                "*": {"sandbox": True, "limits": {"memory": "64MiB", "nice": 3}},
                "far": {
                    "launch": ["jump", "--"],
                    "sandbox": False,
                    "limits": {"memory": "unlimited", "nice": 0},
                },
            }
        }
    )
    async with machine.open(config) as manager:
        plugin = await manager.load("far")
        assert plugin.info.limits == Limits()
        assert plugin.info.confinement is None


async def test_a_plugin_with_a_pin_is_not_started_by_a_launcher(
    machine: Machine, add_plugin: AddPlugin
) -> None:
    program = add_plugin("far", "handshake()\nserve()")
    machine.write("jump", LAUNCHER)
    config = machine.config(launch=["jump", "--"])
    pin_plugin(config.file, "far", Resolved(str(program), "x"))
    error = await machine.refused(config)
    assert error.stage == "resolve"
    assert "it is pinned, but has a launcher in its settings" in error.reason
    assert "tinyhost plugin unpin far" in error.reason
    assert not (machine.bin / "seen").exists()


async def test_a_file_of_pins_that_cannot_be_read_stops_it_too(machine: Machine) -> None:
    machine.write("jump", LAUNCHER)
    (machine.home / "config" / "tinyhost.lock").write_text("?")
    error = await machine.refused(machine.config(launch=["jump", "--"]))
    assert "correct the file, or delete it to have no pins" in error.reason


def test_a_trusted_project_cannot_have_its_plugins_started_elsewhere(
    home: Path, project: ProjectFolder
) -> None:
    project.program("mine")
    settings = {"launch": ["ssh", "box"], "remoteCommand": ["x"], "remoteShell": False}
    project.configure({"plugins": ["mine"], "settings": {"mine": {**settings, "env": {"A": "b"}}}})
    project.trust()
    config = project.load()
    found = config.settings_for("mine")
    assert (found.launch, found.remote_command, found.remote_shell) == ((), None, None)
    assert found.env == {"A": "b"}
    told = {problem.key: problem.message for problem in config.problems}
    for key in settings:
        assert "a project cannot have its plugins started elsewhere" in told[f"settings.mine.{key}"]


def test_the_persons_launcher_counts_for_a_plugin_of_a_project(
    home: Path, project: ProjectFolder
) -> None:
    text = json.dumps({"settings": {"*": {"launch": ["ssh", "box"]}}})
    (home / "config" / "config.json").write_text(text)
    project.configure({"plugins": ["mine"], "settings": {"mine": {"launch": []}}})
    project.trust()
    assert project.load().settings_for("mine").launch == ("ssh", "box")


# --- the settings


@pytest.mark.parametrize(
    "settings",
    [
        {"launch": "ssh box"},
        {"launch": ["ssh", 1]},
        {"launch": [""]},
        {"launch": ["-x"]},
        {"launch": None},
        {"launch": ["jump", "--"], "remoteCommand": "far"},
        {"launch": ["jump", "--"], "remoteCommand": ["-c"]},
        {"launch": ["jump", "--"], "remoteCommand": ["far", None]},
    ],
)
async def test_a_mistake_in_the_settings_does_not_start_it_here(
    machine: Machine, add_plugin: AddPlugin, settings: dict[str, Any]
) -> None:
    machine.write("jump", LAUNCHER)
    mark = machine.home / "ran"
    add_plugin("far", f"open({str(mark)!r}, 'w')\nhandshake()\nserve()")
    config = machine.parse({"settings": {"far": settings}}, problems=1)
    assert config.problems[0].severity == "error"
    error = await machine.refused(config)
    assert "tinyhost config validate" in error.reason
    assert not mark.exists()
    assert not (machine.bin / "seen").exists()


def test_a_plugins_own_launcher_comes_with_its_own_shell(machine: Machine) -> None:
    config = machine.parse(
        {
            "settings": {
                "*": {"launch": ["jump"], "remoteShell": True},
                "own": {"launch": ["docker"]},
                "shell": {"remoteShell": False},
                "here": {"launch": []},
                "command": {"remoteCommand": ["x"]},
            }
        }
    )
    found = {
        name: (settings.launch, settings.remote_command, settings.remote_shell)
        for name in ("any", "own", "shell", "here", "command")
        for settings in [config.settings_for(name)]
    }
    assert found == {
        "any": (("jump",), None, True),
        "own": (("docker",), None, None),
        "shell": (("jump",), None, False),
        "here": ((), None, None),
        "command": (("jump",), ("x",), True),
    }


async def test_an_empty_launcher_starts_it_here(machine: Machine, add_plugin: AddPlugin) -> None:
    program = add_plugin("far", "handshake()\nserve()")
    config = machine.parse({"settings": {"*": {"launch": ["jump"]}, "far": {"launch": []}}})
    assert await machine.command(config) == (str(program),)


# --- MCP servers, and the check


async def test_an_mcp_server_is_started_by_a_launcher_with_its_own_command(
    machine: Machine,
) -> None:
    jump = machine.write("jump", LAUNCHER)
    config = machine.parse(
        {
            "mcpServers": {
                "time": {
                    "command": "no-program-here",
                    "args": ["${ZONE}", "b c"],
                    "env": {"A": "1"},
                }
            },
            "settings": {"time": {"launch": ["jump", "--"]}},
        }
    )
    async with machine.open(config, ZONE="UTC") as manager:
        launch = manager.launch("time")
        assert launch.dialect().name == "mcp"
        far = ("env", "A=1", "no-program-here", "UTC", "b c")
        assert launch.command == (str(jump), "--", *far)
        with pytest.raises(LoadError) as caught:
            await manager.load("time")
        assert "no-program-here" in caught.value.stderr
        assert caught.value.status == (
            "exited with status 127 (there is no such command where the launcher leads to)"
        )


async def test_a_server_at_an_address_needs_no_launcher(machine: Machine) -> None:
    config = machine.parse(
        {
            "mcpServers": {"docs": {"url": "http://127.0.0.1:9/mcp"}},
            "settings": {"*": {"launch": ["no-such-launcher"]}},
        }
    )
    error = await machine.refused(config, "docs")
    assert "no-such-launcher" not in str(error)


def test_the_check_goes_through_the_launcher(machine: Machine) -> None:
    jump = machine.write("jump", LAUNCHER)
    config = machine.config(launch=["jump", "--"], remoteCommand=["far", "x"])
    finder = Resolver(machine.home / "config", "", scripts="")
    where: dict[str, Any] = {
        "config": config,
        "resolver": finder,
        "directory": str(machine.home),
        "environ": machine.environ,
    }
    target = find_target("far", **where)
    assert target.launch.command == (str(jump), "--", "far", "x")
    with pytest.raises(InvalidCall, match="its arguments belong into its remoteCommand"):
        find_target("far", **where, arguments=["y"])
    with pytest.raises(PluginNotFound):
        find_target("other", **where)


async def test_the_configuration_file_is_read_with_a_launcher(machine: Machine) -> None:
    machine.write("jump", LAUNCHER)
    text = '{"plugins": ["far"], "settings": {"far": {"launch": ["jump", "--"]}}}'
    (machine.home / "config" / "config.json").write_text(text)
    async with machine.open(load_config()) as manager:
        [loaded] = await manager.load_all()
        assert loaded.error is None
