"""Where a running host is found: the socket of each configuration, and the project's part in it.

A host runs with the person's configuration and, where it was started in a project that brings
one, with that, too. A command finds the host that has the very configuration it would itself
read; in a project that tightens things it never meets a host that does not know of it.

Standard library only, and light: commands that attach to a host start with this.
"""

from __future__ import annotations

import os
import sys
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROJECT_FILE = ".tinyhost/config.json"

_SOCKET_MAX = 100  # bytes; the kernel takes 107


def find_root(directory: str, home: str) -> str | None:
    """The nearest folder upwards that brings a configuration, with links resolved.

    The search ends at a folder with .git, which is looked at, and at the home directory and
    the end of the file system, which are not.
    """
    here, home = os.path.realpath(directory), os.path.realpath(home)
    device: int | None = None
    while True:
        found = device
        try:
            found = os.stat(here).st_dev  # noqa: PTH116
        except OSError:
            pass  # a folder that is not there has no project, but may be in one
        if here == home or device not in (None, found):
            return None
        if os.path.lexists(f"{here.rstrip('/')}/{PROJECT_FILE}"):
            return here
        parent = os.path.dirname(here)  # noqa: PTH120
        if parent == here or os.path.lexists(f"{here}/.git"):
            return None
        here, device = parent, found


def home_of(environ: Mapping[str, str]) -> str:
    """The person's home directory: HOME, else the one that the system has for them."""
    home = environ.get("HOME", "")
    if home.startswith("/"):
        return home
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/nonexistent"  # the customary home of users that have none


def plain_config_file(environ: Mapping[str, str], given: str | None = None) -> str | None:
    """The configuration file as load_config finds it, or None where only that knows.

    given: the file that --config names.
    """
    named = given or environ.get("TINYHOST_CONFIG")
    if named:
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111
    folder = environ.get("TINYHOST_CONFIG_DIR")
    if folder:
        return f"{os.path.abspath(os.path.expanduser(folder))}/config.json"  # noqa: PTH100, PTH111
    if sys.platform == "darwin":
        return None
    base = environ.get("XDG_CONFIG_HOME", "")
    if not base.startswith("/"):
        base = f"{home_of(environ)}/.config"
    return f"{os.path.normpath(base)}/tinyhost/config.json"


def runtime_dir(environ: Mapping[str, str]) -> str | None:
    """TINYHOST_RUNTIME_DIR, else the XDG runtime folder's, else one in the state folder.

    None where the state folder is not in a plain place.
    """
    own = environ.get("TINYHOST_RUNTIME_DIR")
    if own:
        return os.path.abspath(os.path.expanduser(own))  # noqa: PTH100, PTH111
    state = environ.get("TINYHOST_STATE_DIR")
    if state:
        # Whoever keeps the state somewhere else wants everything there.
        return f"{os.path.abspath(os.path.expanduser(state))}/run"  # noqa: PTH100, PTH111
    xdg = environ.get("XDG_RUNTIME_DIR", "")
    if xdg.startswith("/"):
        return f"{os.path.normpath(xdg)}/tinyhost"
    if sys.platform == "darwin":
        return f"{home_of(environ)}/.tinyhost-run"
    base = environ.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        base = f"{home_of(environ)}/.local/state"
    return f"{os.path.normpath(base)}/tinyhost/run"


def key_of(config_file: str, project_root: str | None) -> str:
    """A short name for a configuration; the host says which one it really has."""
    text = f"{os.path.realpath(config_file)}\0{project_root or ''}"
    data = text.encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}"


def socket_path(config_file: str, project_root: str | None, environ: Mapping[str, str]) -> str:
    """The control socket of the host with that configuration."""
    return f"{runtime_dir(environ)}/{key_of(config_file, project_root)}.sock"


class Address:
    """`with Address(path) as address`: what to bind or connect a socket to for that path.

    A socket's address is short; a longer path is given by way of its folder's descriptor,
    where the system has that. Raises OSError for a folder that cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._folder = -1

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= _SOCKET_MAX:
            return self._path
        if not os.path.isdir("/proc/self/fd"):  # noqa: PTH112
            raise OSError(
                f"{self._path} is too long for a socket; set TINYHOST_RUNTIME_DIR to a shorter folder"
            )
        folder, name = os.path.split(self._path)
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._folder}/{name}"

    def __exit__(self, *_: object) -> None:
        if self._folder >= 0:
            os.close(self._folder)


def peer_of(connected: Any) -> tuple[int, int]:
    """The process at the other end of a unix socket and its user: pid (0 where the system does
    not tell), and uid (-1). Of a listener, whoever began to listen.

    For a command: the folder and the file have been looked at before, and may have been
    changed since.
    """
    import socket

    if (option := getattr(socket, "SO_PEERCRED", None)) is not None:
        told = connected.getsockopt(socket.SOL_SOCKET, option, 12)  # pid, uid, gid
        return _number(told[:4]), _number(told[4:8])
    if (option := getattr(socket, "LOCAL_PEERCRED", None)) is not None:  # macOS and the BSDs
        told = connected.getsockopt(0, option, 8)  # version, uid
        return 0, _number(told[4:8])
    return 0, -1


def _number(data: bytes) -> int:
    return int.from_bytes(data, sys.byteorder)


def pid_in(lock: str) -> int:
    """The process that a host's lock file names; 0 where there is none."""
    try:
        with open(lock, "rb") as file:  # noqa: PTH123
            line = file.readline(20).strip()
    except OSError:
        return 0
    return int(line) if line.isdigit() else 0


def find_socket(
    directory: str, environ: Mapping[str, str], config_file: str | None = None
) -> str | None:
    """The socket of the host that a command there would attach to, if there is one.

    A host has a say in what a command runs, so somebody else's is no host.
    config_file: the file that --config names.
    """
    file = plain_config_file(environ, config_file)
    if file is None:
        return None
    path = socket_path(file, find_root(directory, home_of(environ)), environ)
    try:
        return path if os.stat(path).st_uid == os.geteuid() else None  # noqa: PTH116
    except OSError:
        return None
