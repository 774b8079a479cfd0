"""The plugin behind the wire: in memory, as a process, behind the host, and from the command."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shipped import Shipped, hosting, send, tool

from tinyhost_plugins.pilot.plugin import build
from tinyhost_sdk import testing

PLUGIN = Shipped("pilot")
TOOLS = ["pilot_issues_list", "pilot_issue_create", "pilot_issue_update", "pilot_issue_comment"]
At = Callable[[str], Any]


def test_there_are_four_tools_in_order_and_no_hooks() -> None:
    with testing.drive(build()) as driver:
        assert driver.manifest["id"] == "pilot"
        assert driver.manifest["hooks"] == []
        assert [tool["name"] for tool in driver.manifest["tools"]] == TOOLS
        categories = [tool.get("permission") for tool in driver.manifest["tools"]]
        assert categories == ["read", None, None, None]
        assert driver.manifest["protocol"]["cancel"] is True


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"provider": "x"}):
        pass
    assert '"provider" has to be one of' in caught.value.message


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        ("issue_update", {"issue_number": 1}, "nothing to change: give title, body or state"),
        ("issue_create", {"title": "a\nb"}, "has line breaks or control characters"),
        ("issue_create", {"title": "x", "labels": ["a\x00"]}, "has line breaks or control"),
        ("issues_list", {"labels": "a\nb"}, "has line breaks or control characters"),
        ("issues_list", {"repo": "r\n"}, "has line breaks or control characters"),
        ("issues_list", {"labels": ",".join(map(str, range(21)))}, "more than 20 labels"),
        ("issue_comment", {"issue_number": 0, "body": "x"}, "from 1 on"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_sent(
    at: At, tool: str, args: dict[str, Any], text: str
) -> None:
    plugin = at("github")
    assert text in plugin.fails(tool, **args)
    assert plugin.server.sent == []


def test_titles_and_labels_are_of_any_script(at: At) -> None:
    plugin = at("github")
    title, label = "日本\u3000語の a\u00a0b 👩\u200d💻", "🏳\ufe0f\u200d🌈"
    created = plugin.does("issue_create", title=title, labels=[label])
    assert created.startswith("Created issue #1: 日本 語の a b 👩\u200d💻\n")
    body = plugin.server.sent[-1].value
    assert (body["title"], body["labels"]) == (title, [label])


def test_a_missing_token_is_told_and_nothing_is_sent(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = at("gitlab")
    monkeypatch.delenv("GITLAB_TOKEN")
    assert plugin.fails("issues_list").startswith("There is no token for GitLab: set GITLAB_TOKEN")
    assert plugin.server.sent == []


def test_the_remote_of_the_calls_folder_chooses_the_forge(
    at: At, clone: Callable[[str], Path], tmp_path: Path
) -> None:
    plugin = at("gitea")
    folder = clone("git@code.example:o/r.git")
    options = {"hosts": {"code.example": "gitea"}, "giteaUrl": plugin.server.url, "tries": 1}
    with testing.drive(build(), options, directory=str(tmp_path)) as driver:
        args = {"owner": "o", "repo": "r"}
        result = driver.call_tool("pilot_issues_list", args, directory=str(folder))
        assert result.content.endswith("because the git remote is at code.example.")
        result = driver.call_tool("pilot_issues_list", {**args, "repo": "x"}, directory=str(folder))
        assert " The git remote here is o/r." in result.content
        result = driver.call_tool("pilot_issues_list", args)
        assert result.content.endswith("because there is no git remote to go by here.")
    with testing.drive(build(), options, directory=str(folder)) as driver:
        result = driver.call_tool("pilot_issues_list", args)
        assert result.content.endswith("because the git remote is at code.example.")


def test_a_process_answers_and_can_be_cancelled_while_it_waits(at: At) -> None:
    plugin = at("github")
    plugin.server.failures.append(type(plugin.server).failure(429, None, {"Retry-After": "300"}))
    options = {**plugin.options, "tries": 3, "timeoutSeconds": 600}
    with PLUGIN.started() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None

        send(process, "initialize", {"version": "1.0", "options": options}, 1)
        assert json.loads(process.stdout.readline())["result"]["id"] == "pilot"
        send(process, *tool(TOOLS[1], {"owner": "o", "repo": "r", "title": "x"}), 2)
        waited = threading.Event()
        while not plugin.server.sent:
            waited.wait(0.02)
        send(process, "tool/cancel", {"id": 2})
        answer = json.loads(process.stdout.readline())
        assert answer["id"] == 2
        assert "was cancelled" in json.dumps(answer)
        send(process, *tool(TOOLS[0], {"owner": "o", "repo": "r"}), 3)
        listed = json.loads(process.stdout.readline())["result"]
        assert listed["content"].startswith("No issues found for o/r (open)\n")
        process.stdin.close()
        assert process.stderr.read() == ""
        assert process.wait(20) == 0
    assert len(plugin.server.sent) == 2


def test_starting_up_loads_no_http_client_before_it_is_needed(at: At) -> None:
    plugin = at("github")
    slow = {"httpx2", "trio", "ssl", "subprocess", "re", "typing", "dataclasses", "urllib"}
    slow.add("tinyhost_plugins.pilot.calls")
    started, called, _end = PLUGIN.imported(
        plugin.options,
        "assert not driver.call_tool('pilot_issues_list', {'owner': 'o', 'repo': 'r'}).is_error",
    )
    assert not slow & started
    assert slow <= called


async def test_behind_the_host_the_token_arrives_when_the_settings_pass_it(
    at: At, home: Path
) -> None:
    plugin = at("gitlab")
    PLUGIN.install(home / "config" / "plugins")
    plugin.server.add("First")
    settings = {"pilot": {"passEnv": ["GITLAB_TOKEN"]}}
    args = {**plugin.repo, "issue_number": 1, "body": "Done"}
    for passed in (True, False):
        shown = settings if passed else {}
        async with hosting(home, [["pilot", plugin.options]], settings=shown) as host:
            session = await host.session_start(str(home))
            outcome = await host.call("plugin__pilot__pilot_issue_comment", args, session)
            await host.session_end(session)
        assert outcome.is_error is not passed
        start = "Comment added to issue #1\n" if passed else "There is no token for GitLab"
        assert outcome.content.startswith(start)
    assert len(plugin.server.sent) == 1


def test_from_the_command_a_list_is_printed_and_a_failure_is_exit_code_1(
    at: At, home: Path
) -> None:
    plugin = at("gitea")
    PLUGIN.install(home / "config" / "plugins")
    plugin.server.add("First", labels=["bug"])
    keys = {
        "plugins": [["pilot", plugin.options]],
        "settings": {"pilot": {"passEnv": ["GITEA_TOKEN"]}},
    }
    (home / "config" / "config.json").write_text(json.dumps(keys))

    good, bad = (
        PLUGIN.call(home, "pilot_issues_list", {"owner": "o", "repo": repo}) for repo in "rx"
    )
    assert (good.returncode, bad.returncode) == (0, 1), good.stderr + bad.stderr
    assert good.stdout.startswith(
        "## Issues for o/r (open)\n\n1. **#1** First — open | Labels: bug"
    )
    assert "Gitea has no o/x" in bad.stdout + bad.stderr
