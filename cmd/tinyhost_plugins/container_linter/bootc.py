"""Whether a Containerfile makes an image for bootc, a machine that boots from a container."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from .._shared.texts import counted
from .containerfile import Containerfile, Stage, Step, read
from .findings import masked, shown
from .images import bootc_reason

PASS, FAIL, WARN, INFO = "PASS", "FAIL", "WARN", "INFO"
_BUILDER_LABEL = "bootc.diskimage-builder"
_UNIT_FOLDERS = (
    *("/etc/systemd/", "/usr/lib/systemd/", "/usr/local/lib/systemd/", "/etc/containers/systemd"),
    "/usr/share/containers/systemd",
)
# Where whole trees are laid over the image: COPY rootfs /
_TREES = ("", "/etc", "/usr", "/usr/lib", "/usr/local")
_UNIT_FILE = re.compile(r"\.(?:service|socket|timer|mount|target|path|container)$")
_ENABLES = re.compile(r"\bsystemctl\s+(?:-\S+\s+)*(?:enable|preset)\b")
_STARTS = re.compile(
    r"\bsystemctl\s+(?:-\S+\s+)*(?:start|restart|reload|daemon-reload)\b|\benable\s+--now\b"
)
_SEPARATOR = re.compile(r"[\n;&|]")
_LINTS = re.compile(r"\bbootc\s+container\s+lint\b")
_IGNORED = ("ENTRYPOINT", "CMD", "ENV", "EXPOSE", "USER", "HEALTHCHECK", "VOLUME")
_INIT = ("/sbin/init", "/usr/sbin/init", "/usr/lib/systemd/systemd")


class Check(NamedTuple):
    """result: PASS, FAIL (it is no image for bootc), WARN (it is, with a flaw) or INFO."""

    result: str
    name: str
    detail: str


def validate(text: str) -> str:
    """The checks as text, the verdict first. Raises TooManyStagesError."""
    checks = list(_checks(read(text)))
    failed = sum(check.result == FAIL for check in checks)
    warned = sum(check.result == WARN for check in checks)
    if failed:
        verdict = f"FAIL: this does not make a bootc image ({counted(failed, 'check')} failed)"
    else:
        verdict = "PASS: this makes a bootc image"
        verdict += f", with {counted(warned, 'warning')}" if warned else ""
    lines = (f"[{one.result}] {one.name}: {masked(one.detail)}" for one in checks)
    return "\n".join((verdict, "", *lines))


def _checks(file: Containerfile) -> Iterator[Check]:
    final = file.final
    yield from _syntax(file)
    yield _base(final)
    if final is None:
        return
    steps = [step for stage in reversed(list(final.lineage())) for step in stage.steps]
    yield _label(steps)
    yield _units(steps)
    yield _linted(steps)
    yield from _ignored(steps)
    yield from _running(steps)
    yield from _places(steps)


def _syntax(file: Containerfile) -> Iterator[Check]:
    fatal = [problem for problem in file.problems if problem.fatal]
    if fatal:
        first = fatal[0]
        more = f"; {len(fatal) - 1} more, see container_lint" if len(fatal) > 1 else ""
        yield Check(FAIL, "syntax", f"line {first.line}: {shown(first.text, 200)}{more}")


def _base(final: Stage | None) -> Check:
    name = "bootc base image"
    if final is None:
        return Check(FAIL, name, "there is no FROM instruction")
    root = list(final.lineage())[-1]
    image = f'"{shown(root.base.text)}"'
    reason = bootc_reason(final)
    if reason:
        return Check(PASS, name, f"{image} {reason}")
    if not root.has_known_name:
        return Check(FAIL, name, f"{image} has no value in the file; give the ARG a default")
    return Check(
        FAIL,
        name,
        f"{image} is not known as one; begin with registry.redhat.io/rhel9/rhel-bootc,"
        " quay.io/centos-bootc/centos-bootc or quay.io/fedora/fedora-bootc, or declare a base of"
        " your own with LABEL containers.bootc=1",
    )


def _label(steps: list[Step]) -> Check:
    name = f"{_BUILDER_LABEL} label"
    for step in steps:
        if any(label.name.text == _BUILDER_LABEL for label in step.settings):
            return Check(PASS, name, f"set on line {step.line}")
    return Check(INFO, name, "not set, and bootc does not ask for it")


def _units(steps: list[Step]) -> Check:
    name = "systemd unit files"
    for step in steps:
        if step.name in ("COPY", "ADD") and _is_unit_folder(step):
            where = shown(step.words[-1].text)
            return Check(PASS, name, f"{step.name} on line {step.line} puts them into {where}")
        if step.name == "RUN" and _ENABLES.search(_script(step)):
            return Check(PASS, name, f"RUN on line {step.line} enables a service of a package")
    for step in steps:
        if step.name in ("COPY", "ADD") and step.words[-1].text.rstrip("/") in _TREES:
            return Check(INFO, name, f"they may be in what {step.name} on line {step.line} copies")
    return Check(INFO, name, "none are copied or enabled; only what the base image starts will run")


def _is_unit_folder(step: Step) -> bool:
    target = step.words[-1].text
    if target.startswith(_UNIT_FOLDERS):
        return True
    return any(_UNIT_FILE.search(word.text) for word in step.words[:-1])


def _linted(steps: list[Step]) -> Check:
    name = "bootc container lint"
    runs = [step for step in steps if step.name == "RUN"]
    found = [step for step in runs if _LINTS.search(_script(step))]
    if not found:
        return Check(WARN, name, "not run; end with RUN bootc container lint")
    last = found[-1]
    if runs[-1] is not last:
        return Check(
            WARN, name, f"run on line {last.line}, but RUN on line {runs[-1].line} follows"
        )
    return Check(PASS, name, f"run on line {last.line}")


def _ignored(steps: list[Step]) -> Iterator[Check]:
    seen: dict[str, int] = {}
    for step in steps:
        if step.name in _IGNORED and not _is_init(step):
            seen.setdefault(step.name, step.line)
    if seen:
        what = ", ".join(f"{name} (line {line})" for name, line in seen.items())
        yield Check(
            WARN,
            "container settings",
            f"ignored at boot: {what}; configure systemd units, the firewall and users instead",
        )


def _is_init(step: Step) -> bool:
    """Whether it is the CMD that base images have, for those who run them as containers."""
    if step.name != "CMD":
        return False
    exec_form = step.instruction.exec_form
    words = [word.text for word in step.words] if exec_form else step.instruction.text.split()
    return words[:1] != [] and words[0] in _INIT


def _running(steps: list[Step]) -> Iterator[Check]:
    for step in steps:
        if step.name == "RUN" and _STARTS.search(_script(step)):
            yield Check(
                WARN,
                "services in the build",
                f"RUN on line {step.line} starts or reloads one, but systemd does not run in a"
                " build; use systemctl enable",
            )
            return


def _places(steps: list[Step]) -> Iterator[Check]:
    seen: set[str] = set()
    folder = "/"
    for at, step in enumerate(steps):
        if step.name == "WORKDIR":
            folder = posixpath.join(folder, step.words[0].text)
        if step.name not in ("COPY", "ADD"):
            continue
        target = posixpath.normpath(posixpath.join(folder, step.words[-1].text))
        top = "/" + target.strip("/").partition("/")[0]
        if top in _PLACES and top not in seen:
            seen.add(top)
            if _is_removed(top, steps[at + 1 :]):
                continue
            detail = f"{step.name} on line {step.line} writes to {top}, {_PLACES[top]}"
            yield Check(WARN, f"content of {top}", detail)


def _is_removed(top: str, later: list[Step]) -> bool:
    """Whether a RUN clears the folder again, as after installing a package from /tmp."""
    return any(step.name == "RUN" and _removes(top, _script(step)) for step in later)


def _removes(top: str, script: str) -> bool:
    for command in _SEPARATOR.split(script):
        words = command.split()
        if "rm" in words and any(word == top or word.startswith(f"{top}/") for word in words):
            return True
    return False


_PLACES = {
    "/var": "which is filled at installation only; updates do not change it",
    "/boot": "which bootc fills itself; kernels belong into /usr/lib/modules",
    "/run": "which is empty after each boot",
    "/tmp": "which is empty after each boot",  # noqa: S108 - a folder of the image
}


def _script(step: Step) -> str:
    bodies = "\n".join(heredoc.text for heredoc in step.instruction.heredocs)
    return f"{step.instruction.text}\n{bodies}"
