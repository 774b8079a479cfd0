"""Confining a plugin: which engine can do it here, what it may reach, and the engine's words.

bubblewrap gives the plugin a view of the file system with nothing in it but what it may
reach, processes of its own, and no network. Landlock is a second best, for where bubblewrap
is not installed or may not make namespaces. Where neither can do what is asked, the plugin
is not started.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

import attrs

from . import landlock as landlock_module
from .environment import expand
from .errors import LoadError
from .model import Confinement, Sandbox
from .ownership import program_problem
from .program_files import needed_by

ENGINES = ("auto", "bubblewrap", "landlock")
_PROBE_TIMEOUT = 5.0  # seconds
_DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
_ITS_OWN = ("/proc", "/dev")

_Choice = tuple[str, str]


@attrs.frozen(kw_only=True)
class Subject:
    """The plugin that is to be confined.

    program: its file. folder: its own, "" for none. directory: where it runs. base: where
    relative paths count from. env: what it will get, environ: the host's. protected: folders
    that it must not be able to write, whatever its settings say: tinyhost's own.
    """

    name: str
    program: str
    folder: str = ""
    directory: str
    base: str
    env: Mapping[str, str]
    environ: Mapping[str, str]
    protected: Sequence[str] = ()


def plan(
    sandbox: Sandbox,
    subject: Subject,
    *,
    landlock_abi: Callable[[], int] = landlock_module.abi,
) -> Confinement:
    """Work out a sandbox that can be had here and now.

    Raises LoadError, stage "spawn", when there is none or a path does not exist, ConfigError
    for a reference to a variable that is not set.
    """
    try:
        read = _resolve(sandbox.read, subject, "read")
        write = _resolve(sandbox.write, subject, "write")
        real_write = [os.path.realpath(path) for path in write]
        _refuse_own_folders(real_write, subject.protected)
        nested = [path for path in read if _within(path, real_write, strictly=True)]
        engine, program = _choose(sandbox, subject.environ, landlock_abi, nested)
    except ValueError as error:
        raise LoadError(subject.name, "spawn", str(error), command=(subject.program,)) from None
    system = needed_by(subject.program, subject.env, subject.folder)
    # /bin -> usr/bin, as most systems have it.
    linked = [path for path in system if path.count("/") == 1 and os.path.islink(path)]  # noqa: PTH114
    names = dict.fromkeys((*linked, subject.directory, *read, *write))
    return Confinement(
        engine=engine,
        program=program,
        system=[
            *(path for path in system if path not in linked and not _is_below(path, linked)),
            *map(os.path.realpath, linked),
        ],
        read=tuple(dict.fromkeys(map(os.path.realpath, read))),
        write=tuple(dict.fromkeys(real_write)),
        links={path: real for path in names if (real := os.path.realpath(path)) != path},
        network=sandbox.network,
        gaps=_gaps(engine),
    )


def confined_environment(env: Mapping[str, str], confinement: Confinement) -> dict[str, str]:
    """The plugin's variables, without a TMPDIR that leads to where it may not write."""
    keep = dict(env)
    if confinement.engine == "bubblewrap" and not _within(
        keep.get("TMPDIR", "/"), confinement.write
    ):
        keep.pop("TMPDIR", None)
    return keep


# --- paths


def _resolve(written: Sequence[str], subject: Subject, key: str) -> list[str]:
    """Absolute paths, links kept; what expands to nothing is left out."""
    found = []
    for text in written:
        if not (expanded := expand(text, subject.environ, f"sandbox.{key}")):
            continue
        path = os.path.normpath(os.path.join(subject.base, _home(expanded, subject)))  # noqa: PTH118
        if path in _ITS_OWN or path.startswith("/proc/"):
            raise ValueError(f"sandbox.{key} has {path}, but a sandbox has one of its own")
        if not os.path.exists(path):  # noqa: PTH110
            raise ValueError(f"sandbox.{key} has {path}, which does not exist; create it first")
        found.append(path)
    return found


def _home(path: str, subject: Subject) -> str:
    home = subject.environ.get("HOME", "")
    return home + path[1:] if home and (path == "~" or path.startswith("~/")) else path


def _refuse_own_folders(write: Sequence[str], protected: Sequence[str]) -> None:
    # Making them read-only inside a writable folder is not enough: that one could be renamed.
    for folder in map(os.path.realpath, protected):
        for path in write:
            if _within(folder, [path]) or _within(path, [folder]):
                raise ValueError(
                    f"sandbox.write has {path}, and tinyhost's own folder {folder} is there;"
                    " a plugin that can write in it can let itself out: name narrower folders"
                )


def _within(path: str, folders: Sequence[str], *, strictly: bool = False) -> bool:
    """Whether a path is in one of the folders, all links resolved."""
    real = os.path.realpath(path)
    if real in folders:
        return not strictly
    return any(real.startswith(folder.rstrip("/") + "/") for folder in folders)


# --- engines


