"""Pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .._shared.must_gather import Resource, Values
from .._shared.texts import counted, line
from .namespaces import in_namespaces
from .report import Ask, Report, nothing

_CALM = ("Running", "Succeeded")
# As kubectl calls the one, and the condition of a pod the other.
_DELETED, _UNREADY = "Terminating", "NotReady"


@dataclass(frozen=True, slots=True)
class Pod:
    """state: the reason of a container that waits or has failed, else that of the pod; else that it
    is being deleted, or runs and is not ready; else "".
    """

    namespace: str
    name: str
    phase: str
    state: str
    ready: str
    restarts: int
    node: str

    @property
    def is_troubled(self) -> bool:
        return self.phase not in _CALM or bool(self.state and self.phase == "Running")


def read_pods(ask: Ask, namespace: str) -> list[Pod]:
    """The pods in trouble first, then by their restarts, those that have succeeded last."""
    found = in_namespaces(ask, namespace, "core", "pods")
    pods = map(_pod, ask.pace.each(found, "reading pods"))
    return sorted(
        pods,
        key=lambda p: (
            *(not p.is_troubled, p.phase == "Succeeded", -p.restarts),
            *(p.namespace, p.name),
        ),
    )


def _pod(found: Resource) -> Pod:
    main = found.objects("status", "containerStatuses")
    init = found.objects("status", "initContainerStatuses")
    ready = sum(status.flag("ready") is True for status in main)
    states = filter(None, map(_state, [*init, *main]))
    phase = found.text("status", "phase") or "Unknown"
    state = next(states, "") or found.text("status", "reason") or ""
    if not state and found.text("metadata", "deletionTimestamp"):
        state = _DELETED
    elif not state and phase == "Running" and any(map(_is_unready, main)):
        state = _UNREADY
    return Pod(
        found.namespace,
        found.name,
        phase,
        state,
        f"{ready}/{len(main)}",
        sum(status.integer("restartCount") or 0 for status in (*main, *init)),
        found.text("spec", "nodeName") or "-",
    )


def _state(status: Values) -> str:
    """Why a container does not run, "" when it does or has ended well."""
    waiting = status.text("state", "waiting", "reason")
    if waiting:
        return waiting
    code = status.integer("state", "terminated", "exitCode")
    if code is None or code == 0:
        return ""
    return status.text("state", "terminated", "reason") or f"exit code {code}"


def _is_unready(status: Values) -> bool:
    """Whether a container should take requests and does not: one that has ended well need not."""
    return status.flag("ready") is not True and status.mapping("state", "terminated") is None


def answer(ask: Ask, namespace: str, status: str) -> str:
    """mg_pods."""
    every = read_pods(ask, namespace)
    where = f" in {line(namespace, 70)}" if namespace else ""
    if not every:
        return Report(ask, nothing(ask, f"pods{where}")).text()
    found = [pod for pod in every if _has(pod, status)]
    phases = _phases(every)
    if not found:
        said = f"None of the {counted(len(every), 'pod')}{where} is {line(status, 60)}"
        return Report(ask, f"{said}: {phases}.").text()
    head = f"{counted(len(every), 'pod')}{where}: {phases}"
    if status:
        head = f"{counted(len(found), 'pod')} {line(status, 60)}, of {head}"
    report = Report(ask, head)
    report.add("")
    report.table(
        ("NAMESPACE", "NAME", "PHASE", "STATE", "READY", "RESTARTS", "NODE"),
        (
            (p.namespace, p.name, p.phase, p.state or "-", p.ready, p.restarts, p.node)
            for p in found
        ),
    )
    return report.text()


def _has(pod: Pod, status: str) -> bool:
    wanted = status.casefold()
    return not wanted or wanted in (pod.phase.casefold(), pod.state.casefold())


def _phases(pods: Iterable[Pod]) -> str:
    counts = Counter(pod.phase for pod in pods)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {line(phase, 40)}" for phase, count in ordered)
