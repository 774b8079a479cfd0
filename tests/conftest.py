"""What all tests share: a private configuration, plugins as scripts, and a check for leaks."""

from __future__ import annotations

import gc
import os
import signal
import stat
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

# Times are not asserted, and a busy machine is not a fault.
hypothesis.settings.register_profile("tinyhost", deadline=None)
hypothesis.settings.load_profile("tinyhost")

PEERS = Path(__file__).parent / "peers"

# What nohup and a shell's background jobs ignore would be ignored by all that the tests start.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of the garbage collector's work.

    There are so many that one full collection takes half a second, which the deadlines of a
    test would have to bear.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the person's home: nothing of theirs is read or changed."""
    home = tmp_path / "home"
    (home / "config" / "plugins").mkdir(parents=True)
    (home / "state").mkdir()
    for name in list(os.environ):
        if name.startswith(("TINYHOST_", "TINYCODE_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TINYHOST_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("TINYHOST_STATE_DIR", str(home / "state"))
    return home


def write_script(path: Path, text: str) -> Path:
    """Write an executable file."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def add_plugin(home: Path) -> Callable[[str, str], Path]:
    """add_plugin(name, body): put a plugin into the plugin folder.

    The body is Python that has the words of peers/rawplugin.py.
    """

    def add(name: str, body: str) -> Path:
        prelude = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(PEERS)!r})\n"
        text = prelude + "from rawplugin import *\n" + textwrap.dedent(body)
        return write_script(home / "config" / "plugins" / name, text)

    return add


def _children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found.update((task / "children").read_text().split())
        except OSError:
            continue
    return found


def _descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """No test leaves a child process or an open descriptor."""
    children, fds = _children(), _descriptors()
    yield
    assert _children() <= children, "a child process was left behind"
    assert _descriptors() <= fds, "a descriptor was left open"
