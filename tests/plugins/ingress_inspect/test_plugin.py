"""The plugin behind the wire: in memory, as a process, behind the host and the command."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shipped import Shipped, cancelled_call, hosting, tool

from tinyhost_plugins.ingress_inspect.plugin import build
from tinyhost_sdk import testing

from .conftest import CONTROLLERS, controller

Files = dict[str, Any]
Write = Callable[..., Path]

PLUGIN = Shipped("ingress-inspect")
TOOLS = {
    "ingress_controllers": {"path", "limit"},
    "ingress_backends": {"path", "filter", "limit"},
    "ingress_route_check": {"path", "namespace", "limit"},
    "ingress_config": {"path", "limit"},
    "ingress_health": {"path", "limit"},
}


def test_the_tools_have_their_names_and_parameters_and_say_what_they_do() -> None:
    with testing.drive(build()) as driver:
        tools = driver.manifest["tools"]
        assert driver.manifest.get("hooks", []) == []
    found = {tool["name"]: tool["inputSchema"] for tool in tools}
    assert {name: set(schema["properties"]) for name, schema in found.items()} == TOOLS
    assert all(schema["required"] == ["path"] for schema in found.values())
    assert all(kind["description"] for s in found.values() for kind in s["properties"].values())
    assert all("must-gather" in tool["description"] for tool in tools)


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("health", {}, "path is missing"),
        ("health", None, "path is missing"),
        ("health", {"path": ""}, "path is empty; give the folder of an unpacked must-gather"),
        ("health", {"path": " "}, "path is empty"),
        ("health", {"path": 5}, "path must be a string"),
        ("health", {"path": "none"}, "none does not exist; give the folder"),
        ("health", {"path": "a\0b"}, "cannot be opened"),
        (
            "health",
            {"path": "~no-such-user-here/x"},
            "~no-such-user-here/x: there is no such home folder",
        ),
        ("health", {"path": "empty"}, "is no must-gather: no folder in it has cluster-scoped"),
        ("health", {"path": "file"}, "is not a folder"),
        ("health", {"path": ".", "limit": 1001}, "limit has to be from 0 to 1000, not 1001"),
        ("health", {"path": ".", "limit": -1}, "limit has to be from 0 to 1000, not -1"),
        ("health", {"path": ".", "filter": "x"}, "unknown argument filter"),
        ("backends", {"path": ".", "filter": "x" * 501}, "filter has more than 500 characters"),
        ("route_check", {"path": ".", "namespace": "../x"}, "'../x' is no name of a namespace"),
        ("route_check", {"path": ".", "namespace": "x" * 64}, "is no name of a namespace"),
        ("route_check", {"path": ".", "namespace": "a\nb"}, "'a\\nb' is no name of a namespace"),
    ],
)
def test_what_cannot_be_done_is_an_error_of_the_tool_on_one_line(
    cluster: Files, write: Write, tool: str, args: Files | None, said: str
) -> None:
    folder = write(cluster)
    (folder / "empty").mkdir()
    (folder / "file").write_text("x")
    with testing.drive(build()) as driver:
        result = driver.call_tool(f"ingress_{tool}", args, directory=str(folder))
    assert result.is_error
    assert said in result.content
    assert "\n" not in result.content


def test_a_path_may_be_relative_to_the_project_and_above_or_at_the_image_s_folder(
    cluster: Files, write: Write
) -> None:
    folder = write(cluster)
    (image,) = folder.iterdir()
    with testing.drive(build()) as driver:
        for path, project in ((folder.name, folder.parent), (".", folder), (str(image), "/")):
            result = driver.call_tool("ingress_health", {"path": path}, directory=str(project))
            assert result.content.startswith("No issues found with the routers.\n")


def test_the_folders_of_other_images_are_named(cluster: Files, write: Write) -> None:
    folder = write(cluster)
    (folder / "other-image" / "namespaces").mkdir(parents=True)
    with testing.drive(build()) as driver:
        said = driver.call_tool("ingress_controllers", {"path": str(folder)}).content
    assert said.split("\n")[-1].startswith(f"Looked at: {folder}")
    assert said.endswith(f"not at {folder}/other-image")


def test_a_must_gather_that_has_changed_is_read_again(cluster: Files, write: Write) -> None:
    with testing.drive(build()) as driver:
        for number in (1, 2):
            files = {f"{CONTROLLERS}/c{n}.yaml": controller(f"c{n}") for n in range(number)}
            args = {"path": str(write(cluster | files))}
            said = driver.call_tool("ingress_controllers", args).content
            assert said.startswith(f"{number + 1} ingress controllers")


def test_a_call_can_be_cancelled(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = {"path": str(write(cluster))}
    result = cancelled_call(build(), "ingress_health", args, monkeypatch)
    assert result.is_error
    assert result.content.startswith("cancelled while reading ")


def test_a_call_that_takes_too_long_ends_with_an_error(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tinyhost_plugins._shared import pace

    seconds = iter(range(0, 10**6, 50))
    monkeypatch.setattr(pace.time, "monotonic", lambda: next(seconds))
    with testing.drive(build()) as driver:
        result = driver.call_tool("ingress_health", {"path": str(write(cluster))})
    assert result.is_error
    assert result.content == (
        "reading the must-gather took more than 60 seconds; raise the plugin's option maxSeconds"
    )


def test_a_file_of_routes_that_takes_too_long_ends_the_call(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tinyhost_plugins._shared import pace

    # Each look at the time is a second later. Without those during the file there are few.
    monkeypatch.setattr(pace.time, "monotonic", itertools.count().__next__)
    rows = "".join(f"- metadata: {{name: r{number}}}\n" for number in range(40_000))
    files = {"namespaces/shop/route.openshift.io/routes.yaml": f"items:\n{rows}"}
    with testing.drive(build(), {"maxSeconds": 40}) as driver:
        path = str(write(cluster))
        assert not driver.call_tool("ingress_route_check", {"path": path}).is_error
        path = str(write(cluster | files))
        result = driver.call_tool("ingress_route_check", {"path": path})
    assert result.is_error
    assert result.content.startswith("reading the must-gather took more than 40 seconds")


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"maxRows": 0}):
        pass
    assert 'option "maxRows" has to be a whole number from 1 to 1000' in caught.value.message


def test_starting_up_imports_nothing_that_a_call_alone_needs() -> None:
    slow = {"re", "json", "typing", "pathlib", "dataclasses", "yaml", "cryptography", "datetime"}
    started, _end = PLUGIN.imported({"maxRows": 7})
    assert not (slow | {"tinyhost_plugins.ingress_inspect.answers"}) & started


def test_a_process_shakes_hands_and_answers(cluster: Files, write: Write) -> None:
    args = {"path": str(write(cluster))}
    hello, *answers = PLUGIN.results(*(tool(name, args) for name in TOOLS))
    assert hello["id"] == "ingress-inspect"
    assert [answer["content"].split("\n")[0] for answer in answers] == [
        "1 ingress controller, none with a bad condition",
        "8 backends in 2 configurations, none for routes without servers",
        "No issues with routes.",
        "2 HAProxy configurations, none with long timeouts",
        "No issues found with the routers.",
    ]


async def test_behind_the_host_a_tool_answers(
    cluster: Files, write: Write, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PLUGIN.install_as_wheel(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    folder = write(cluster)
    async with hosting(home, [["ingress-inspect", {"maxRows": 5}]]) as host:
        session = await host.session_start(str(folder.parent))
        outcome = await host.call(
            "plugin__ingress-inspect__ingress_config", {"path": folder.name}, session
        )
        await host.session_end(session)
    assert not outcome.is_error
    assert outcome.content.startswith("2 HAProxy configurations")
    assert "7 more; call again with limit (up to 1000)" in outcome.content


def test_the_command_calls_a_tool_of_the_installed_program(
    cluster: Files, write: Write, home: Path, tmp_path: Path
) -> None:
    PLUGIN.install_as_wheel(tmp_path / "bin")
    (home / "config" / "config.json").write_text('{"plugins": ["ingress-inspect"]}')
    folder = write(cluster)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = PLUGIN.call(folder.parent, "ingress_route_check", {"path": folder.name}, PATH=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No issues with routes.\n")
    done = PLUGIN.call(folder.parent, "ingress_health", {"path": "elsewhere"}, PATH=path)
    assert done.returncode == 1
    assert "elsewhere does not exist; give the folder of an unpacked must-gather" in done.stdout
