"""Must-gathers that come as archives: unpacked once, and removed again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins._shared import pace
from tinyhost_plugins._shared.must_gather import MustGatherError
from tinyhost_plugins.ocp_must_gather.options import Options
from tinyhost_plugins.ocp_must_gather.plugin import build
from tinyhost_plugins.ocp_must_gather.sessions import Sessions
from tinyhost_sdk import ToolContext, testing

Files = dict[str, Any]
Write = Callable[..., Path]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files: what is left in it would be left for ever."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def pack(write: Write, tmp_path: Path) -> Callable[..., Path]:
    """pack(files, name="mg.tar.gz"): an archive of a must-gather."""

    def pack(files: Files, name: str = "mg.tar.gz") -> Path:
        folder = write(files, f"packed-{name}")
        (folder / "link").symlink_to("/etc")
        with tarfile.open(tmp_path / name, "w:gz") as made:
            made.add(folder, "must-gather.local.1/image")
        return tmp_path / name

    return pack


Pack = Callable[..., Path]


def test_an_archive_is_unpacked_asked_and_removed_with_the_session(
    cluster: Files, pack: Pack, temporary: Path
) -> None:
    path = pack(cluster | {"insights-data/a.tar.gz": "x" * 1000})
    with testing.drive(build()) as driver:
        said = driver.call_tool("mg_use", {"path": str(path)}, session_id="a").content
        lines = said.split("\n")
        assert lines[0] == "Loaded mg.tar.gz: OpenShift 4.18.2, channel stable-4.18"
        assert lines[-2] == (
            "Unpacked to a temporary folder, which is removed at the end of the session;"
            " 2 files of audit_logs and insights-data left out"
        )
        assert lines[-1].startswith("Skipped: 1 entry of the archive (links")
        assert driver.call_tool("mg_pods", session_id="a").content.startswith("6 pods")
        (home,) = temporary.iterdir()
        assert home.stat().st_mode & 0o777 == 0o700
        driver.call_tool("mg_use", {"path": str(path)}, session_id="b")
        assert list(temporary.iterdir()) == [home]
        driver.invoke_hook("session.end", {"sessionId": "a"})
        assert driver.call_tool("mg_pods", session_id="b").content.startswith("6 pods")
        driver.invoke_hook("session.end", {"sessionId": "b"})
        assert list(temporary.iterdir()) == []


def test_dispose_and_another_must_gather_remove_what_was_unpacked(
    cluster: Files, pack: Pack, write: Write, temporary: Path
) -> None:
    path = pack(cluster)
    with testing.drive(build()) as driver:
        driver.call_tool("mg_use", {"path": str(path)})
        driver.call_tool("mg_use", {"path": str(write(cluster))})
        assert list(temporary.iterdir()) == []
        driver.call_tool("mg_use", {"path": str(path)})
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_a_changed_archive_is_unpacked_again(cluster: Files, pack: Pack, temporary: Path) -> None:
    with testing.drive(build()) as driver:
        asked = {"path": str(pack(cluster))}
        assert driver.call_tool("mg_nodes", asked).content.startswith("3 nodes")
        one = {k: v for k, v in cluster.items() if "/nodes/worker" not in k}
        with tarfile.open(asked["path"], "w:gz") as made:
            for name in one:
                if name.endswith("cp-0.yaml"):
                    made.add(Path(asked["path"]).parent / "packed-mg.tar.gz" / name, name)
        assert driver.call_tool("mg_nodes", asked).content.startswith("1 node")
        assert len(list(temporary.iterdir())) == 1


def test_what_was_cleared_away_is_unpacked_again(
    cluster: Files, pack: Pack, temporary: Path
) -> None:
    asked = {"path": str(pack(cluster))}
    with testing.drive(build()) as driver:
        driver.call_tool("mg_use", asked)
        (home,) = temporary.iterdir()
        shutil.rmtree(home)
        said = driver.call_tool("mg_nodes").content
        assert "is gone; load the must-gather again with mg_use" in said
        assert driver.call_tool("mg_use", asked).content.startswith("Loaded mg.tar.gz")
        assert driver.call_tool("mg_nodes").content.startswith("3 nodes")
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"maxUnpackedBytes": 4096}, "unpacks to more than the 4096 bytes allowed"),
        ({"maxEntries": 5}, "has more than the 5 entries that are allowed"),
    ],
)
def test_an_archive_that_is_too_large_is_refused_and_nothing_is_left(
    cluster: Files, pack: Pack, temporary: Path, options: Files, said: str
) -> None:
    with testing.drive(build(), options) as driver:
        result = driver.call_tool("mg_use", {"path": str(pack(cluster))})
    assert result.is_error
    assert said in result.content
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x1f\x8bdamaged", "mg.tar.gz"),
        (b"text", "mg.tar.gz"),
        (None, "is no must-gather: no folder in it has"),
    ],
)
def test_an_archive_of_something_else_is_refused_and_nothing_is_left(
    pack: Pack, temporary: Path, content: bytes | None, said: str
) -> None:
    path = pack({"other/file": "x"})
    if content is not None:
        path.write_bytes(content)
    with testing.drive(build()) as driver:
        result = driver.call_tool("mg_use", {"path": str(path)})
    assert result.is_error
    assert said in result.content
    assert str(temporary) not in result.content
    assert list(temporary.iterdir()) == []


def test_unpacking_can_be_cancelled_and_leaves_nothing(
    cluster: Files, pack: Pack, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_REPORT", 0)
    with testing.drive(build()) as driver:
        driver.on_progress = lambda _: driver.cancel()
        result = driver.call_tool("mg_use", {"path": str(pack(cluster))})
        assert (result.is_error, result.content) == (True, "cancelled while unpacking mg.tar.gz")
        assert list(temporary.iterdir()) == []


def test_files_stay_while_a_call_reads_them(
    cluster: Files, pack: Pack, write: Write, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_REPORT", 0)
    archive, folder = {"path": str(pack(cluster))}, {"path": str(write(cluster))}
    plugin = build()
    use, certs = (plugin.tools[name].execute for name in ("mg_use", "mg_certs"))

    def let_go(_text: str) -> None:
        """The session turns to another must-gather, the only one that had this one."""
        use(folder, ToolContext("a"))
        assert list(temporary.iterdir()) == [home]

    with testing.drive(plugin):
        use(archive, ToolContext("a"))
        (home,) = temporary.iterdir()
        said = str(certs({}, ToolContext("a", progress=let_go)))
        assert said.startswith("4 certificates: 1 expired, 1 expiring within 30 days, 2 OK\n")
        assert list(temporary.iterdir()) == []


def test_a_session_that_ends_while_it_loads_leaves_nothing(
    cluster: Files, pack: Pack, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_REPORT", 0)
    sessions = Sessions(Options())
    context = ToolContext(progress=lambda _: sessions.forget("a"))
    with pytest.raises(MustGatherError, match="the session has ended before"):
        sessions.use("a", pack(cluster), pace.Pace(context, 60))
    assert sessions.current("a") is None
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_has_left_is_removed_by_the_next(
    cluster: Files, pack: Pack, temporary: Path
) -> None:
    path = pack(cluster)
    program = (
        "import os, signal\n"
        "from tinyhost_plugins.ocp_must_gather.plugin import build\n"
        "from tinyhost_sdk import testing\n"
        "with testing.drive(build()) as driver:\n"
        f"    driver.call_tool('mg_use', {{'path': {str(path)!r}}})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = os.environ | {"TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", program], env=env, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = temporary.iterdir()
    (temporary / "tinyhost-must-gather-no-lock").mkdir()
    (temporary / "tinyhost-must-gather-link").symlink_to(path.parent)
    with testing.drive(build()) as driver:
        driver.call_tool("mg_use", {"path": str(path)})
        names = {entry.name for entry in temporary.iterdir()}
        assert left.name not in names
        assert len(names) == 3
        # One that is in use stays.
        with testing.drive(build()) as other:
            other.call_tool("mg_use", {"path": str(path)})
            assert driver.call_tool("mg_nodes").content.startswith("3 nodes")
    assert path.exists()
