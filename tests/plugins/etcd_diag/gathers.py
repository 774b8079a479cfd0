"""Must-gather folders as `oc adm must-gather` writes them, with logs of etcd."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tinyhost_sdk import testing

TOOLS = ("stats", "errors", "timeline", "compare", "health")
IMAGE = "quay-io-openshift-must-gather-sha256-0123"


def entry(level: str, msg: str, **more: object) -> str:
    """A line of etcd's own, in JSON."""
    return json.dumps({"level": level, "ts": "2026-05-01T00:00:00.000Z", "msg": msg, **more})


def slow_apply(took: str, key: str = "/kubernetes.io/pods/shop/web") -> str:
    return entry(
        "warn",
        "apply request took too long",
        took=took,
        **{"expected-duration": "100ms", "prefix": "read-only range ", "request": f"key:{key}"},
    )


def slow_fsync(took: str) -> str:
    return entry("warn", "slow fdatasync", took=took, **{"expected-duration": "1s"})


def elected(term: int) -> str:
    return entry(
        "info", f"raft.node: 2e12 elected leader 2e12 at term {term}", caller="raft/node.go"
    )


def compaction(took: str) -> str:
    return entry("info", "finished scheduled compaction", took=took, **{"compact-revision": 7})


def stamped(*lines: str, day: int = 1, step: int = 60) -> str:
    """The lines with the times that `oc` puts before them, a minute apart."""
    return "".join(
        f"2026-05-{day:02}T{10 + number * step // 3600:02}:{number * step // 60 % 60:02}:"
        f"{number * step % 60:02}.123456789Z {line}\n"
        for number, line in enumerate(lines)
    )


def write_log(top: Path, pod: str, text: str, name: str = "current.log") -> Path:
    """Put a log to where `oc adm inspect` puts that of the container etcd."""
    folder = top / IMAGE / "namespaces" / "openshift-etcd" / "pods" / pod / "etcd" / "etcd" / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def write_info(top: Path, name: str, value: object) -> None:
    """Put an answer of etcdctl to where the gathering script puts it."""
    folder = top / IMAGE / "etcd_info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))


def three_pods(top: Path) -> None:
    """Five slow applies, three slow fsyncs, an election, a compaction, trouble with the network."""
    write_log(
        top,
        "etcd-m0",
        stamped(
            elected(5),
            slow_apply("100ms"),
            slow_apply("200ms", "/kubernetes.io/secrets/auth-failed"),
            slow_apply("1.5s"),
            slow_apply("150ms"),
            compaction("12.5ms"),
            slow_fsync("1.2s"),
        ),
    )
    write_log(
        top,
        "etcd-m1",
        stamped(
            elected(5),
            slow_apply("300ms"),
            slow_fsync("2s"),
            slow_fsync("1m1.5s"),
            entry("warn", "prober detected unhealthy status", error="dial tcp: refused"),
            entry("error", "rejected connection", error="remote error: tls: bad certificate"),
        ),
    )
    write_log(top, "etcd-m2", stamped(elected(5), entry("info", "nothing to see")))


def ask(driver: testing.Driver, tool: str, path: Path, **args: object) -> str:
    """What a tool for logs says of a must-gather."""
    result = driver.call_tool(f"etcd_diag_{tool}", {"path": str(path), **args})
    assert not result.is_error, result.content
    return result.content


def row(text: str, start: str) -> list[str]:
    """The words of the line that begins so."""
    return next(line.split() for line in text.splitlines() if line.startswith(start))
