from __future__ import annotations

import os
from pathlib import Path

import pytest

from tinyhost import ownership
from tinyhost.ownership import folder_problem, program_problem


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "program"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def make_foreign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a file to somebody else; without the right to, become somebody else."""
    if os.geteuid() == 0:
        os.chown(path, 12345, -1, follow_symlinks=False)
    else:
        other = os.geteuid() + 1
        monkeypatch.setattr(ownership.os, "geteuid", lambda: other)


def test_a_program_of_ones_own_is_good(script: Path) -> None:
    assert program_problem(str(script)) is None


def test_a_program_of_root_is_good() -> None:
    assert program_problem("/bin/sh") is None


def test_a_foreign_program_is_refused(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_foreign(script, monkeypatch)
    problem = program_problem(str(script))
    assert problem is not None
    assert "not to you or root" in problem
    assert f"chown {os.geteuid()} {script}" in problem


def test_a_foreign_folder_is_refused(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_foreign(script.parent, monkeypatch)
    assert "not to you or root" in (folder_problem(str(script.parent)) or "")


def test_a_foreign_link_to_a_good_program_is_refused(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = script.parent / "link"
    link.symlink_to("/bin/sh")
    make_foreign(link, monkeypatch)
    assert str(link) in (program_problem(str(link)) or "")


def test_a_shared_group_may_not_write_but_ones_own_may(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.chmod(0o775)
    monkeypatch.setattr(ownership, "_own_group", lambda gid: False)
    assert "written by its group" in (program_problem(str(script)) or "")
    monkeypatch.setattr(ownership, "_own_group", lambda gid: True)
    assert program_problem(str(script)) is None


def test_a_group_that_the_system_does_not_know_is_not_ones_own() -> None:
    assert not ownership._own_group(4_000_000)


def test_a_path_with_blanks_is_quoted_in_the_fix(tmp_path: Path) -> None:
    path = tmp_path / "a b"
    path.write_text("")
    path.chmod(0o644)
    assert f"chmod +x '{path}'" in (program_problem(str(path)) or "")


def test_a_missing_folder_has_no_problem(tmp_path: Path) -> None:
    assert folder_problem(str(tmp_path / "none")) is None
