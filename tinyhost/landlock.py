"""Confine a program by Landlock: `python -I -S landlock.py OPTION... -- PROGRAM ARGUMENT...`

--read PATH and --write PATH may be repeated, as may --device PATH, which is --write for what
need not be there; --network leaves the network alone. The rules hold for the program and all
that it starts, and cannot be taken back. What cannot be set up ends the launcher with a text
on standard error: the program is never run unconfined.

Landlock knows files, TCP and signals. It does not know other sockets, and one of those in the
file system, of a session bus or a container engine, would run programs for the plugin outside of
all rules. So a filter of system calls (seccomp) refuses to make them.

Standard library only, Linux only.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

# Older ones cannot keep a program from cutting files off, or from TCP.
OLDEST_ABI = 3
OLDEST_NETWORK_ABI = 4
FAILED = 125

# The numbers are the same on every architecture but Alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NO_NEW_PRIVS = 38  # prctl
_PATH_BENEATH = 1
_CAPABILITY_VERSION = 0x20080522

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

# By machine: how the kernel calls it, and the number of the call socket().
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_X32 = 0x40000000  # a second set of numbers on x86_64
_IO_URING_SETUP = 425  # makes sockets as well
_SET_SECCOMP, _FILTER_MODE = 22, 2  # prctl
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_AF_UNIX, _AF_NETLINK = 1, 16
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # instructions of the filter
_ARCH, _NUMBER, _FIRST_ARGUMENT = 4, 0, 16  # offsets of what it looks at


class LandlockError(Exception):
    """The kernel refused a step; the text says which."""


def abi() -> int:
    """The version of Landlock that this kernel has; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return _syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def knows_machine() -> bool:
    """Whether the filter of system calls can be made for this processor."""
    return os.uname().machine in _MACHINES


def confine(read: Iterable[str], write: Iterable[str], *, network: bool) -> None:
    """Restrict this process, for good. Raises LandlockError or OSError."""
    version = abi()
    if version < OLDEST_ABI or (not network and version < OLDEST_NETWORK_ABI):
        raise LandlockError(f"this kernel's Landlock (version {version}) is too old")
    handled = _rights_of(version)
    ruleset = _create_ruleset(version, handled, network=network)
    try:
        for path in read:
            _allow(ruleset, path, _READ & handled)
        for path in write:
            _allow(ruleset, path, handled)
        _restrict_self(ruleset)
    finally:
        os.close(ruleset)
    _filter_calls(socket_filter(os.uname().machine, network=network))


def socket_filter(machine: str, *, network: bool) -> bytes:
    """The filter of system calls, as the kernel reads it. Raises LandlockError.

    Sockets of a family that may not be made are refused with EACCES; socketpair() is left
    alone. Calls by the numbers of another processor do not exist.
    """
    if machine not in _MACHINES:
        raise LandlockError(f"no filter of system calls is known for {machine}")
    architecture, socket = _MACHINES[machine]
    refuse, missing = (_RETURN, 0, 0, _ERRNO | errno.EACCES), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    allow = (_RETURN, 0, 0, _ALLOW)
    others = allow if network else refuse
    # A jump says how many instructions are passed over, when it holds and when not.
    steps = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 0, 3, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 1, 0, _X32),
        (_EQUAL, 0, 1, _IO_URING_SETUP),
        missing,
        (_EQUAL, 1, 0, socket),
        allow,
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _AF_UNIX),
        refuse,
        (_EQUAL, 0, 1, _AF_NETLINK),  # answers questions about the machine, reaches nobody
        allow,
        others,
    ]
    return b"".join(
        code.to_bytes(2, sys.byteorder) + bytes((yes, no)) + value.to_bytes(4, sys.byteorder)
        for code, yes, no, value in steps
    )


def _filter_calls(program: bytes) -> None:
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    filter = Program(len(program) // 8, program)
    if libc.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(filter), 0, 0) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise LandlockError(f"the filter of system calls (seccomp) was refused: {reason}")


def _rights_of(version: int) -> int:
    rights = _REFER - 1  # the thirteen of the first version
    rights |= _REFER | _TRUNCATE
    return rights | _IOCTL_DEV if version >= 5 else rights


def _create_ruleset(version: int, handled: int, *, network: bool) -> int:
    import ctypes

    fields = [handled]
    if version >= 4:
        fields.append(0 if network else _BIND_TCP | _CONNECT_TCP)
    if version >= 6:
        fields.append(_ABSTRACT_SOCKETS | _SIGNALS)
    attributes = (ctypes.c_uint64 * len(fields))(*fields)
    return _syscall(_CREATE_RULESET, attributes, ctypes.sizeof(attributes), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    import ctypes

    folder = os.path.isdir(path)  # noqa: PTH112
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights if folder else rights & _FOR_FILES
        packed = allowed.to_bytes(8, sys.byteorder) + fd.to_bytes(4, sys.byteorder)
        rule = ctypes.create_string_buffer(packed, len(packed))
        _syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    except OSError as error:
        raise LandlockError(f"{path}: {error.strerror}") from error
    finally:
        os.close(fd)


def _restrict_self(ruleset: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _syscall(_RESTRICT_SELF, ruleset, 0)
    # Root's capabilities would open what Landlock closes: the memory of others, for one.
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _syscall(number: int, *arguments: object) -> int:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    # Whole machine words: a plain int would be passed as 32 bits, with rubbish above them.
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)


def main(arguments: Sequence[str]) -> NoReturn:
    """Confine this process and become the program. See the module."""
    read: list[str] = []
    write: list[str] = []
    network = False
    words = iter(arguments)
    for word in words:
        if word == "--":
            break
        if word == "--network":
            network = True
        elif word == "--device":
            write += filter(os.path.exists, [next(words)])
        else:
            {"--read": read, "--write": write}[word].append(next(words))
    command, environment = list(words), _read_environment()
    _undo_start()
    try:
        confine(read, write, network=network)
    except (LandlockError, OSError) as error:
        _fail(f"the sandbox could not be set up by Landlock: {error}")
    _become(command, environment)


def _undo_start() -> None:
    # Python ignores two signals from its start on, which the program would inherit. Done
    # before the rules hold: what is imported after that may be out of reach.
    import signal

    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _become(command: list[str], environment: dict[bytes, bytes]) -> NoReturn:
    try:
        os.execve(command[0], command, environment)
    except OSError as error:
        _fail(f"{command[0]} could not be started in the sandbox: {error.strerror}")


def _read_environment() -> dict[bytes, bytes]:
    """The environment as it was handed to this process; Python's start may add LC_CTYPE."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        entries = file.read().split(b"\0")
    pairs = (entry.partition(b"=") for entry in entries if b"=" in entry)
    return {name: value for name, _, value in pairs}


def _fail(text: str) -> NoReturn:
    sys.stderr.write(f"tinyhost: {text}\n")
    sys.stderr.flush()
    os._exit(FAILED)


if __name__ == "__main__":
    main(sys.argv[1:])
