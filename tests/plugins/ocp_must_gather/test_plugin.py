"""The plugin behind the wire: in memory, as a process, and behind the command."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shipped import Shipped, cancelled_call, hook, tool

from tinyhost_plugins._shared import pace
from tinyhost_plugins.ocp_must_gather.plugin import build
from tinyhost_plugins.ocp_must_gather.sessions import MOST_SESSIONS
from tinyhost_sdk import HandlerError, ToolContext, testing

Files = dict[str, Any]
Write = Callable[..., Path]

PLUGIN = Shipped("ocp-must-gather")
NOT_LOADED = "load a must-gather with mg_use first, or give its path as path"
# The parameters of each tool beside path and limit.
TOOLS: dict[str, set[str]] = {
    "mg_use": set(),
    "mg_cluster_version": set(),
    "mg_nodes": {"role"},
    "mg_operators": set(),
    "mg_certs": {"expired_only", "days"},
    "mg_node_logs": {"node", "pattern", "max"},
    "mg_ovn": set(),
    "mg_prometheus": {"metric"},
    "mg_machine_config": set(),
    "mg_pods": {"namespace", "status"},
    "mg_events": {"namespace", "type", "reason"},
    "mg_health": set(),
}


def small(name: str) -> Files:
    """A must-gather with one node."""
    return {f"cluster-scoped-resources/core/nodes/{name}.yaml": {"metadata": {"name": name}}}


def test_the_tools_have_their_names_and_parameters_and_say_what_they_do() -> None:
    with testing.drive(build()) as driver:
        tools = {tool["name"]: tool for tool in driver.manifest["tools"]}
    assert list(tools) == list(TOOLS)
    for name, own in TOOLS.items():
        properties = tools[name]["inputSchema"]["properties"]
        common = {"path"} if name in ("mg_use", "mg_node_logs") else {"path", "limit"}
        assert set(properties) == own | common
        assert all(kind["description"] for kind in properties.values())
        required = ["path"] if name == "mg_use" else None
        assert tools[name]["inputSchema"].get("required") == required


def test_every_tool_but_use_needs_a_must_gather() -> None:
    with testing.drive(build()) as driver:
        for name in set(TOOLS) - {"mg_use"}:
            result = driver.call_tool(name, {})
            assert (result.content, result.is_error) == (NOT_LOADED, True)


def test_use_loads_a_folder_and_says_what_is_in_it(cluster: Files, write: Write) -> None:
    path = write(cluster, "must-gather.local.1/image-abc").parent
    with testing.drive(build()) as driver:
        result = driver.call_tool("mg_use", {"path": str(path)})
        assert not result.is_error
        assert result.content.split("\n") == [
            "Loaded must-gather.local.1: OpenShift 4.18.2, channel stable-4.18",
            f"Root: {path}/image-abc",
            "Gathered: 2026-03-01 12:00 UTC",
            "Present: cluster-scoped-resources, namespaces, host_service_logs, monitoring,"
            " audit_logs",
            "Missing: ingress_controllers, etcd_info, insights-data",
            "3 namespaces: bank, openshift-ovn-kubernetes, shop",
        ]
        for name in TOOLS:
            assert not driver.call_tool(name, {"path": str(path)}).is_error


def test_use_lists_all_images_and_asks_the_one_that_is_named(cluster: Files, write: Write) -> None:
    main, other = write(cluster, "mg/z-main"), write(small("a"), "mg/a-other")
    with testing.drive(build()) as driver:
        said = driver.call_tool("mg_use", {"path": str(main.parent)}).content
        assert said.split("\n")[-4:] == [
            "It has the folders of 2 images; only the fullest one is asked:",
            f"  {main} (asked)",
            f"  {other}",
            "Call mg_use with one of these folders to ask that one.",
        ]
        said = driver.call_tool("mg_nodes").content
        assert said.startswith("3 nodes")
        assert said.endswith(
            "\nThis is of z-main only; mg_use lists 1 other image of this must-gather"
        )
        driver.call_tool("mg_use", {"path": str(other)})
        assert driver.call_tool("mg_nodes").content.startswith("1 node")


def test_links_in_the_place_of_namespaces_are_told(write: Write) -> None:
    path = write({"namespaces/shop/core/x": ""})
    (path / "namespaces" / "away").symlink_to("/etc")
    with testing.drive(build()) as driver:
        said = driver.call_tool("mg_use", {"path": str(path)}).content
        assert said.endswith("\nNot read: namespaces/away (a link; not followed)")
        result = driver.call_tool("mg_pods", {"namespace": "away"})
    assert (result.is_error, result.content[:29]) == (True, "there is no namespace away in")


def test_a_path_may_be_relative_to_the_project(cluster: Files, write: Write) -> None:
    folder = write(cluster).parent
    with testing.drive(build()) as driver:
        result = driver.call_tool("mg_nodes", {"path": "gather"}, directory=str(folder))
        assert result.content.startswith("3 nodes")
        assert driver.call_tool("mg_health", {}).content.startswith("10 issues")


def test_each_session_has_a_must_gather_of_its_own(write: Write) -> None:
    with testing.drive(build()) as driver:
        for session in "ab":
            path = str(write(small(f"node-{session}"), session))
            driver.call_tool("mg_use", {"path": path}, session_id=session)
        said = [driver.call_tool("mg_nodes", session_id=s).content for s in "ab"]
        assert ["node-a" in said[0], "node-b" in said[1]] == [True, True]
        driver.invoke_hook("session.end", {"sessionId": "a"})
        assert driver.call_tool("mg_nodes", session_id="a").content == NOT_LOADED
        assert not driver.call_tool("mg_nodes", session_id="b").is_error


def test_the_sessions_that_are_kept_are_limited(write: Write) -> None:
    path = write(small("a"))
    with testing.drive(build()) as driver:
        for number in range(MOST_SESSIONS + 1):
            driver.call_tool("mg_use", {"path": str(path)}, session_id=str(number))
        assert driver.call_tool("mg_nodes", session_id="0").content == NOT_LOADED
        assert not driver.call_tool("mg_nodes", session_id="1").is_error


def test_after_a_failure_the_former_must_gather_is_still_there(
    write: Write, tmp_path: Path
) -> None:
    path = write(small("a"))
    (tmp_path / "file").write_text("no archive")
    with testing.drive(build()) as driver:
        driver.call_tool("mg_use", {"path": str(path)})
        for name, said in (
            ("none", "does not exist"),
            ("file", "file"),
            ("gather/cluster-scoped-resources/core", "a part of the one in"),
            ("", "path is empty"),
            ("~no-such-user-here/x", "Could not determine home"),
            ("a\0b", "NUL character"),
        ):
            result = driver.call_tool("mg_use", {"path": name}, directory=str(tmp_path))
            assert result.is_error
            assert said in result.content
            assert "\n" not in result.content
        assert driver.call_tool("mg_nodes").content.startswith("1 node")


def test_a_folder_that_is_gone_is_told(write: Write) -> None:
    path = write(small("a"))
    with testing.drive(build()) as driver:
        driver.call_tool("mg_use", {"path": str(path)})
        path.rename(path.with_name("elsewhere"))
        result = driver.call_tool("mg_nodes")
    assert result.is_error
    assert "is gone; load the must-gather again with mg_use" in result.content


def test_arguments_of_the_wrong_type_are_answered_in_words(write: Write) -> None:
    path = str(write(small("a")))
    with testing.drive(build()) as driver:
        for tool, args, said in (
            ("mg_use", {}, "path is missing"),
            ("mg_certs", {"path": path, "days": "3"}, "days must be an integer"),
            ("mg_pods", {"path": path, "namespace": 3}, "namespace must be a string"),
            ("mg_pods", {"path": path, "color": 3}, "color"),
        ):
            result = driver.call_tool(tool, args)
            assert result.is_error
            assert said in result.content


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"maxRow": 1}, 'there is no option "maxRow"; there are maxEntries'),
        ({"maxRows": 0}, 'option "maxRows" has to be a whole number from 1 to 1000'),
        ({"maxSeconds": 1.5}, 'option "maxSeconds" has to be a whole number'),
        ({"maxFileBytes": True}, 'option "maxFileBytes" has to be a whole number'),
    ],
)
def test_a_wrong_option_fails_the_load_and_says_why(options: Files, said: str) -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), options):
        pass
    assert said in caught.value.message


def test_options_bound_rows_files_and_searches(write: Write) -> None:
    nodes = "cluster-scoped-resources/core/nodes"
    path = write(small("a") | small("b") | {f"{nodes}/c.yaml": "#" * 5000})
    for options, said in (
        ({"maxRows": 1}, "1 more row; call again with limit (up to 1000)"),
        ({"maxFileBytes": 1024}, f"{nodes}/c.yaml (has 5000 bytes; at most 1024 are read)"),
        ({"maxEntries": 2}, f"{nodes} (has more than 2 entries; the rest is left out)"),
    ):
        with testing.drive(build(), options) as driver:
            assert said in driver.call_tool("mg_nodes", {"path": str(path)}).content


def test_a_call_can_be_cancelled(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = {"path": str(write(cluster))}
    result = cancelled_call(build(), "mg_health", args, monkeypatch)
    assert result.is_error
    assert result.content.startswith("cancelled while reading ")


def test_a_call_has_its_own_time_and_faults_whoever_asks_beside_it(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_REPORT", 0)
    bad = "cluster-scoped-resources/core/nodes/bad.yaml"
    tools = build().tools
    tools["mg_use"].execute({"path": str(write(cluster | {bad: "{"}))}, ToolContext())
    given_up = threading.Event()
    given_up.set()
    beside: list[str] = []

    def ask_beside(_text: str) -> None:
        if not beside:
            beside.append(str(tools["mg_nodes"].execute({}, ToolContext())))
            with pytest.raises(HandlerError) as caught:
                tools["mg_nodes"].execute({}, ToolContext(flag=given_up))
            beside.append(str(caught.value))

    said = str(tools["mg_certs"].execute({}, ToolContext(progress=ask_beside)))
    assert f"Not read: {bad}" in beside[0]
    assert beside[1].startswith("cancelled while ")
    assert said.startswith("4 certificates: ")
    assert "Not read" not in said


def test_starting_up_imports_nothing_that_a_call_alone_needs() -> None:
    slow = {"re", "json", "typing", "pathlib", "yaml", "cryptography", "dataclasses", "subprocess"}
    started, _end = PLUGIN.imported({"maxRows": 7})
    assert not (slow | {"tinyhost_plugins.ocp_must_gather.answers"}) & started


def test_a_process_shakes_hands_and_answers(cluster: Files, write: Write) -> None:
    hello, used, logs, _gone = PLUGIN.results(
        tool("mg_use", {"path": str(write(cluster))}),
        tool("mg_node_logs", {"pattern": "missing"}),
        hook("dispose"),
    )
    assert hello["id"] == "ocp-must-gather"
    assert hello["hooks"] == ["session.end", "dispose"]
    assert used["content"].startswith("Loaded gather: OpenShift 4.18.2")
    assert logs["content"].startswith("1 match in 2 host log files")


def test_the_command_calls_a_tool_of_the_installed_program(
    cluster: Files, write: Write, home: Path, tmp_path: Path
) -> None:
    PLUGIN.install_as_wheel(tmp_path / "bin")
    (home / "config" / "config.json").write_text('{"plugins": ["ocp-must-gather"]}')
    folder = write(cluster).parent
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = PLUGIN.call(folder, "mg_pods", {"path": "gather", "status": "failed"}, PATH=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 pod failed, of 6 pods: 3 Running")
    done = PLUGIN.call(folder, "mg_use", {"path": "none"}, PATH=path)
    assert done.returncode == 1
    assert "none does not exist; give the folder of an unpacked must-gather" in done.stdout
