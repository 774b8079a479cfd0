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
from tinyhost_plugins.insights import answers
from tinyhost_plugins.insights.options import Options
from tinyhost_plugins.insights.plugin import build
from tinyhost_plugins.insights.sessions import MOST_ARCHIVES
from tinyhost_sdk import ToolContext, testing

Files = dict[str, Any]
Write = Callable[..., Path]

PLUGIN = Shipped("insights")
NOT_LOADED = "load an archive with insights_use first, or give its path as archive"
TOOLS = {
    f"insights_{name}"
    for name in (
        *("use", "summary", "nodes", "operators", "memory"),
        *("etcd", "storage", "alerts", "uid_overlap", "health"),
    )
}


def test_the_tools_have_their_names_and_parameters_and_say_what_they_do() -> None:
    with testing.drive(build()) as driver:
        tools = {tool["name"]: tool for tool in driver.manifest["tools"]}
    assert set(tools) == TOOLS
    properties = {name: tool["inputSchema"]["properties"] for name, tool in tools.items()}
    assert set(properties["insights_use"]) == {"archive"}
    assert tools["insights_use"]["inputSchema"]["required"] == ["archive"]
    assert set(properties["insights_memory"]) == {"threshold", "archive", "limit"}
    assert set(properties["insights_alerts"]) == {"severity", "archive", "limit"}
    for name in TOOLS - {"insights_use", "insights_memory", "insights_alerts"}:
        assert set(properties[name]) == {"archive", "limit"}
        assert "required" not in tools[name]["inputSchema"]
    assert all(kind["description"] for found in properties.values() for kind in found.values())


def test_every_tool_but_use_needs_an_archive() -> None:
    with testing.drive(build()) as driver:
        for name in TOOLS - {"insights_use"}:
            result = driver.call_tool(name, {})
            assert (result.content, result.is_error) == (NOT_LOADED, True)


def test_use_loads_an_archive_and_says_what_is_in_it(cluster: Files, write: Write) -> None:
    path = write(cluster, "demo/")
    with testing.drive(build()) as driver:
        result = driver.call_tool("insights_use", {"archive": str(path)})
        assert not result.is_error
        lines = [" ".join(entry.split()) for entry in result.content.split("\n")]
        assert lines[:3] == [
            f"Loaded archive.tar.gz: OpenShift 4.18.2, {len(cluster)} files",
            "Cluster: 11111111-2222-3333-4444-555555555555",
            f"Archive: {path}, config is below demo in the archive; nothing was unpacked to disk",
        ]
        assert "nodes 2 insights_nodes" in lines
        assert "clusterconfig/pods failed: no access" in lines
        for name in TOOLS - {"insights_use"}:
            assert not driver.call_tool(name, {}).is_error


def test_a_path_may_be_relative_to_the_project_and_given_with_the_question(
    cluster: Files, write: Write
) -> None:
    folder = write(cluster).parent
    with testing.drive(build()) as driver:
        asked = {"archive": "archive.tar.gz"}
        result = driver.call_tool("insights_health", asked, directory=str(folder))
        assert result.content.startswith("19 issues")
        assert driver.call_tool("insights_nodes", {}).content.startswith("2 nodes")


def test_each_session_has_an_archive_of_its_own(write: Write) -> None:
    first = write({"config/id": "one"}, name="one.tar.gz")
    second = write({"config/id": "two"}, name="two.tar.gz")
    with testing.drive(build()) as driver:
        for session, path in (("a", first), ("b", second)):
            driver.call_tool("insights_use", {"archive": str(path)}, session_id=session)
        said = [driver.call_tool("insights_summary", session_id=s).content for s in "ab"]
        assert ["cluster one" in said[0], "cluster two" in said[1]] == [True, True]
        driver.invoke_hook("session.end", {"sessionId": "a"})
        assert driver.call_tool("insights_summary", session_id="a").content == NOT_LOADED
        assert not driver.call_tool("insights_summary", session_id="b").is_error


def test_the_archives_that_are_kept_are_limited(write: Write) -> None:
    path = write({"config/id": "one"})
    with testing.drive(build()) as driver:
        for number in range(MOST_ARCHIVES + 1):
            driver.call_tool("insights_use", {"archive": str(path)}, session_id=str(number))
        assert driver.call_tool("insights_summary", session_id="0").content == NOT_LOADED
        assert not driver.call_tool("insights_summary", session_id="1").is_error


def test_an_archive_that_has_changed_is_read_again(write: Write) -> None:
    with testing.drive(build()) as driver:
        for text in ("one", "two and more"):
            asked = {"archive": str(write({"config/id": text}))}
            assert f"cluster {text}\n" in driver.call_tool("insights_summary", asked).content


def test_after_a_failure_the_former_archive_is_still_there(write: Write, tmp_path: Path) -> None:
    path = write({"config/id": "one"})
    (tmp_path / "bad.tar.gz").write_bytes(path.read_bytes()[:60])
    with testing.drive(build()) as driver:
        driver.call_tool("insights_use", {"archive": str(path)})
        for name, said in (
            ("bad.tar.gz", "is cut off"),
            ("none", "No such file"),
            (".", "is a folder; it holds"),
            ("", "archive is empty"),
            ("~no-such-user-here/x", "~no-such-user-here/x: there is no such home folder"),
            ("a\0b", "cannot be opened"),
        ):
            result = driver.call_tool("insights_use", {"archive": name}, directory=str(tmp_path))
            assert result.is_error
            assert said in result.content
            assert "\n" not in result.content
        assert "cluster one" in driver.call_tool("insights_summary").content


