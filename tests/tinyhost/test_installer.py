"""Installing: what is taken, what is refused, and that no end in between leaves half of it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tinyhost import installer, staging
from tinyhost.errors import InstallError
from tinyhost.extension_folders import ExtensionFolder
from tinyhost.installer import Places, add, remove, update
from tinyhost.zuno.discovery import discover

Make = Callable[..., Path]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(str(tmp_path / "root" / "extensions"), str(tmp_path / "root" / "plugins"))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """make(id, text, **changes): a package's folder to install from."""

    def write(id: str = "p", text: str = "one", *, under: str = "source", **changes: Any) -> Path:
        folder = tmp_path / under / id
        (folder / "lib" / "empty").mkdir(parents=True)
        manifest = {
            "apiVersion": "zuno.extension/v1",
            "id": id,
            "description": text,
            "skills": [{"name": id, "description": "x", "content": text}],
            **changes,
        }
        (folder / "extension.json").write_text(json.dumps(manifest))
        (folder / "lib" / "text").write_text(text)
        (folder / "run").write_text("#!/bin/sh\n")
        (folder / "run").chmod(0o777)
        return folder

    return write


def tree(folder: str | Path) -> Mapping[str, tuple[int, bytes | None]]:
    """Mode and content of all that is in a folder."""
    root = Path(folder)
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode & 0o777,
            None if path.is_dir() else path.read_bytes(),
        )
        for path in sorted(root.rglob("*"))
    }


def names(folder: str | Path) -> list[str]:
    """What is in a folder, if it is there."""
    return sorted(path.name for path in Path(folder).glob("*"))


def entries(places: Places) -> list[str]:
    return names(places.extensions)


def step_error(fail_at: int) -> Callable[[str], None]:
    """Something that fails at one step."""
    steps: Iterator[int] = iter(range(1000))

    def on_step(step: str) -> None:
        if next(steps) == fail_at:
            raise OSError(28, f"No space left on device, at {step}")

    return on_step


def count_steps(run: Callable[[Callable[[str], None]], object]) -> list[str]:
    steps: list[str] = []
    run(steps.append)
    return steps


# --- what it does


def test_add_copies_a_package_with_its_modes(make: Make, places: Places) -> None:
    source = make()
    done = add(source, places)
    assert (done.kind, done.name, done.path) == ("zuno", "p", f"{places.extensions}/p")
    copied = tree(done.path)
    assert set(copied) == set(tree(source))
    assert copied["lib/text"][1] == b"one"
    assert copied["run"] == (0o755, b"#!/bin/sh\n")  # others may not write it
    assert entries(places) == ["p"]
    [found] = discover([ExtensionFolder(places.extensions, "x")])
    assert found.usable


def test_the_manifest_itself_may_be_named_and_the_folders_name_does_not_matter(
    make: Make, places: Places
) -> None:
    source = make("p", under="source").rename(make("q").parent / "other")
    assert add(source / "extension.json", places).path == f"{places.extensions}/p"


def test_add_replaces_nothing(make: Make, places: Places) -> None:
    add(make(), places)
    before = tree(places.extensions)
    with pytest.raises(InstallError, match=r"installed already.*tinyhost plugin update"):
        add(make("p", "two", under="new"), places)
    assert tree(places.extensions) == before


@pytest.mark.parametrize("at_once", [True, False])
def test_update_puts_the_new_in_place_of_the_old(make: Make, places: Places, at_once: bool) -> None:
    add(make(), places)
    (Path(places.extensions) / "p" / "of-the-old").touch()
    new = make("p", "two", under="new")
    update(new, places, at_once=at_once)
    assert set(tree(f"{places.extensions}/p")) == set(tree(new))
    assert Path(places.extensions, "p", "lib", "text").read_text() == "two"
    assert entries(places) == ["p"]


def test_update_needs_something_to_replace(make: Make, places: Places) -> None:
    with pytest.raises(InstallError, match=r"p is not installed.*tinyhost plugin add"):
        update(make(), places)
    assert entries(places) == []


def test_remove_takes_it_away(make: Make, places: Places) -> None:
    add(make(), places)
    assert remove("p", places).path == f"{places.extensions}/p"
    assert entries(places) == []
    with pytest.raises(InstallError, match="installed neither in"):
        remove("p", places)
    with pytest.raises(InstallError, match="must not contain"):
        remove("../p", places)


def test_a_program_goes_to_the_plugin_folder_without_its_prefix(
    tmp_path: Path, places: Places
) -> None:
    program = tmp_path / "tinyhost-plugin-greet"
    program.write_text("#!/bin/sh\necho 1\n")
    with pytest.raises(InstallError, match=r"not executable.*chmod \+x"):
        add(program, places)
    program.chmod(0o777)
    done = add(program, places)
    assert (done.kind, done.path, done.runs) == ("program", f"{places.plugins}/greet", done.path)
    assert tree(places.plugins) == {"greet": (0o755, b"#!/bin/sh\necho 1\n")}
    program.write_text("#!/bin/sh\necho 2\n")
    update(program, places)
    assert Path(done.path).read_text().endswith("2\n")
    assert names(places.plugins) == ["greet"]
    remove("greet", places)
    assert names(places.plugins) == []


