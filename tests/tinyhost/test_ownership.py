from __future__ import annotations

import os
from pathlib import Path

import pytest

from tinyhost import ownership
from tinyhost.ownership import folder_problem, program_problem, way_problem


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


# --- the whole way


def test_a_folder_far_above_that_others_can_write_is_refused(script: Path) -> None:
    top = script.parent / "a"
    deep = top / "b" / "c"
    deep.mkdir(parents=True)
    script.rename(deep / "program")
    assert program_problem(str(deep / "program")) is None
    top.chmod(0o777)
    problem = program_problem(str(deep / "program")) or ""
    assert f"is in {top}, which can be written by everybody" in problem
    assert f"chmod go-w {top}" in problem
    top.chmod(0o1777)
    assert program_problem(str(deep / "program")) is None


def test_a_foreign_folder_far_above_is_refused(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = script.parent / "b"
    deep.mkdir()
    script.rename(deep / "program")
    make_foreign(script.parent, monkeypatch)
    assert f"is in {script.parent}, which belongs to" in (
        program_problem(str(deep / "program")) or ""
    )


def test_the_folder_of_every_link_on_the_way_counts(script: Path, tmp_path: Path) -> None:
    middle = tmp_path / "middle"
    middle.mkdir()
    (middle / "link").symlink_to(script)
    (tmp_path / "first").symlink_to(middle / "link")
    assert program_problem(str(tmp_path / "first")) is None
    middle.chmod(0o777)
    assert f"is in {middle}, which" in (program_problem(str(tmp_path / "first")) or "")


def test_a_foreign_link_to_a_folder_on_the_way_is_refused(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folders").symlink_to(script.parent)
    make_foreign(tmp_path / "folders", monkeypatch)
    assert f"chown {os.geteuid()} {tmp_path / 'folders'}" in (
        program_problem(str(tmp_path / "folders" / "program")) or ""
    )


def test_links_with_dots_and_relative_ones_are_followed_as_the_system_does(
    script: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "up").symlink_to("../folder")
    assert program_problem(f"{other}/up/../folder/./program") is None
    script.parent.chmod(0o777)
    assert f"is in {script.parent}, which" in (program_problem(f"{other}/up/program") or "")


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "cannot be examined" in (program_problem(str(tmp_path / "a")) or "")
    assert "cannot be examined" in (way_problem(str(tmp_path / "a")) or "")