def _choose(
    sandbox: Sandbox,
    environ: Mapping[str, str],
    landlock_abi: Callable[[], int],
    nested: Sequence[str],
) -> _Choice:
    """The engine and its program. Raises ValueError saying why there is none."""
    problems = []
    if sandbox.engine in ("auto", "bubblewrap"):
        program, problem = find_bubblewrap(environ)
        if program:
            return "bubblewrap", program
        problems.append(problem)
    if sandbox.engine in ("auto", "landlock"):
        problem = landlock_problem(landlock_abi(), network=sandbox.network, nested=nested)
        if not problem:
            return "landlock", sys.executable
        problems.append(problem)
    raise ValueError(
        "its settings ask for a sandbox, which cannot be had here: "
        + "; ".join(problems)
        + '. It was not started. To run it unconfined, set "sandbox": false'
    )


def find_bubblewrap(environ: Mapping[str, str]) -> tuple[str, str]:
    """The path of a bwrap that works here, and "", or "" and why there is none."""
    program = shutil.which("bwrap", path=environ.get("PATH", os.defpath))
    if program is None:
        return "", "bubblewrap (the program bwrap) is not installed"
    program = os.path.abspath(program)  # noqa: PTH100
    if problem := program_problem(program):
        return "", f"{program} {problem}"
    try:
        problem = _try_bubblewrap(program)
    except subprocess.TimeoutExpired as error:
        problem = f"{program} does not work: {error}"
    return ("", problem) if problem else (program, "")


@functools.cache
def _try_bubblewrap(program: str) -> str:
    """Why a bwrap cannot make a sandbox on this machine, or "". Takes some milliseconds.

    Raises TimeoutExpired, which is not remembered: the machine may have stood still.
    """
    everything = Confinement(engine="bubblewrap", program=program, system=("/",))
    command = [*bubblewrap(everything, "/"), "/bin/sh", "-c", "exit 42"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_PROBE_TIMEOUT,
            check=False,
        )
    except OSError as error:
        return f"{program} does not work: {error}"
    if done.returncode == 42:
        return ""
    said = done.stderr.decode(errors="replace").strip() or f"status {done.returncode}"
    return f"{program} may not make a sandbox on this machine ({said})"


def landlock_problem(version: int, *, network: bool, nested: Sequence[str] = ()) -> str:
    """Why Landlock cannot confine a plugin, or "". nested: read-only paths in writable ones."""
    if version == 0:
        return "this kernel has no Landlock, or it is switched off"
    if not landlock_module.knows_machine():
        return "confining by Landlock is not known for this processor"
    if version < landlock_module.OLDEST_ABI:
        return f"this kernel's Landlock (version {version}) cannot keep files from being cut off"
    if not network and version < landlock_module.OLDEST_NETWORK_ABI:
        return f"this kernel's Landlock (version {version}) cannot take the network away"
    if nested:
        return f"Landlock cannot make {nested[0]} read-only inside a folder that can be written"
    return ""


def _gaps(engine: str) -> tuple[str, ...]:
    if engine == "bubblewrap":
        return ()
    return ("it has no /tmp of its own", "it sees the names of other processes")


# --- their command lines


def bubblewrap(confinement: Confinement, directory: str) -> tuple[str, ...]:
    """The words before a program that bubblewrap confines.

    Its first process stays in the group that the host kills, and the kernel ends all others
    of the sandbox with it. --die-with-parent is not used: it is bound to the thread that
    starts bwrap.
    """
    words = [confinement.program, "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words.append("--unshare-cgroup-try")
    if not confinement.network:
        words.append("--unshare-net")
    words += ["--cap-drop", "ALL"]
    rules = _rules(confinement)
    if root := rules.pop("/", None):
        words += [root, "/", "/"]
    if "/tmp" not in rules:
        words += ["--tmpfs", "/tmp"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    # Folders before what is in them, so that the narrower rule counts.
    for path in sorted(rules, key=lambda path: (path.count("/"), path)):
        words += _mount(rules[path], path)
    words += _links(confinement.links, [*rules, *(["/"] if root else [])])
    words += ["--dir", directory]
    if not root:
        words += ["--remount-ro", "/"]
    return (*words, "--chdir", directory, "--")


def _rules(confinement: Confinement) -> dict[str, str]:
    """How each path is mounted. A system path inside another one needs no mount of its own."""
    rules = dict.fromkeys(confinement.read, "--ro-bind")
    rules |= dict.fromkeys(confinement.write, "--bind")
    needed = [path for path in confinement.system if path not in rules]
    for path in needed:
        if not _is_below(path, [*confinement.read, *confinement.write, *needed]):
            rules[path] = "--ro-bind"
    return rules


def _mount(kind: str, path: str) -> list[str]:
    return ["--dev-bind" if path.startswith("/dev/") else kind, path, path]


def _links(links: Mapping[str, str], there: Sequence[str]) -> list[str]:
    """Links to what is there, by the names that the settings have, where these are missing."""
    words: list[str] = []
    for name, target in links.items():
        seen = target in there or _is_below(target, there)
        if seen and not _is_below(name, [*there, *words[2::3]]):
            words += ["--symlink", target, name]
    return words


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path != folder and path.startswith(folder.rstrip("/") + "/") for folder in folders)


def landlock(confinement: Confinement) -> tuple[str, ...]:
    """The words before a program that Landlock confines."""
    words = [confinement.program, "-I", "-S", landlock_module.__file__]
    for path in (*confinement.system, *confinement.read, "/proc"):
        words += ["--read", path]
    for path in confinement.write:
        words += ["--write", path]
    for name in _DEVICES:
        words += ["--device", f"/dev/{name}"]
    if confinement.network:
        words.append("--network")
    return (*words, "--")
