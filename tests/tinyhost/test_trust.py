"""Which project a directory belongs to, and what the person trusts."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost import ownership, trust
from tinyhost.errors import ConfigError
from tinyhost.trust import Project, State, find_project, records, revoke, standing

ProjectFolder = Any  # of conftest.py


def root_of(directory: Path) -> str | None:
    found = find_project(directory)
    return found.root if found else None


# --- finding


def test_the_nearest_folder_upwards_with_a_configuration_is_the_project(
    project: ProjectFolder,
) -> None:
    project.configure({})
    deep = project.root / "a" / "b"
    deep.mkdir(parents=True)
    assert root_of(project.root) == root_of(deep) == str(project.root)
    (project.root / "a" / ".tinyhost").mkdir()
    assert root_of(deep) == str(project.root)
    (project.root / "a" / ".tinyhost" / "config.json").touch()
    assert root_of(deep) == str(project.root / "a")


def test_a_directory_that_is_not_there_belongs_to_what_it_would_be_in(
    project: ProjectFolder,
) -> None:
    project.configure({})
    assert root_of(project.root / "not" / "yet") == str(project.root)


def test_a_configuration_that_leads_nowhere_is_one_too(project: ProjectFolder) -> None:
    project.file.symlink_to("nowhere")
    assert root_of(project.root) == str(project.root)
    assert standing(project.project, look=True).state is State.REFUSED


def test_the_search_ends_at_a_repository(project: ProjectFolder) -> None:
    project.configure({})
    inner = project.root / "vendor" / "x"
    (inner / "src").mkdir(parents=True)
    (inner / ".git").touch()
    assert root_of(inner / "src") is None
    (inner / ".tinyhost").mkdir()
    (inner / ".tinyhost" / "config.json").touch()
    assert root_of(inner / "src") == str(inner)


def test_the_home_directory_is_no_project(home: Path) -> None:
    (home / ".tinyhost").mkdir()
    (home / ".tinyhost" / "config.json").touch()
    (home / "work").mkdir()
    assert root_of(home) is None
    assert root_of(home / "work") is None


def test_the_search_does_not_leave_the_file_system(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure({})
    mounted = project.root / "mounted"
    (mounted / "inner").mkdir(parents=True)
    assert root_of(mounted / "inner") == str(project.root)
    real = os.stat

    def stat(path: Any, **more: Any) -> Any:
        found = real(path, **more)
        if str(path).startswith(str(mounted)):
            return os.stat_result([*found[:2], found.st_dev + 1, *found[3:10]])
        return found

    monkeypatch.setattr(os, "stat", stat)
    assert root_of(mounted / "inner") is None
    assert root_of(project.root) == str(project.root)


def test_a_link_to_a_project_is_the_project(project: ProjectFolder, tmp_path: Path) -> None:
    project.configure({})
    (tmp_path / "link").symlink_to(project.root)
    assert root_of(tmp_path / "link") == str(project.root)


# --- standing


def test_a_project_is_trusted_until_anything_in_it_changes(project: ProjectFolder) -> None:
    project.configure({})
    assert standing(project.project).state is State.UNTRUSTED
    project.trust()
    assert standing(project.project).state is State.TRUSTED
    assert standing(project.project).notice == ""
    (project.root / "README").write_text("not in .tinyhost")
    assert standing(project.project).state is State.TRUSTED
    (project.folder / "script.sh").touch()
    found = standing(project.project)
    assert found.state is State.CHANGED
    assert found.notice == (
        f"the project's {project.file} is not in force: it has changed since you trusted it"
        f" (new: script.sh); look again: tinyhost trust {project.root}"
    )


CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "config": (lambda p: p.configure({"plugins": []}), "changed: config.json"),
    "program": (lambda p: p.program("x", "#!/bin/sh\nexit 2\n"), "changed: plugins/x"),
    "mode": (lambda p: (p.plugins / "x").chmod(0o700), "changed: plugins/x"),
    "new program": (lambda p: p.program("y"), "new: plugins/y"),
    "gone": (lambda p: (p.plugins / "x").unlink(), "gone: plugins/x"),
    "renamed": (lambda p: (p.plugins / "x").rename(p.plugins / "y"), "new: plugins/y; gone"),
    "a program's own file": (lambda p: p.program("z/lib.py"), "new: plugins/z/lib.py"),
    "a name with a line end": (lambda p: p.program("a\nb"), r"new: plugins/a\nb"),
    "many": (lambda p: [p.program(f"n{i}") for i in range(5)], "plugins/n2 and 2 more"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_project_says_what_changed(project: ProjectFolder, change: str) -> None:
    project.configure({})
    project.program("x")
    project.trust()
    make, words = CHANGES[change]
    make(project)
    found = standing(project.project)
    assert found.state is State.CHANGED
    assert words in found.why
    assert len(found.notice.splitlines()) == 1
    project.trust()
    assert standing(project.project).state is State.TRUSTED


def test_what_a_link_leads_to_is_part_of_it(project: ProjectFolder) -> None:
    tool = project.root / "tool"
    tool.write_text("1")
    project.configure({})
    project.plugins.joinpath("tool").symlink_to(tool)
    project.trust()
    tool.write_text("2")
    assert standing(project.project).state is State.CHANGED


def test_a_copy_of_a_trusted_project_is_not_trusted(project: ProjectFolder, tmp_path: Path) -> None:
    project.configure({})
    project.trust()
    project.root.rename(tmp_path / "elsewhere")
    assert standing(Project(str(tmp_path / "elsewhere"))).state is State.UNTRUSTED


@pytest.mark.parametrize("what", ["config.json", "plugins/x", "plugins", ".", ".."])
def test_what_others_can_write_is_refused_even_when_it_was_trusted(
    project: ProjectFolder, what: str
) -> None:
    project.configure({})
    project.program("x")
    project.trust()
    (project.folder / what).chmod(0o777)
    found = standing(project.project)
    assert found.state is State.REFUSED
    assert "can be written by everybody; fix it with: chmod go-w" in found.why


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file somebody else's; without the right to, make believe."""
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        inode = path.stat().st_ino
        monkeypatch.setattr(ownership, "_foreign", lambda found: found.st_ino == inode)


