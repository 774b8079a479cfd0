"""The pods of an archive: those that were not well or had restarted when it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._shared.conditions import condition
from .._shared.texts import line
from .loading import Loaded
from .objects import conditions, get, integer, name_of, objects, text
from .quantities import in_bytes

_GROUPS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))
_WAITS = ("PodInitializing", "ContainerCreating")
# What a pod goes through, by its conditions.
_STEPS = ("PodScheduled", "Initialized", "ContainersReady")
# What a process ends with that SIGKILL has ended.
_KILLED = 137


@dataclass(frozen=True, slots=True)
class Container:
    """request, limit: memory in bytes, None when not set. ends: (when, reason, exit code) of the
    container that ran before ("last") and of this one ("now"), as far as they have ended.
    """

    pod: str
    name: str
    request: int | None
    limit: int | None
    restarts: int
    waiting: str
    waiting_text: str
    ends: tuple[tuple[str, str, int], ...]

    @property
    def oom_killed(self) -> bool:
        return any(reason == "OOMKilled" for _when, reason, _code in self.ends)

    @property
    def killed(self) -> bool:
        """Ended by SIGKILL, which may have been for memory, too."""
        return not self.oom_killed and any(code == _KILLED for _when, _reason, code in self.ends)


@dataclass(frozen=True, slots=True)
class Pod:
    """name: with its namespace, "ns/pod". trouble: what is wrong in a few words, or ""."""

    name: str
    phase: str
    trouble: str
    containers: tuple[Container, ...]


def read_pods(loaded: Loaded) -> list[Pod]:
    """The pods, by name."""
    found: dict[str, Pod] = {}
    bare: dict[str, dict[str, Container]] = {}
    for raw in _raw_pods(loaded):
        if get(raw, "spec"):
            pod = _pod(raw)
            found.setdefault(pod.name, pod)
        else:
            # Two containers of a pod come one by one.
            one = _bare(raw)
            bare.setdefault(one.pod, {}).setdefault(one.name, one)
    for name, containers in bare.items():
        found.setdefault(name, Pod(name, "", "", tuple(containers.values())))
    return [found[name] for name in sorted(found)]


def _raw_pods(loaded: Loaded) -> Iterator[dict[str, Any]]:
    """config/pod/<ns>/<pod>.json, conditional/namespaces/<ns>/pods/<pod>/<pod>.json, and lists."""
    for raw in loaded.objects("config/pod/"):
        # Beside pods a list may hold containers on their own, which have no spec.
        inside = objects(raw, "containers") if not get(raw, "spec") else []
        yield from loaded.paced(inside or [raw])
    for folder in ("config/pod/", "conditional/namespaces/"):
        for name in loaded.below(folder, ".json"):
            found = loaded.json(name) if name.count("/") > 2 else None
            if isinstance(found, dict) and isinstance(get(found, "spec", "containers"), list):
                yield found


def _pod(raw: dict[str, Any]) -> Pod:
    name = f"{_namespace(raw)}/{name_of(raw) or '?'}"
    containers = tuple(_containers(name, raw))
    phase = text(raw, "status", "phase")
    return Pod(name, phase, _trouble(raw, phase, containers), containers)


def _bare(raw: dict[str, Any]) -> Container:
    """A container on its own, which names its pod."""
    pod = f"{_namespace(raw)}/{text(raw, 'pod') or '?'}"
    return _container(pod, raw, raw, text(raw, "container") or text(raw, "name"))


def _namespace(raw: dict[str, Any]) -> str:
    return text(raw, "metadata", "namespace") or text(raw, "namespace") or "?"


def _containers(pod: str, raw: dict[str, Any]) -> Iterator[Container]:
    for specs, statuses in _GROUPS:
        by_name = {text(status, "name"): status for status in objects(raw, "status", statuses)}
        for spec in objects(raw, "spec", specs):
            name = text(spec, "name")
            yield _container(pod, spec, by_name.get(name, {}), name)


def _container(pod: str, spec: dict[str, Any], status: dict[str, Any], name: str) -> Container:
    ends = []
    for when, key in (("last", "lastState"), ("now", "state")):
        ended = get(status, key, "terminated")
        if isinstance(ended, dict):
            ends.append((when, text(ended, "reason"), integer(ended, "exitCode")))
    return Container(
        pod,
        name,
        in_bytes(get(spec, "resources", "requests", "memory")),
        in_bytes(get(spec, "resources", "limits", "memory")),
        integer(status, "restartCount"),
        text(status, "state", "waiting", "reason"),
        text(status, "state", "waiting", "message"),
        tuple(ends),
    )


def _trouble(raw: dict[str, Any], phase: str, containers: tuple[Container, ...]) -> str:
    waits = sorted({c.waiting for c in containers if c.waiting and c.waiting not in _WAITS})
    if waits:
        return ", ".join(waits)
    if phase in ("Failed", "Unknown"):
        ends = sorted(
            {f"{c.name} ended with {code}" for c in containers for _w, _r, code in c.ends}
        )
        return line(
            ": ".join(filter(None, (phase, text(raw, "status", "reason"), ", ".join(ends))))
        )
    if phase == "Pending":
        message = next(filter(None, map(partial(_unmet, raw), _STEPS)), "")
        return line(f"Pending: {message}" if message else "Pending")
    message = _unmet(raw, "ContainersReady") if phase == "Running" else ""
    # A container that has done its work is not ready any more.
    return (
        "" if not message or message.startswith("PodCompleted") else line(f"not ready: {message}")
    )


def _unmet(raw: dict[str, Any], step: str) -> str:
    found = condition(conditions(raw), step)
    return found.why() if found.status == "False" else ""