def test_folders_with_a_program_and_bingo_folders_go_to_the_plugin_folder(
    tmp_path: Path, places: Places
) -> None:
    native, bingo = tmp_path / "mine", tmp_path / "folder"
    for folder in (native, bingo):
        folder.mkdir()
    (native / "plugin").write_text("#!/bin/sh\n")
    (bingo / "plugin.json").write_text('{"name": "word-count", "more": 1}')
    assert add(native, places).path == f"{places.plugins}/mine"
    done = add(bingo, places)
    assert (done.kind, done.path) == ("bingo", f"{places.plugins}/word-count")
    assert names(places.plugins) == ["mine", "word-count"]


def test_a_name_is_one_plugins_whatever_kind_it_is(
    make: Make, tmp_path: Path, places: Places
) -> None:
    add(make("p"), places)
    program = tmp_path / "p"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(InstallError, match=r"another plugin of that name.*plugin remove p"):
        add(program, places)


# --- what it refuses


def test_what_is_no_plugin_is_refused(tmp_path: Path, places: Places) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "plugin.json").write_text('{"name": 3}')
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "Upper").write_text("")
    for name, says in [
        ("missing", "does not exist"),
        ("empty", "no plugin: expected one of extension.json"),
        ("bad", "name is required, a string"),
        ("pipe", "neither a file nor a folder"),
        ("link", "is a link; name what it leads to"),
        ("Upper", "is not allowed"),
    ]:
        with pytest.raises(InstallError, match=says):
            add(tmp_path / name, places)
    assert not Path(places.extensions).exists()


def test_every_problem_of_a_manifest_is_told(make: Make, places: Places) -> None:
    with pytest.raises(InstallError) as caught:
        add(make(description=" ", extra=1, skills=None), places)
    text = str(caught.value)
    assert "description: must not be blank" in text
    assert "extra: is not a key" in text
    assert "skills: is null" in text


def test_links_and_special_files_inside_are_refused(make: Make, places: Places) -> None:
    source = make()
    (source / "lib" / "link").symlink_to("/etc/passwd")
    with pytest.raises(InstallError, match="lib/link is a link"):
        add(source, places)
    (source / "lib" / "link").unlink()
    os.mkfifo(source / "lib" / "pipe")
    with pytest.raises(InstallError, match="lib/pipe is neither"):
        add(source, places)
    assert entries(places) == []


def test_a_source_that_holds_the_target_or_is_in_it_is_refused(make: Make, tmp_path: Path) -> None:
    source = make()
    inside = Places(str(source / "x" / "extensions"), str(source / "x" / "plugins"))
    with pytest.raises(InstallError, match="holds the folder"):
        add(source, inside)
    around = Places(str(source.parent), str(tmp_path / "plugins"))
    with pytest.raises(InstallError, match="already, where plugins are installed"):
        update(source, around)


def test_what_would_clash_with_another_package_is_refused(make: Make, places: Places) -> None:
    add(make("a"), places)
    others = discover([ExtensionFolder(places.extensions, "x")])
    clash = make("b", skills=[{"name": "a", "description": "x", "content": "x"}])
    with pytest.raises(InstallError, match="the skill 'a' is also in package a"):
        add(clash, places, others=others)
    assert entries(places) == ["a"]
    update(make("a", "two", under="new"), places, others=others)  # not with itself


