"""Folders that are removed again, also when their process was killed."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tinyhost_plugins._shared import scratch
from tinyhost_plugins._shared.scratch import claimed_folder


def test_a_folder_is_for_oneself_alone_and_stays_while_it_is_claimed(tmp_path: Path) -> None:
    folder, claim = claimed_folder(tmp_path, "x-")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    other, second = claimed_folder(tmp_path, "x-")
    assert {folder, other} == set(tmp_path.iterdir())
    os.close(claim)
    os.close(second)


def test_what_is_not_claimed_any_more_is_removed_and_nothing_else(tmp_path: Path) -> None:
    folder, claim = claimed_folder(tmp_path, "x-")
    (folder / "secret").write_text("x")
    os.close(claim)
    away = tmp_path / "away"
    shutil.copytree(folder, away)
    (tmp_path / "x-link").symlink_to(away)
    (tmp_path / "x-bare").mkdir()
    later, claim = claimed_folder(tmp_path, "x-")
    os.close(claim)
    assert {path.name for path in tmp_path.iterdir()} == {"away", "x-link", "x-bare", later.name}
    assert (away / "secret").exists()


def test_one_that_is_just_being_made_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, held = scratch.fcntl.flock, []

    def meanwhile(claim: int, how: int) -> None:
        """Another process looks around between the making of a lock and the locking."""
        if not held and how == scratch.fcntl.LOCK_EX:
            held.append(claim)
            os.close(claimed_folder(tmp_path, "x-")[1])
        flock(claim, how)

    monkeypatch.setattr(scratch.fcntl, "flock", meanwhile)
    folder, claim = claimed_folder(tmp_path, "x-")
    assert held == [claim]
    assert (folder / "in-use").exists()
    os.close(claim)


def test_when_it_cannot_be_claimed_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(claim: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(scratch.fcntl, "flock", refuse)
    with pytest.raises(OSError, match="No locks"):
        claimed_folder(tmp_path, "x-")
    assert list(tmp_path.iterdir()) == []
