"""A person's systemd of its own, where a machine lets one be started.

It runs beside whatever manages the machine: in namespaces of its own for processes, mounts and
control groups, in a control group of its own, with no units but those that a test gives it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 60  # seconds, for what takes a moment
_TOOLS = ("systemctl", "unshare", "nsenter", "setpriv", "mount")
_TARGETS = ("basic", "shutdown", "exit")
_INIT = Path("/lib/systemd/systemd")

# A manager wants a machine that systemd has booted, and is not the first process itself.
_BEGIN = """\
echo $$ > "$1/cgroup.procs" && shift
exec setpriv --pdeathsig KILL unshare --mount --cgroup --pid --fork --kill-child --mount-proc sh -c '
    set -e
    mount -t tmpfs none /run
    mkdir -p /run/systemd/system
    mount -t tmpfs none /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
    "$@"
    exit
' sh "$@"
"""


class UserManager:
    """home: the person's. units: the folder of their units. runtime: XDG_RUNTIME_DIR."""

    def __init__(self, root: Path, groups: Path) -> None:
        """root: an empty folder. groups: where its control group is made."""
        self.home, self.runtime = root / "home", root / "run"
        self._log = root / "log"  # of the units, as there is no journal
        self.units = self.home / ".config" / "systemd" / "user"
        self.units.mkdir(parents=True)
        self.runtime.mkdir(mode=0o700)
        for name in _TARGETS:
            (self.units / f"{name}.target").write_text(f"[Unit]\nDescription={name}\n")
        for_all = self.units / "service.d"
        for_all.mkdir()
        output = f"[Service]\nStandardOutput=append:{self._log}\n"
        (for_all / "output.conf").write_text(output)
        self._group = groups / f"tinyhost-test-{os.getpid()}-{time.monotonic_ns()}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it. Skips the test where it does not run."""
        self._group.mkdir()
        init = [str(_INIT), "--user", "--log-target=null", "--unit=basic.target"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", _BEGIN, "sh", str(self._group), *init],
                env={
                    "HOME": str(self.home),
                    "XDG_RUNTIME_DIR": str(self.runtime),
                    "SYSTEMD_UNIT_PATH": str(self.units),
                    "PATH": os.environ["PATH"],
                },
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < deadline:
            if self("is-system-running", check=False).stdout.strip() in ("running", "degraded"):
                return
            time.sleep(0.05)
        pytest.skip(f"systemd does not run here: {self._log.read_text()[-500:]}")

    def __call__(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`systemctl --user`, as the person gives it."""
        assert self._process is not None
        done = subprocess.run(
            [*self._inside(), "systemctl", "--user", "--no-pager", *words],
            env={"XDG_RUNTIME_DIR": str(self.runtime), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr + self._log.read_text()
        return done

    def _inside(self) -> list[str]:
        """The manager turns away whoever it cannot see: the first process has its namespaces."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        first = children.read_text().split()
        return ["nsenter", "-t", first[0], "-m", "-p", "-C"] if first else ["false"]

    def signal(self, name: str, unit: str) -> None:
        """Send a signal to a unit's main process."""
        self("kill", "--kill-who=main", f"--signal={name}", unit)

    def show(self, unit: str, name: str) -> str:
        """A property of a unit."""
        return self("show", "--value", f"--property={name}", unit).stdout.strip()

    def until(self, unit: str, **wanted: str) -> None:
        """Return once properties of a unit have these values."""
        deadline = time.monotonic() + PATIENCE
        while (now := {name: self.show(unit, name) for name in wanted}) != wanted:
            assert time.monotonic() < deadline, f"{now}\n{self._log.read_text()}"
            time.sleep(0.05)

    def processes(self, unit: str) -> list[str]:
        """The command lines of a unit's processes."""
        pids: list[str] = []
        for file in self._group.rglob("cgroup.procs"):
            if unit in file.parts:
                pids += file.read_text().split()
        found = []
        for pid in pids:
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
                found.append(text.replace("\0", " ").strip())
        return found

    @property
    def said(self) -> str:
        """What its units have said so far."""
        return self._log.read_text(errors="replace")

    def end(self) -> None:
        """End it, and all that it has started."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        deadline = time.monotonic() + PATIENCE
        while self._group.is_dir():
            for folder in sorted(self._group.rglob("*"), reverse=True):
                if folder.is_dir():
                    with contextlib.suppress(OSError):
                        folder.rmdir()
            try:
                self._group.rmdir()
            except OSError:
                assert time.monotonic() < deadline, f"{self._group} is not empty"
                time.sleep(0.02)


@contextlib.contextmanager
def user_manager() -> Iterator[UserManager]:
    """One that runs. Skips the test on a machine that does not allow it."""
    groups = _groups()
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if not _INIT.exists() or missing:
        pytest.skip(f"not here: {', '.join(missing) or _INIT}")
    if groups is None or os.geteuid() != 0 or not os.access(groups, os.W_OK):
        pytest.skip("control groups cannot be made here")
    # Sockets have short addresses.
    with tempfile.TemporaryDirectory(prefix="tinyhost-") as root:
        manager = UserManager(Path(root), groups)
        try:
            manager.start()
            yield manager
        finally:
            manager.end()


def _groups() -> Path | None:
    """Where control groups of the second version are."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(place)
    return None