@pytest.mark.parametrize("what", ["config.json", "plugins/x", "plugins", ".", ".."])
def test_what_somebody_else_owns_is_refused(
    project: ProjectFolder, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure({})
    project.program("x")
    project.trust()
    give_away(project.folder / what, monkeypatch)
    found = standing(project.project)
    assert found.state is State.REFUSED
    assert "not to you or root; if you trust it: sudo chown" in found.why


# --- the record


def test_the_record_is_for_its_owner_alone(project: ProjectFolder) -> None:
    project.configure({})
    project.trust()
    assert trust.store().stat().st_mode & 0o777 == 0o600
    [name] = [path.name for path in trust.store().parent.iterdir()]
    assert name == "trust.json"


def test_trust_is_listed_and_revoked(project: ProjectFolder, tmp_path: Path) -> None:
    project.configure({})
    project.trust()
    assert list(records()) == [str(project.root)]
    assert not revoke(str(tmp_path))
    assert revoke(str(project.root))
    assert records() == {}
    assert standing(project.project).state is State.UNTRUSTED


def test_a_record_that_others_can_write_trusts_nothing(project: ProjectFolder) -> None:
    project.configure({})
    project.trust()
    trust.store().chmod(0o666)
    found = standing(project.project)
    assert found.state is State.UNTRUSTED
    assert "trust.json: the file can be written by everybody" in found.why
    with pytest.raises(ConfigError):
        project.trust()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "projects": {}}',
        '{"version": 1, "projects": []}',
        '{"version": 1, "projects": {"/x": 1}}',
        '{"version": 1, "projects": {"/x": {"sha256": "a", "trustedAt": "b"}}}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_a_bad_record_trusts_nothing_and_is_left_as_it_is(
    project: ProjectFolder, text: str
) -> None:
    project.configure({})
    trust.store().write_text(text, encoding="latin-1")
    assert standing(project.project).state is State.UNTRUSTED
    with pytest.raises(ConfigError, match="not a record of trust"):
        project.trust()
    assert trust.store().read_text(encoding="latin-1") == text


def test_records_written_at_the_same_time_are_all_kept(home: Path, tmp_path: Path) -> None:
    roots = [tmp_path / f"p{number}" for number in range(8)]
    for root in roots:
        (root / ".tinyhost").mkdir(parents=True)
        (root / ".tinyhost" / "config.json").write_text("{}")

    def one(root: Path) -> None:
        found = standing(Project(str(root)), look=True)
        assert found.contents is not None
        trust.trust(found.project, found.contents)

    threads = [threading.Thread(target=one, args=[root]) for root in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(records()) == {str(root) for root in roots}
    json.loads(trust.store().read_text())
