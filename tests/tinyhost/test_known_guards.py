"""Which plugins are remembered as guards."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from tinyhost.known_guards import KnownGuards


def test_a_guard_is_remembered_until_it_is_loaded_as_something_else(tmp_path: Path) -> None:
    KnownGuards(tmp_path).remember("mine", True)
    KnownGuards(tmp_path).remember("other", False)
    assert "mine" in KnownGuards(tmp_path)
    assert "other" not in KnownGuards(tmp_path)
    KnownGuards(tmp_path).remember("mine", False)
    assert "mine" not in KnownGuards(tmp_path)


def test_the_registry_knows_guards_that_were_never_loaded(tmp_path: Path) -> None:
    assert "safety-net" in KnownGuards(tmp_path)
    assert "telemetry" not in KnownGuards(tmp_path)


def test_hosts_that_run_side_by_side_do_not_forget_each_others_guards(tmp_path: Path) -> None:
    first, second = KnownGuards(tmp_path), KnownGuards(tmp_path)
    assert "mine" not in first
    assert "mine" not in second
    first.remember("mine", True)
    second.remember("other", True)
    assert "mine" in second
    assert "mine" in KnownGuards(tmp_path)
    assert "other" in KnownGuards(tmp_path)


@pytest.mark.parametrize("text", ["", "[", "{}", '"mine"', "[" * 100_000, " " * 1024 * 1024 + "[]"])
def test_whoever_is_not_there_may_be_a_guard_while_the_file_cannot_be_read(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "known-guards.json").write_text(text)
    known = KnownGuards(tmp_path)
    assert "mine" in known
    known.remember("other", False)
    known.remember("third", True)  # which makes the file a whole one again
    assert "mine" in known
    assert "other" not in known
    assert json.loads((tmp_path / "known-guards.json").read_text()) == ["third"]


def test_what_cannot_be_written_counts_in_this_process(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    known = KnownGuards(tmp_path / "file" / "state")
    known.remember("mine", True)
    assert "mine" in known
    assert "other" not in known


def test_the_file_is_for_its_owner_alone_and_no_other_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    KnownGuards(folder).remember("mine", True)
    assert [file.name for file in folder.iterdir()] == ["known-guards.json"]
    assert (folder / "known-guards.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_host_that_hangs_with_the_lock_does_not_hold_up_another(tmp_path: Path) -> None:
    known = KnownGuards(tmp_path)
    known.remember("mine", True)
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        known.remember("other", True)
    finally:
        os.close(handle)
    assert "other" in known
    assert "other" not in KnownGuards(tmp_path)
    known.remember("other", True)
    assert "other" in KnownGuards(tmp_path)