def test_two_at_a_time_are_refused(make: Make, places: Places) -> None:
    Path(places.extensions).mkdir(parents=True)
    handle = os.open(places.extensions, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(InstallError, match=r"another tinyhost is changing .* now"):
            add(make(), places)
    finally:
        os.close(handle)
    add(make("q"), places)


def test_what_changes_while_it_is_copied_is_refused(make: Make, places: Places) -> None:
    source = make()

    def turn_into_link(step: str) -> None:
        if step == "copy lib/text":
            (source / "lib" / "text").unlink()
            (source / "lib" / "text").symlink_to("/etc/passwd")

    with pytest.raises(InstallError, match="has become a link"):
        add(source, places, on_step=turn_into_link)

    other = make("q")

    def change_manifest(step: str) -> None:
        if step == "copy extension.json":
            text = (other / "extension.json").read_text()
            (other / "extension.json").write_text(text.replace("one", "two"))

    with pytest.raises(InstallError, match="changed while it was copied"):
        add(other, places, on_step=change_manifest)
    assert entries(places) == []


# --- failures and ends in between


def test_a_failure_at_any_step_of_add_leaves_nothing(make: Make, places: Places) -> None:
    source = make()
    steps = count_steps(lambda on_step: add(source, places, on_step=on_step))
    remove("p", places)
    assert len(steps) > 8
    for number, step in enumerate(steps[:-1]):
        with pytest.raises(InstallError, match="No space left"):
            add(source, places, on_step=step_error(number))
        assert entries(places) == [], step


@pytest.mark.parametrize("at_once", [True, False])
def test_a_failure_at_any_step_of_update_leaves_the_old(
    make: Make, places: Places, at_once: bool
) -> None:
    add(make(), places)
    before = tree(f"{places.extensions}/p")
    new = make("p", "two", under="new")
    steps = count_steps(lambda s: update(new, places, on_step=s, at_once=at_once))
    last = max(index for index, step in enumerate(steps) if step.startswith("exchange"))
    update(make(under="again"), places)
    for number in range(last + 1):
        with pytest.raises(InstallError, match="nothing was changed"):
            update(new, places, on_step=step_error(number), at_once=at_once)
        assert tree(f"{places.extensions}/p") == before, steps[number]
        assert entries(places) == ["p"], steps[number]


KILLED = """
import os, signal, sys
from tinyhost.installer import Places, add, remove, update
what, source, extensions, plugins, at, at_once = sys.argv[1:]
count = 0
def on_step(step):
    global count
    if count == int(at):
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
places = Places(extensions, plugins)
if what == "add":
    add(source, places, on_step=on_step)
elif what == "update":
    update(source, places, on_step=on_step, at_once=at_once == "1")
else:
    remove("p", places, on_step=on_step)
"""


def run_killed(what: str, source: Path, places: Places, at: int, at_once: bool) -> bool:
    """Run in another process that kills itself before a step; False when it came to its end."""
    words = (what, str(source), places.extensions, places.plugins, str(at), str(int(at_once)))
    done = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, text=True)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9


def versions(places: Places) -> list[str]:
    """What a host that looks now finds: the descriptions of all packages, whole ones only."""
    found = discover([ExtensionFolder(places.extensions, "x")])
    for package in found:
        assert package.usable, package.why_not
        assert package.package is not None
        text = Path(package.folder, "lib", "text").read_text()
        assert text == package.package.description
        assert Path(package.folder, "run").exists()
    return [package.package.description for package in found if package.package]


@pytest.mark.parametrize(
    ("what", "at_once", "allowed"),
    [
        ("add", True, [[], ["two"]]),
        ("update", True, [["one"], ["two"]]),
        # Where the system cannot exchange, there is a moment without either.
        ("update", False, [["one"], ["two"], []]),
        ("remove", True, [["one"], []]),
    ],
)
def test_being_killed_before_any_step_leaves_a_whole_package_or_none(
    make: Make, places: Places, what: str, at_once: bool, allowed: list[list[str]]
) -> None:
    old, new = make(), make("p", "two", under="new")
    seen = []
    for number in range(100):
        if os.path.lexists(f"{places.extensions}/p"):
            remove("p", places)
        if what != "add":
            add(old, places)
        killed = run_killed(what, new, places, number, at_once)
        now = versions(places)
        assert now in allowed, number
        seen.append(now)
        # The next run cleans up, and gives back what was moved aside.
        with staging.opened(places.extensions):
            pass
        after = versions(places)
        assert after == (["one"] if now == [] and what == "update" else now)
        assert set(entries(places)) <= {"p"}
        if not killed:
            break
    assert not killed
    assert number >= 3
    assert seen[0] == allowed[0]
    assert seen[-1] == (["two"] if what != "remove" else [])


def test_the_system_exchanges_in_one_step_here(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    if staging._swap(str(tmp_path / "a"), str(tmp_path / "b")):
        assert [names(tmp_path / name) for name in ("a", "b")] == [["b"], ["a"]]
    else:
        assert [names(tmp_path / name) for name in ("a", "b")] == [["a"], ["b"]]
    with pytest.raises(OSError, match="No such file"):
        staging._swap(str(tmp_path / "a"), str(tmp_path / "missing"))


def test_files_and_folders_are_made_durable_before_they_are_in_place(
    make: Make, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make()
    events: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        name = str(Path(f"/proc/self/fd/{handle}").readlink())
        events.append(name.removeprefix(places.extensions))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    add(source, places, on_step=lambda step: events.append(step) if step == "put" else None)
    before, after = events[: events.index("put")], events[events.index("put") + 1 :]
    staged = "/.tinyhost-new.p"
    parts = ["", *(f"/{name}" for name in tree(source))]
    assert sorted(before) == sorted(staged + part for part in parts)
    assert after == [""]


def test_limits_hold(make: Make, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    from tinyhost.zuno import tree as limits

    monkeypatch.setattr(limits, "MAX_ENTRIES", 3)
    with pytest.raises(InstallError, match="more than 3 files"):
        add(make(), places)
    monkeypatch.setattr(installer, "MAX_BYTES", 3)
    program = Path(make("q").parent, "prog")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(InstallError, match="larger than 3 bytes"):
        add(program, places)
