"""A real sshd for tests, on loopback, with keys, a port and a configuration of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 15.0  # seconds
_SEPARATION = Path("/run/sshd")  # an empty folder that root's sshd insists on


class Box:
    """The far side: where it is reached, and what is in it.

    root: for keys and the like. home: that of its sessions, with blanks and quotes in its path.
    launch: the words of a launcher that leads there.
    """

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.port = root, port
        self.home = root / 'it\'s a "box"'
        self.home.mkdir()
        (root / "home").symlink_to(self.home)  # what sshd's configuration can spell
        self.launch = self.words("StrictHostKeyChecking=yes")

    def words(self, *options: str, port: int | None = None) -> list[str]:
        """The launcher with other options, or to another port."""
        own = [
            f"IdentityFile={self.root / 'user-key'}",
            f"UserKnownHostsFile={self.root / 'known-hosts'}",
            "GlobalKnownHostsFile=none",
            "IdentitiesOnly=yes",
            "BatchMode=yes",
            "ControlPath=none",
            "ConnectTimeout=5",
        ]
        pairs = [word for option in (*options, *own) for word in ("-o", option)]
        return ["ssh", "-F", "none", *pairs, "-p", str(port or self.port), "127.0.0.1"]


def free_port() -> int:
    """A port of loopback where nobody listens just now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def running_sshd(root: Path) -> Iterator[Box]:
    """Run sshd until the block ends, with all that is its own in a folder."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    assert program, "these tests need OpenSSH; install it with: apt-get install -y openssh-server"
    box = Box(root, free_port())
    _write_keys(box)
    config = _write_config(box)
    log = root / "sshd.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*_separated(), program, "-D", "-e", "-f", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )
    try:
        _wait_for(process, log)
        yield box
    finally:
        process.terminate()
        process.wait()


def _write_keys(box: Box) -> None:
    for name in ("host-key", "user-key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(box.root / name)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    public = (box.root / "host-key.pub").read_text()
    (box.root / "known-hosts").write_text(f"[127.0.0.1]:{box.port} {public}")
    shutil.copy(box.root / "user-key.pub", box.root / "authorized-keys")


def _write_config(box: Box) -> Path:
    path = box.root / "sshd-config"
    path.write_text(
        f"""\
ListenAddress 127.0.0.1:{box.port}
HostKey "{box.root / "host-key"}"
PidFile none
AuthorizedKeysFile "{box.root / "authorized-keys"}"
AllowUsers {getpass.getuser()}
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitUserRC no
UseDNS no
MaxStartups 100
AcceptEnv CARRIED
SetEnv HOME={box.root}/home PATH={box.root}/home:/usr/local/bin:/usr/bin:/bin
"""
    )
    return path


def _separated() -> list[str]:
    """Words before sshd that give it its folder, in a view of the file system of its own."""
    if os.geteuid() or _SEPARATION.exists():
        return []
    folder = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd"
    return ["unshare", "--mount", "sh", "-c", f'{folder} && exec "$@"', "sshd"]


def _wait_for(process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while b"Server listening" not in log.read_bytes():
        said = log.read_text()
        assert process.poll() is None, f"sshd did not start: {said}"
        assert time.monotonic() < end, f"sshd does not listen: {said}"
        time.sleep(0.02)
