from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import trio

from tinyhost.builtins import handoff as handoff_module
from tinyhost.builtins import handoff_store
from tinyhost.builtins.handoff import GOAL_MAX, ITEM_MAX, ITEMS_MAX, Handoff
from tinyhost.dispatch import CONTEXT_MAX, Dispatcher
from tinyhost.hooks import SessionStart
from tinyhost.model import CallContext, ToolResult


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def new(tmp_path: Path, **env: str) -> Handoff:
    return Handoff(tmp_path / "state", env)


async def save(plugin: Handoff, session: str, directory: Path, **args: object) -> ToolResult:
    context = CallContext(session_id=session, directory=str(directory))
    return await plugin.call_tool("handoff_save", args, context)


async def start(plugin: Handoff, session: str, directory: Path) -> str | None:
    event = {"sessionId": session, "directory": str(directory)}
    answer = await plugin.invoke_hook("session.start", event)
    if answer is None:
        return None
    [text] = answer["additionalContext"]
    assert isinstance(text, str)
    return text


async def end(plugin: Handoff, session: str) -> None:
    await plugin.invoke_hook("session.end", {"sessionId": session})


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state" / "handoff").glob("*"))


def saved(tmp_path: Path) -> dict[str, Any]:
    """What is on disk, by session."""
    records = [json.loads(path.read_text()) for path in files(tmp_path)]
    return {record["sessionId"]: record for record in records}


async def test_the_next_session_in_the_directory_is_told_everything(
    tmp_path: Path, project: Path
) -> None:
    result = await save(
        new(tmp_path),
        "s1",
        project,
        goal="Ship it",
        decisions=["use trio"],
        openTasks=["write docs"],
        filesModified=["a.py"],
    )
    assert result.content == (
        "Handoff saved for the next session in this directory: a goal, 1 decision(s),"
        " 1 open task(s), 1 file(s)."
    )
    text = await start(new(tmp_path), "s2", project)
    assert text is not None
    head, rest = text.split("\n", 1)
    assert head.startswith("Handoff of an earlier session in this directory, saved ")
    assert rest == (
        "Goal: Ship it\nOpen tasks:\n- write docs\nDecisions:\n- use trio\nFiles modified:\n- a.py"
    )


async def test_what_is_saved_is_on_disk_before_the_session_ends(
    tmp_path: Path, project: Path
) -> None:
    await save(new(tmp_path), "s1", project, goal="g")
    record = saved(tmp_path)["s1"]
    assert record["goal"] == "g"
    assert record["directory"] == str(project)
    assert record["openTasks"] == []
    assert type(record["timestamp"]) is int


async def test_a_goal_replaces_and_lists_grow_without_duplicates(
    tmp_path: Path, project: Path
) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, goal="old", decisions=["a", "b", "a"])
    await save(plugin, "s1", project, goal="new", decisions=["b", "c", " "])
    await save(plugin, "s1", project, openTasks=["t"])
    record = saved(tmp_path)["s1"]
    assert (record["goal"], record["decisions"], record["openTasks"]) == (
        "new",
        ["a", "b", "c"],
        ["t"],
    )


async def test_sessions_do_not_mix(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, decisions=["of s1"])
    await save(plugin, "s2", project, decisions=["of s2"])
    await end(plugin, "s1")
    assert {session: record["decisions"] for session, record in saved(tmp_path).items()} == {
        "s1": ["of s1"],
        "s2": ["of s2"],
    }


async def test_another_directory_is_told_nothing(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, goal="secret of this project")
    (project / "below").mkdir()
    assert await start(plugin, "s2", tmp_path) is None
    assert await start(plugin, "s3", project / "below") is None
    assert await plugin.invoke_hook("session.start", {"sessionId": "s4"}) is None


