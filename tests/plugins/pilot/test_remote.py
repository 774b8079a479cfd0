"""Remote URLs in all their forms, and git asked for them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.pilot.remote import NO_REMOTE, Remote, parse_remote, read_remote


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("https://github.com/o/r.git", ("github.com", "o", "r")),
        ("https://github.com/o/r", ("github.com", "o", "r")),
        ("https://github.com/o/r/", ("github.com", "o", "r")),
        ("https://GitHub.com:443/o/r.git\n", ("github.com", "o", "r")),
        ("https://user:p%40ss@git.example.com/o/r.git", ("git.example.com", "o", "r")),
        ("https://gitlab.com/group/sub/r.git", ("gitlab.com", "group/sub", "r")),
        ("https://gitlab.com/group/sub/deep/r", ("gitlab.com", "group/sub/deep", "r")),
        ("git@github.com:o/r.git", ("github.com", "o", "r")),
        ("git@gitlab.com:group/sub/r.git", ("gitlab.com", "group/sub", "r")),
        ("git@host:/o/r", ("host", "o", "r")),
        ("work:o/r.git", ("work", "o", "r")),
        ("git@[2001:db8::1]:o/r.git", ("2001:db8::1", "o", "r")),
        ("ssh://git@github.com/o/r.git", ("github.com", "o", "r")),
        ("ssh://git@gitea.example:2222/o/r.git", ("gitea.example", "o", "r")),
        ("git+ssh://git@host.example/o/r", ("host.example", "o", "r")),
        ("git://host.example/o/r.git.git", ("host.example", "o", "r.git")),
        ("http://[::1]:3000/o/r", ("::1", "o", "r")),
        ("", None),
        ("garbage", None),
        ("https://github.com", None),
        ("https://github.com/", None),
        ("https://github.com/single", None),
        ("https://github.com//r", None),
        ("https://github.com/o//r", None),
        ("git@github.com:single.git", None),
        ("file:///srv/git/o/r.git", None),
        ("/srv/git/o/r.git", None),
        ("../o/r", None),
        ("C:/o/r", None),
        ("https://[::1/o/r", None),
        ("https://host/o/r\nx", None),
        ("https://host/o/" + "r" * 5000, None),
    ],
)
def test_a_url_is_taken_apart(url: str, remote: tuple[str, str, str] | None) -> None:
    assert parse_remote(url) == (remote and Remote(*remote))


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            ["https://", "ssh://", "git@", ":", "/", ".git", "[", "]", "a", "h.x", "@"]
        ),
        max_size=12,
    ).map("".join)
)
def test_whatever_is_taken_apart_has_all_parts(url: str) -> None:
    remote = parse_remote(url)
    if remote is not None:
        assert all(remote)
        assert remote.host == remote.host.lower()
        assert "/" not in remote.host + remote.repo
        assert all(remote.owner.split("/"))


def test_git_is_asked_for_the_remote_of_a_folder(clone: Callable[[str], Path]) -> None:
    folder = clone("git@github.com:o/r.git")
    (folder / "inner").mkdir()
    assert read_remote(str(folder / "inner"), "origin") == Remote("github.com", "o", "r")
    assert read_remote(str(folder), "upstream") == NO_REMOTE


def test_what_git_puts_in_place_of_a_url_counts(clone: Callable[[str], Path]) -> None:
    folder = clone("gh:o/r")
    rule = "url.https://github.com/.insteadOf"
    subprocess.run(["git", "-C", str(folder), "config", rule, "gh:"], check=True)
    assert read_remote(str(folder), "origin") == Remote("github.com", "o", "r")


def test_why_there_is_no_remote_is_told(
    tmp_path: Path, clone: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_remote(str(tmp_path), "origin") == NO_REMOTE
    missing = read_remote(str(tmp_path / "missing"), "origin")
    assert str(missing).startswith("git cannot read the remote here (fatal: cannot change to ")
    assert read_remote("a\0b", "origin") == "git cannot be started here (embedded null byte)"
    folder = clone("../elsewhere/r")
    assert read_remote(str(folder), "origin") == "the git remote here is not at a host"
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    refused = read_remote(str(folder), "origin")
    assert "git cannot read the remote here (fatal: detected dubious ownership" in str(refused)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_remote(str(folder), "origin") == "there is no git on PATH to read the remote with"
