from __future__ import annotations

import fcntl
import itertools
import os
import stat
import threading
from pathlib import Path

import pytest

from tinyhost import atomic, config_edit
from tinyhost.config import disable_plugin, enable_plugin, load_config
from tinyhost.errors import ConfigError, InvalidCall

COMMENTED = """{
  // what I use
  "plugins": [
    "a", // the first
    ["b", {"n": 1}] /* with options */
  ],
  "other": 1 // kept
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def test_enabling_creates_the_file_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.json"
    assert enable_plugin(file, "a")
    assert file.read_text() == '{\n  "plugins": ["a"]\n}\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_enabling_keeps_comments_and_layout(file: Path) -> None:
    file.write_text(COMMENTED)
    assert enable_plugin(file, "c", {"k": "é"})
    added = '["b", {"n": 1}], /* with options */\n    ["c", {"k": "é"}]\n'
    assert file.read_text() == COMMENTED.replace('["b", {"n": 1}] /* with options */\n', added)


def test_enabling_twice_changes_nothing_the_second_time(file: Path) -> None:
    file.write_text(COMMENTED)
    before = file.stat()
    assert not enable_plugin(file, "a")
    assert not enable_plugin(file, "b")
    assert not enable_plugin(file, "b", {"n": 1})
    assert file.read_text() == COMMENTED
    assert file.stat().st_ino == before.st_ino


def test_enabling_with_other_options_replaces_them(file: Path) -> None:
    file.write_text(COMMENTED)
    assert enable_plugin(file, "b", {"n": 2})
    assert file.read_text() == COMMENTED.replace('{"n": 1}', '{"n": 2}')
    assert enable_plugin(file, "b", {})
    assert file.read_text() == COMMENTED.replace('["b", {"n": 1}]', '"b"')


def test_disabling_removes_a_plugin_without_options(file: Path) -> None:
    file.write_text(COMMENTED)
    assert disable_plugin(file, "a")
    config = load_config(file)
    assert [spec.name for spec in config.specs] == ["b"]
    assert config.disabled == {}
    assert "// the first" in file.read_text()
    assert not disable_plugin(file, "a")


def test_options_survive_disabling_and_enabling(file: Path) -> None:
    file.write_text(COMMENTED)
    assert disable_plugin(file, "b")
    assert load_config(file).disabled == {"b": {"n": 1}}
    assert not disable_plugin(file, "b")
    assert enable_plugin(file, "b")
    config = load_config(file)
    assert config.disabled == {}
    assert config.spec_for("b").options == {"n": 1}
    assert "// what I use" in file.read_text()
    assert "// kept" in file.read_text()


def test_options_given_win_over_remembered_ones(file: Path) -> None:
    file.write_text('{"disabledPlugins": [["a", {"n": 1}], "a"]}')
    assert enable_plugin(file, "a", {"n": 2})
    config = load_config(file)
    assert config.specs[0].options == {"n": 2}
    assert config.disabled == {}


def test_every_entry_of_a_repeated_name_goes(file: Path) -> None:
    file.write_text('{"plugins": [["a", {"n": 1}], "b", ["a", {"n": 2}], 3]}')
    assert disable_plugin(file, "a")
    expected = '{"plugins": ["b", 3], "disabledPlugins": [["a", {"n": 2}]]}'
    assert file.read_text() == expected


def test_disabling_in_a_missing_file_creates_nothing(tmp_path: Path) -> None:
    assert not disable_plugin(tmp_path / "none" / "config.json", "a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ['{"plugins": [', "[]", '{"plugins": 3}', ""])
def test_a_file_that_cannot_be_edited_is_never_overwritten(text: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match="left as it is") as caught:
        enable_plugin(file, "a")
    assert caught.value.line == 1
    assert file.read_text() == text
    assert list(file.parent.iterdir()) == [file]


def test_the_mode_of_the_file_is_kept(file: Path) -> None:
    file.write_text("{}")
    file.chmod(0o640)
    enable_plugin(file, "a")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "tiny.json"
    real.parent.mkdir()
    real.write_text("{}")
    file.symlink_to(real)
    assert enable_plugin(file, "a")
    assert file.is_symlink()
    assert real.read_text() == '{"plugins": ["a"]}'


def test_a_bad_name_is_refused_before_anything_is_touched(file: Path) -> None:
    with pytest.raises(InvalidCall):
        enable_plugin(file, "../a")
    with pytest.raises(InvalidCall):
        disable_plugin(file, "")
    assert not file.exists()


def test_edits_at_the_same_time_are_all_kept(file: Path) -> None:
    names = [f"p{number}" for number in range(16)]
    threads = [threading.Thread(target=enable_plugin, args=(file, name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(spec.name for spec in load_config(file).specs) == sorted(names)
    assert list(file.parent.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    with pytest.raises(ConfigError, match="cannot be changed"):
        enable_plugin(tmp_path / "occupied" / "config.json", "a")


def test_a_process_that_hangs_with_the_lock_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic.time, "sleep", lambda _: None)
    times = itertools.count()
    monkeypatch.setattr(atomic.time, "monotonic", lambda: next(times))
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(ConfigError, match="another process is changing files beside it"):
            config_edit.allow_in_project(tmp_path / "config.json", "/project", "bash")
    finally:
        os.close(handle)
    config_edit.allow_in_project(tmp_path / "config.json", "/project", "bash")


def test_a_lock_that_came_free_while_this_process_stood_still_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    looks = itertools.count()

    def stand_still() -> float:
        if next(looks) < 2:
            return 0.0
        fcntl.flock(handle, fcntl.LOCK_UN)
        return 100.0

    monkeypatch.setattr(atomic.time, "monotonic", stand_still)
    try:
        config_edit.allow_in_project(tmp_path / "config.json", "/project", "bash")
    finally:
        os.close(handle)