async def test_a_link_to_the_directory_is_the_same_directory(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    (tmp_path / "link").symlink_to(project)
    await save(plugin, "s1", tmp_path / "link", goal="g")
    assert "Goal: g" in (await start(plugin, "s2", project) or "")
    await save(plugin, "s2", project, goal="h")
    assert "Goal: h" in (await start(plugin, "s3", tmp_path / "link") or "")


async def test_a_session_is_not_told_its_own_handoff(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, goal="mine")
    assert await start(plugin, "s1", project) is None


async def test_the_newest_is_told_by_its_time_and_not_its_name(
    tmp_path: Path, project: Path
) -> None:
    plugin = new(tmp_path)
    for session in ("s1", "s2", "s3"):
        await save(plugin, session, project, goal=f"goal of {session}")
    for path in files(tmp_path):
        record = json.loads(path.read_text())
        record["timestamp"] = {"s1": 1000, "s2": 3000, "s3": 2000}[record["sessionId"]]
        path.write_text(json.dumps(record))
    assert "goal of s2" in (await start(plugin, "s4", project) or "")


async def test_a_session_that_is_resumed_goes_on_with_what_it_saved(
    tmp_path: Path, project: Path
) -> None:
    await save(new(tmp_path), "s1", project, goal="g", decisions=["a"])
    plugin = new(tmp_path)
    await start(plugin, "s1", project)
    await save(plugin, "s1", project, decisions=["b"])
    await end(plugin, "s1")
    await save(plugin, "s1", project, decisions=["c"])
    record = saved(tmp_path)["s1"]
    assert (record["goal"], record["decisions"]) == ("g", ["a", "b", "c"])


async def test_the_directory_of_the_session_is_used_where_the_call_names_none(
    tmp_path: Path, project: Path
) -> None:
    plugin = new(tmp_path)
    await start(plugin, "s1", project)
    await plugin.call_tool("handoff_save", {"goal": "g"}, CallContext(session_id="s1"))
    assert saved(tmp_path)["s1"]["directory"] == str(project)


@pytest.mark.parametrize(
    ("context", "complaint"),
    [
        (CallContext(directory="/"), "belongs to a session"),
        (CallContext(session_id="s1"), "belongs to a directory"),
    ],
)
async def test_without_a_session_or_directory_nothing_is_saved(
    tmp_path: Path, context: CallContext, complaint: str
) -> None:
    result = await new(tmp_path).call_tool("handoff_save", {"goal": "g"}, context)
    assert result.is_error
    assert complaint in result.content
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ({}, "nothing to save"),
        ({"goal": ""}, "nothing to save"),
        ({"goal": ["g"]}, "goal must be a string"),
        ({"goal": "g" * (GOAL_MAX + 1)}, "goal is longer than"),
        ({"goal": "\udc00"}, "half of a character"),
        ({"decisions": "d"}, "decisions must be a list of strings"),
        ({"openTasks": ["a", 1]}, "openTasks[1] must be a string"),
        ({"filesModified": ["f" * (ITEM_MAX + 1)]}, "an entry is longer than"),
        ({"open_tasks": ["a"]}, "unknown argument: open_tasks"),
    ],
)
async def test_wrong_arguments_are_refused_and_change_nothing(
    tmp_path: Path, project: Path, args: dict[str, object], complaint: str
) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, goal="before")
    before = saved(tmp_path)
    result = await save(plugin, "s1", project, **args)
    assert result.is_error
    assert complaint in result.content
    assert saved(tmp_path) == before