def test_a_call_reports_its_progress(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_REPORT", 0)
    with testing.drive(build()) as driver:
        assert not driver.call_tool("insights_health", {"archive": str(write(cluster))}).is_error
        assert set(driver.progress) == {"reading archive.tar.gz", "answering"}


def test_a_call_can_be_cancelled(
    cluster: Files, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = {"archive": str(write(cluster))}
    result = cancelled_call(build(), "insights_health", args, monkeypatch)
    assert (result.is_error, result.content) == (True, "cancelled while reading archive.tar.gz")


def test_two_first_calls_at_a_time_have_the_same_sessions(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write({"config/id": "one"}))
    plugin = build()
    use, summary = (plugin.tools[f"insights_{name}"].execute for name in ("use", "summary"))
    first, second = ToolContext(session_id="a"), ToolContext(session_id="b")
    other = threading.Thread(target=lambda: use({"archive": path}, second))
    usual = answers.Answers.__init__

    def make(self: answers.Answers, options: Options) -> None:
        usual(self, options)
        if other.ident is None:
            other.start()
            # It makes answers of its own, or has to wait for these.
            other.join(0.2)

    monkeypatch.setattr(answers.Answers, "__init__", make)
    with testing.drive(plugin):
        use({"archive": path}, first)
        other.join()
        assert all("cluster one" in str(summary({}, context)) for context in (first, second))


def test_arguments_of_the_wrong_type_are_answered_in_words(cluster: Files, write: Write) -> None:
    with testing.drive(build()) as driver:
        driver.call_tool("insights_use", {"archive": str(write(cluster))})
        for tool, args, said in (
            ("insights_use", {}, "archive is missing"),
            ("insights_memory", {"threshold": "80"}, "threshold must be an integer"),
            ("insights_memory", {"threshold": 101}, "from 0 to 100, not 101"),
            ("insights_alerts", {"severity": 1}, "severity must be a string"),
            ("insights_nodes", {"limit": 1001}, "limit has to be from 0 to 1000"),
            ("insights_nodes", {"name": "x"}, "unknown argument name"),
        ):
            result = driver.call_tool(tool, args)
            assert result.is_error
            assert said in result.content


def test_options_set_limits_and_a_limit_of_the_call_goes_before(
    cluster: Files, write: Write
) -> None:
    asked = {"archive": str(write(cluster))}
    with testing.drive(build(), {"maxRows": 1}) as driver:
        assert "1 more row; call again" in driver.call_tool("insights_nodes", asked).content
        said = driver.call_tool("insights_nodes", {"limit": 2}).content
        assert "more row" not in said
    with testing.drive(build(), {"maxEntries": 2}) as driver:
        result = driver.call_tool("insights_use", asked)
        assert result.is_error
        assert "more than the 2 entries" in result.content


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"maxRow": 1}, 'there is no option "maxRow"; there are maxEntries,'),
        ({"maxRows": 0}, 'option "maxRows" has to be a whole number from 1 to 1000'),
        ({"maxSeconds": "60"}, 'option "maxSeconds" has to be a whole number'),
        ({"maxFileBytes": True}, 'option "maxFileBytes" has to be a whole number'),
    ],
)
def test_a_wrong_option_fails_the_load_and_says_why(options: Files, said: str) -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), options):
        pass
    assert said in caught.value.message


def test_skipped_entries_and_files_left_out_are_told(cluster: Files, write: Write) -> None:
    path = write(cluster | {"../../etc/passwd": "x", "config/node/big.json": "x" * 2000})
    with testing.drive(build(), {"maxFileBytes": 1024}) as driver:
        said = driver.call_tool("insights_use", {"archive": str(path)}).content
    assert "Skipped: 1 entry\n  ../../etc/passwd: a path that leaves the archive\n" in said
    assert "Files left out: config/node/big.json (2000 bytes, over maxFileBytes)" in said


def test_starting_up_imports_nothing_that_a_call_alone_needs() -> None:
    slow = {"re", "json", "typing", "pathlib", "tarfile", "dataclasses", "zlib"}
    started, _end = PLUGIN.imported({"maxRows": 7})
    assert not (slow | {"tinyhost_plugins.insights.answers"}) & started


def test_a_process_shakes_hands_and_answers(cluster: Files, write: Write) -> None:
    hello, used, overlap, _gone = PLUGIN.results(
        tool("insights_use", {"archive": str(write(cluster))}),
        tool("insights_uid_overlap", {}),
        hook("dispose"),
    )
    assert hello["id"] == "insights"
    assert hello["hooks"] == ["session.end", "dispose"]
    assert used["content"].startswith("Loaded archive.tar.gz")
    assert overlap["content"].startswith("4 namespaces have overlapping UID ranges")


def test_the_command_calls_a_tool_of_the_installed_program(
    cluster: Files, write: Write, home: Path, tmp_path: Path
) -> None:
    PLUGIN.install_as_wheel(tmp_path / "bin")
    (home / "config" / "config.json").write_text('{"plugins": ["insights"]}')
    folder = write(cluster).parent
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = PLUGIN.call(folder, "insights_nodes", {"archive": "archive.tar.gz"}, PATH=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 nodes (1 control plane, 1 worker), 1 not ready\n")
    done = PLUGIN.call(folder, "insights_use", {"archive": "none.tar.gz"}, PATH=path)
    assert done.returncode == 1
    assert "none.tar.gz cannot be opened: No such file or directory" in done.stdout
