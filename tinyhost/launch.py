"""What stands before a plugin's program on the command line: its limits and its sandbox.

Pure: settings in, words of a command out. A plugin with neither limits nor a sandbox has
nothing before it and is started directly.

Limits are set by a shell that then becomes the program. They hold before its first
instruction, nothing of the host's own process is changed, and no code runs between fork and
exec in a process that has threads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import attrs

from .model import Confinement, Limits
from .sizes import format_size

# The status of a shell that could not set a limit; programs seldom use it.
FAILED = 125
_CPU_GRACE = 5  # seconds between SIGXCPU and SIGKILL


@attrs.frozen(kw_only=True)
class Wrapping:
    """What is put around a program.

    prefix: the words before it. relayed: the process that the host sees is not the program
    but waits for it, and passes its exit status on. note: the limits in words, to follow how
    the plugin ended. meanings: of exit statuses, in words.
    """

    prefix: tuple[str, ...] = ()
    relayed: bool = False
    note: str = ""
    meanings: Mapping[int, str] = attrs.field(factory=dict)


BARE = Wrapping()


def wrap(
    limits: Limits,
    confinement: Confinement | None,
    directory: str,
    *,
    ceilings: Mapping[str, float],
    nice: str = "nice",
) -> Wrapping:
    """Say how to start a program with these limits, in this sandbox, in that directory.

    ceilings: by the fields of Limits, the host's own hard limits; nobody can go above them.
    nice: the path of the program of that name.
    """
    # Limits inside: so the number of processes counts those of the sandbox alone.
    prefix = (*_confiner(confinement, directory), *_limiter(limits, ceilings, nice))
    if not prefix:
        return BARE
    relayed = confinement is not None and confinement.engine == "bubblewrap"
    return Wrapping(prefix=prefix, relayed=relayed, note=describe(limits))


def _confiner(confinement: Confinement | None, directory: str) -> tuple[str, ...]:
    if confinement is None:
        return ()
    from . import sandbox  # seldom needed, and slow to import

    if confinement.engine == "bubblewrap":
        return sandbox.bubblewrap(confinement, directory)
    return sandbox.landlock(confinement)


def describe(limits: Limits) -> str:
    """The limits in words: "memory 512MiB, cpu 60 s", or nothing where there are none."""
    words = []
    if limits.memory:
        words.append(f"memory {format_size(limits.memory)}")
    if limits.cpu:
        words.append(f"cpu {limits.cpu:g} s")
    if limits.open_files:
        words.append(f"open files {limits.open_files}")
    if limits.processes:
        words.append(f"processes {limits.processes}")
    if limits.nice:
        words.append(f"nice {limits.nice}")
    return ", ".join(words)


def _limiter(limits: Limits, ceilings: Mapping[str, float], nice: str) -> tuple[str, ...]:
    steps = []
    if limits.processes:
        number = _below(limits.processes, ceilings, "processes")
        # -u in bash, zsh and ksh, -p in dash and busybox.
        steps.append(f"{{ ulimit -u {number} 2>/dev/null || ulimit -p {number}; }}")
    if limits.open_files:
        steps.append(f"ulimit -n {_below(limits.open_files, ceilings, 'open_files')}")
    if limits.memory:
        steps.append(f"ulimit -d {_below(limits.memory, ceilings, 'memory') // 1024}")
    if limits.cpu:
        seconds = _below(math.ceil(limits.cpu), ceilings, "cpu")
        # SIGXCPU says why; a program that outlives it is killed.
        hard = _below(seconds + _CPU_GRACE, ceilings, "cpu")
        steps.append(f"ulimit -S -t {seconds} && ulimit -H -t {hard}")
    if not steps and not limits.nice:
        return ()
    run = f'exec {nice} -n {limits.nice} "$@"' if limits.nice else 'exec "$@"'
    script = "; ".join([*(f"{step} || exit {FAILED}" for step in steps), run])
    return ("/bin/sh", "-c", script, "tinyhost-limits")


def _below(wanted: int, ceilings: Mapping[str, float], name: str) -> int:
    return int(min(wanted, ceilings.get(name, math.inf)))