async def test_files_are_for_the_person_alone(tmp_path: Path, project: Path) -> None:
    old = os.umask(0)
    try:
        await save(new(tmp_path), "s1", project, goal="g")
    finally:
        os.umask(old)
    [path] = files(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("session", ["../../evil", "/etc/passwd", "a" * 5000, "a\nb", "\ud800"])
async def test_no_session_id_leads_out_of_the_folder(
    tmp_path: Path, project: Path, session: str
) -> None:
    result = await save(new(tmp_path), session, project, goal="g")
    assert not result.is_error
    [path] = files(tmp_path)
    assert path.name.startswith("handoff-")
    assert {entry.name for entry in tmp_path.iterdir()} == {"state", "project"}


async def test_handoff_dir_names_another_folder(tmp_path: Path, project: Path) -> None:
    folder = tmp_path / "own" / "deep"
    plugin = new(tmp_path, HANDOFF_DIR=str(folder))
    await save(plugin, "s1", project, goal="g")
    assert len(list(folder.iterdir())) == 1
    assert not (tmp_path / "state").exists()


async def test_the_environment_names_the_state_folder(tmp_path: Path, project: Path) -> None:
    plugin = Handoff(environ={"TINYHOST_STATE_DIR": str(tmp_path / "state")})
    await save(plugin, "s1", project, goal="g")
    assert list(saved(tmp_path)) == ["s1"]


def damaged(record: dict[str, Any]) -> list[bytes]:
    def change(**members: object) -> bytes:
        return json.dumps(record | members).encode()

    return [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        change(timestamp="2000"),
        change(timestamp=10**30),
        change(timestamp=True),
        change(goal=None),
        change(decisions="d"),
        change(openTasks=[1]),
        change(goal="g" * (handoff_store.FILE_MAX + 1)),
    ]


async def test_files_that_are_not_valid_are_skipped(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, goal="good")
    [path] = files(tmp_path)
    record = json.loads(path.read_text()) | {"sessionId": "bad", "goal": "bad"}
    for index, data in enumerate(damaged(record | {"timestamp": 2**50})):
        (path.parent / f"handoff-{index:032x}.json").write_bytes(data)
    (path.parent / f"handoff-{'a' * 32}.json").mkdir()
    (path.parent / f"handoff-{'b' * 32}.json").symlink_to(path)
    os.mkfifo(path.parent / f"handoff-{'c' * 32}.json")
    (path.parent / "other.json").write_text(json.dumps(record | {"timestamp": 2**50}))
    assert "Goal: good" in (await start(plugin, "s2", project) or "")


async def test_a_damaged_own_file_is_replaced(tmp_path: Path, project: Path) -> None:
    await save(new(tmp_path), "s1", project, goal="g")
    files(tmp_path)[0].write_text("{")
    await save(new(tmp_path), "s1", project, decisions=["d"])
    assert saved(tmp_path)["s1"]["decisions"] == ["d"]


async def test_only_the_newest_fifty_files_are_kept_and_no_others_are_touched(
    tmp_path: Path, project: Path
) -> None:
    folder = tmp_path / "state" / "handoff"
    folder.mkdir(parents=True)
    for index in range(60):
        path = folder / f"handoff-{index:032x}.json"
        path.write_text("{}")
        os.utime(path, (2_000_000_000 + index, 2_000_000_000 + index))
    foreign = folder / "notes.json"
    foreign.write_text("{}")
    os.utime(foreign, (1, 1))
    leftover = folder / f".handoff-{'0' * 32}.json.1f.tmp"
    leftover.write_text("")
    os.utime(leftover, (1, 1))
    await save(new(tmp_path), "s1", project, goal="g")
    left = {path.name for path in folder.iterdir()}
    assert foreign.name in left
    assert leftover.name not in left
    assert len(left) == handoff_store.KEPT + 1
    assert f"handoff-{9:032x}.json" not in left
    assert f"handoff-{59:032x}.json" in left


async def test_old_files_are_deleted(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, goal="g")
    os.utime(files(tmp_path)[0], (1000, 1000))
    await save(plugin, "s2", project, goal="g")
    assert list(saved(tmp_path)) == ["s2"]


async def blocked(tmp_path: Path, project: Path) -> tuple[Handoff, Path]:
    """A handoff that could not be written, and the file that is in its way."""
    plugin = new(tmp_path)
    (tmp_path / "state").mkdir()
    obstacle = tmp_path / "state" / "handoff"
    obstacle.write_text("in the way")
    result = await save(plugin, "s1", project, goal="g")
    assert result.is_error
    assert f"not on disk yet: {obstacle}" in result.content
    return plugin, obstacle


@pytest.mark.parametrize("way", ["session.end", "stop", "save"])
async def test_what_could_not_be_written_is_written_on_every_way_out(
    tmp_path: Path, project: Path, way: str
) -> None:
    plugin, obstacle = await blocked(tmp_path, project)
    obstacle.unlink()
    if way == "session.end":
        await end(plugin, "s1")
    elif way == "stop":
        await plugin.stop()
    else:
        await save(plugin, "s1", project, decisions=["d"])
    assert saved(tmp_path)["s1"]["goal"] == "g"


async def test_a_state_that_is_lost_at_the_end_is_reported(
    tmp_path: Path, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plugin, obstacle = await blocked(tmp_path, project)
    await plugin.stop()
    assert f"a session's state is lost: {obstacle}" in caplog.text


async def test_a_session_that_saved_nothing_leaves_no_file(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await start(plugin, "s1", project)
    await end(plugin, "s1")
    await plugin.stop()
    assert files(tmp_path) == []


async def test_saves_at_the_same_time_all_count(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    async with trio.open_nursery() as nursery:
        for index in range(10):
            nursery.start_soon(lambda i=index: save(plugin, "s1", project, decisions=[f"d{i}"]))
    assert sorted(saved(tmp_path)["s1"]["decisions"]) == [f"d{index}" for index in range(10)]


async def test_sessions_that_never_end_are_dropped_from_memory_and_lose_nothing(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handoff_module, "_SESSIONS_MOST", 3)
    plugin = new(tmp_path)
    for index in range(6):
        await save(plugin, f"s{index}", project, decisions=["first"])
    assert len(plugin._sessions) == 3
    await save(plugin, "s0", project, decisions=["second"])
    assert saved(tmp_path)["s0"]["decisions"] == ["first", "second"]


async def test_lists_are_bounded_and_the_newest_stay(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    await save(plugin, "s1", project, decisions=[f"d{index}" for index in range(ITEMS_MAX)])
    await save(plugin, "s1", project, decisions=["last"])
    decisions = saved(tmp_path)["s1"]["decisions"]
    assert len(decisions) == ITEMS_MAX
    assert decisions[0] == "d1"
    assert decisions[-1] == "last"


async def test_the_biggest_handoff_can_be_read_again_and_is_told_without_a_cut(
    tmp_path: Path, project: Path
) -> None:
    plugin = new(tmp_path)
    items = [f"{index:03}" + "\U0001f600" * (ITEM_MAX - 3) for index in range(ITEMS_MAX)]
    goal = "g" * GOAL_MAX
    await save(
        plugin, "s1", project, goal=goal, decisions=items, openTasks=items, filesModified=items
    )
    text = await start(plugin, "s2", project)
    assert text is not None
    assert len(text) <= CONTEXT_MAX
    assert "Decisions (the last 2 of 100):\n- 098" in text


async def test_a_dispatch_carries_the_handoff_as_context(tmp_path: Path, project: Path) -> None:
    plugin = new(tmp_path)
    asked = Dispatcher(lambda hook: [plugin] if plugin.handles(hook) else [])
    await save(plugin, "s1", project, goal="g")
    result = await asked.session_start(SessionStart(session_id="s2", directory=str(project)))
    assert result.failures == []
    [context] = result.contexts
    assert "Goal: g" in context
