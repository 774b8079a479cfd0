"""From a plugin's settings to the limits and the sandbox that its process starts with."""

from __future__ import annotations

import os
from collections.abc import Mapping

import attrs

from . import paths
from .launch import wrap
from .launch_plan import Launch
from .model import Confinement, Limits, Resolved

_NICE = ("/usr/bin/nice", "/bin/nice")


def confine(
    name: str, found: Resolved, launch: Launch, base: str, environ: Mapping[str, str]
) -> Launch:
    """The launch with the limits and the sandbox that its settings ask for.

    Without either it stays as it is. found: the plugin; base: the folder that relative paths
    in its settings count from; environ: the host's variables. Raises LoadError, stage
    "spawn", where the sandbox cannot be had, and ConfigError for a variable that is missing.
    """
    settings = launch.settings
    if settings.sandbox is None and settings.limits == Limits():
        return launch
    launch = attrs.evolve(launch, command=_absolute(launch))
    confinement = None
    if settings.sandbox is not None:
        launch, confinement = _confined(name, found, launch, base, environ)
    wrapping = wrap(
        settings.limits, confinement, launch.directory, ceilings=_ceilings(), nice=_nice()
    )
    return attrs.evolve(launch, wrapping=wrapping, confinement=confinement)


def _confined(
    name: str, found: Resolved, launch: Launch, base: str, environ: Mapping[str, str]
) -> tuple[Launch, Confinement]:
    from .sandbox import Subject, confined_environment, plan

    assert launch.settings.sandbox is not None
    subject = Subject(
        name=name,
        program=launch.command[0],
        folder=found.folder or (found.path if os.path.isdir(found.path) else ""),  # noqa: PTH112
        directory=launch.directory,
        base=base,
        env=launch.env,
        environ=environ,
        protected=(str(paths.config_dir(environ)), str(paths.state_dir(environ))),
    )
    confinement = plan(launch.settings.sandbox, subject)
    return attrs.evolve(launch, env=confined_environment(launch.env, confinement)), confinement


def _absolute(launch: Launch) -> tuple[str, ...]:
    """The command with the path of its program, as it will be found when it is started."""
    program, *arguments = launch.command
    if "/" in program:
        program = os.path.join(launch.directory, program)  # noqa: PTH118
    else:
        import shutil

        program = shutil.which(program, path=launch.env.get("PATH", os.defpath)) or program
    return (program, *arguments)


def _ceilings() -> dict[str, int]:
    """The hard limits of this process, by the fields of Limits; none where it has none."""
    import resource

    numbers = {
        "memory": resource.RLIMIT_DATA,
        "cpu": resource.RLIMIT_CPU,
        "open_files": resource.RLIMIT_NOFILE,
        "processes": resource.RLIMIT_NPROC,
    }
    hard = {name: resource.getrlimit(number)[1] for name, number in numbers.items()}
    return {name: limit for name, limit in hard.items() if limit != resource.RLIM_INFINITY}


def _nice() -> str:
    return next((path for path in _NICE if os.path.exists(path)), "nice")  # noqa: PTH110
