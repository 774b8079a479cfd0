"""Hashes of files and folders."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost import contents
from tinyhost.contents import Contents, File, Unreadable, hash_file, read_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file, and one in a folder below."""
    found = tmp_path / "folder"
    (found / "inner").mkdir(parents=True)
    (found / "b.txt").write_text("bee")
    (found / "inner" / "a.sh").write_text("#!/bin/sh\n")
    return found


def test_a_file_has_the_hash_that_sha256sum_prints(folder: Path) -> None:
    assert hash_file(str(folder / "b.txt")) == (hashlib.sha256(b"bee").hexdigest(), 3)


def test_a_folders_files_are_listed_by_name_with_what_they_are(folder: Path) -> None:
    (folder / "b.txt").chmod(0o640)
    found = read_folder(str(folder), keep=["b.txt"])
    assert [(file.name, file.size) for file in found.files] == [("b.txt", 3), ("inner/a.sh", 10)]
    assert found.files[0].mode == 0o640
    assert found.kept == {"b.txt": b"bee"}
    assert found.size == 13


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda folder: (folder / "b.txt").write_text("bean"),
    "mode": lambda folder: (folder / "b.txt").chmod(0o700),
    "name": lambda folder: (folder / "b.txt").rename(folder / "c.txt"),
    "new file": lambda folder: (folder / "inner" / "new").touch(),
    "hidden file": lambda folder: (folder / ".new").touch(),
    "file gone": lambda folder: (folder / "b.txt").unlink(),
    "moved": lambda folder: (folder / "inner").rename(folder / "other"),
    "a link to the same": lambda folder: (
        (folder / "b.txt").rename(folder.parent / "b"),
        (folder / "b.txt").symlink_to(folder.parent / "b"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_changes_the_hash(folder: Path, change: str) -> None:
    before = read_folder(str(folder)).sha256
    assert read_folder(str(folder)).sha256 == before
    CHANGES[change](folder)
    assert read_folder(str(folder)).sha256 != before


def test_links_are_followed_and_what_they_lead_to_counts(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("1")
    (folder / "link").symlink_to(outside)
    found = read_folder(str(folder))
    assert found.files[-1].name == "link/x"
    assert found.files[-1].target == str(outside / "x")
    (outside / "x").write_text("2")
    assert read_folder(str(folder)).sha256 != found.sha256


def test_a_folder_that_holds_itself_is_read_once(folder: Path) -> None:
    (folder / "inner" / "up").symlink_to("..")
    names = [file.name for file in read_folder(str(folder)).files]
    assert names == ["b.txt", "inner/a.sh"]


def test_a_named_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(Unreadable, match="pipe is not a regular file"):
        read_folder(str(folder))


def test_a_link_that_leads_nowhere_is_refused(folder: Path) -> None:
    (folder / "lost").symlink_to("nowhere")
    with pytest.raises(Unreadable, match="lost is a link that leads nowhere"):
        read_folder(str(folder))


def test_folders_that_link_to_each_other_do_not_take_for_ever(folder: Path) -> None:
    names = [f"d{number}" for number in range(12)]
    for name in names:
        (folder / name).mkdir()
        for other in names:
            if other != name:
                (folder / name / other).symlink_to(f"../{other}")
    with pytest.raises(Unreadable, match="folders, or ways through links"):
        read_folder(str(folder))


def test_too_much_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_SIZE", 12)
    with pytest.raises(Unreadable, match=r"a\.sh is too big: at most 12 bytes"):
        read_folder(str(folder))
    with pytest.raises(Unreadable, match="holds more than 1 files"):
        monkeypatch.setattr(contents, "MAX_FILES", 1)
        read_folder(str(folder))
    with pytest.raises(Unreadable, match="folder is not a regular file"):
        hash_file(str(folder))


FILES = st.lists(
    st.builds(
        File,
        st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=4),
        st.sampled_from([0o644, 0o755]),
        st.integers(0, 3),
        st.sampled_from(["aa", "bb"]),
        st.sampled_from(["", "/t"]),
    ),
    max_size=4,
)


@given(FILES, FILES)
def test_two_folders_look_the_same_only_when_they_are(one: list[File], other: list[File]) -> None:
    def facts(files: list[File]) -> list[object]:
        return [(file.name, file.mode, file.sha256, file.target) for file in files]

    same = facts(one) == facts(other)
    assert (Contents(tuple(one), {}).sha256 == Contents(tuple(other), {}).sha256) is same
