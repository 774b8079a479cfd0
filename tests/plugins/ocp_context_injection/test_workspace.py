"""The private folder: who may read it, and that it does not outlive its use."""

from __future__ import annotations

import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tinyhost_plugins.ocp_context_injection.oc import OcError
from tinyhost_plugins.ocp_context_injection.workspace import Workspace

PROGRAM = (
    "from tinyhost_plugins.ocp_context_injection.workspace import Workspace\n"
    "workspace = Workspace()\n"
    "workspace.fresh().write_text('secret')\n"
    "print(workspace.folder, flush=True)\n"
    "input()\n"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_the_folder_is_for_oneself_alone_and_goes_with_all_that_is_in_it(run: Path) -> None:
    workspace = Workspace()
    assert list(run.iterdir()) == []
    first, second = workspace.fresh(), workspace.fresh()
    assert first != second
    first.write_text("x")
    assert workspace.folder.parent == run
    assert stat.S_IMODE(workspace.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(workspace.scratch).stat().st_mode) == 0o700
    assert workspace.certificates("a") == workspace.certificates("a") != workspace.certificates("b")
    assert Path(workspace.certificates("a")).read_text() == "a"
    # A cluster may answer anything that JSON can spell.
    assert Path(workspace.certificates("\ud800\xe4")).read_text() == "??"
    workspace.remove(first)
    workspace.remove(first)
    workspace.close()
    workspace.close()
    assert list(run.iterdir()) == []
    with pytest.raises(OcError, match="the plugin is being stopped"):
        workspace.fresh()
    assert list(run.iterdir()) == []


def test_without_room_for_what_oc_keeps_the_reason_is_told(run: Path) -> None:
    workspace = Workspace()
    (workspace.folder / "oc").write_text("in the way")
    with pytest.raises(OcError, match="there is no room for files: "):
        workspace.scratch  # noqa: B018
    workspace.close()


def test_a_folder_that_was_cleared_away_is_made_anew(run: Path) -> None:
    workspace = Workspace()
    first = workspace.folder
    shutil.rmtree(first)
    assert Path(workspace.scratch).is_dir()
    second = workspace.folder
    shutil.rmtree(second)
    second.symlink_to(run)
    third = workspace.folder
    assert len({first, second, third}) == 3
    second.unlink()
    workspace.close()
    assert list(run.iterdir()) == []


def test_where_there_is_no_folder_of_the_login_the_temporary_one_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for named in ("", "relative", str(tmp_path / "none")):
        monkeypatch.setenv("XDG_RUNTIME_DIR", named)
        workspace = Workspace()
        assert workspace.folder.parent == tmp_path
        workspace.close()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(OcError, match="there is no room for files: "):
        Workspace().fresh()


def test_what_a_killed_one_left_is_removed_and_what_is_in_use_stays(run: Path) -> None:
    living = Workspace()
    kept = living.fresh()
    kept.write_text("mine")
    (run / "tinyhost-ocp-other").mkdir()
    (run / "something-else").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        assert (left / "kubeconfig-0").read_text() == "secret"
        Workspace().close()
        early = Workspace()
        early.fresh()
        early.close()
        assert left.exists()
        process.send_signal(signal.SIGKILL)
    later = Workspace()
    later.fresh()
    assert not left.exists()
    assert kept.read_text() == "mine"
    assert (run / "tinyhost-ocp-other").exists()
    assert (run / "something-else").exists()
    later.close()
    living.close()
