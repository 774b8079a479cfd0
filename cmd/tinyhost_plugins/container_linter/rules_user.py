"""Rules about the user that a container runs as."""

from __future__ import annotations

from collections.abc import Iterator

from .containerfile import SCRATCH, Containerfile, Stage, Step
from .findings import ERROR, INFO, WARNING, Finding, shown
from .images import bootc_reason
from .options import Options

ROOT, MISSING = "root-user", "missing-user-directive"


def check(file: Containerfile, _options: Options) -> Iterator[Finding]:
    shipped = file.shipped()
    for stage in file.stages:
        # A machine that boots is set up as root, and bootc takes no notice of USER.
        if bootc_reason(stage):
            continue
        yield from _own(stage, shipped, final=stage is file.final)
        if stage is file.final and _last_user(stage) is None:
            yield _missing(stage)


def is_root(user: str) -> bool:
    """Whether USER with this text means root: by name or number, with or without a group. An
    empty one does, too.
    """
    name = user.partition(":")[0].strip()
    return name == "root" or not name.strip("0")


def _last_user(stage: Stage) -> Step | None:
    """The USER that holds at the end of a stage, which may be that of one it continues."""
    for one in stage.lineage():
        users = list(one.own("USER"))
        if users:
            return users[-1]
    return None


def _own(stage: Stage, shipped: set[int], *, final: bool) -> Iterator[Finding]:
    # The final stage answers for what it takes over; others for what they say themselves.
    last = _last_user(stage) if final else next(reversed(list(stage.own("USER"))), None)
    if last is None or (not final and stage.index in shipped):
        return
    user = last.words[0]
    if user.unknown:
        names = ", ".join(shown(name, 40) for name in user.unknown)
        yield Finding(
            INFO,
            last.line,
            ROOT,
            f'USER "{shown(user.text)}" cannot be judged: {names} has no value in the file',
            "Give the ARG a default that is not root, such as 1001",
        )
    elif is_root(user.text) and final:
        yield Finding(
            ERROR,
            last.line,
            ROOT,
            f'the container runs as root: nothing follows USER "{shown(user.text)}"',
            "Add USER 1001 after the work that needs root",
        )
    elif is_root(user.text):
        yield Finding(
            INFO,
            last.line,
            ROOT,
            f"{stage.label} ends as root, which matters only where it is built as a target",
            "Add USER 1001 at its end if it is ever run",
        )


def _missing(stage: Stage) -> Finding:
    root = list(stage.lineage())[-1]
    why = "so the base image decides, and that is often root"
    if root.base.text == SCRATCH:
        why = "so the container runs as root"
    return Finding(
        WARNING,
        stage.line,
        MISSING,
        f"the final stage sets no USER, {why}",
        "Add USER 1001 at the end",
    )
