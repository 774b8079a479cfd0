"""The plugin audit-logs against jq: who made most of the requests in a large audit log."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from time import perf_counter

from tinyhost.model import CallContext
from tinyhost.plugin import Plugin

from .harness import Missing, Round, Row, take_turns
from .traffic import expect
from .workspace import Workspace

_MIB = 1024 * 1024
_TOP = 20
_USERS = [f"system:serviceaccount:openshift-{place}:operator" for place in range(150)]
_VERBS = ("get", "get", "get", "list", "watch", "update", "patch", "create", "delete")
_RESOURCES = ("pods", "configmaps", "secrets", "leases", "events", "endpoints")
# Of what people type, this is the fastest with jq 1.6: jq names the users, sort counts them.
_JQ = (
    "{before}{jq} -r 'select(.stage == \"ResponseComplete\") | .user.username' {file}"
    f" | LC_ALL=C sort | uniq -c | sort -k1,1nr -k2 | head -n {_TOP}"
)


async def measure(workspace: Workspace, quick: bool) -> list[Row]:
    """A row for a plain log of 100 MiB and one for the same log packed. Raises Missing."""
    jq = find_jq()
    size, rounds = (4, 3) if quick else (100, 5)
    plain = write_log(workspace.root / "audit.log", size * _MIB)
    packed = pack(plain)
    workspace.add_plugin("audit-logs", "tinyhost_plugins.audit_logs", "main")
    cases = (
        ("plain", plain, _JQ.format(before="", jq=jq, file=plain), "jq | sort | uniq -c"),
        (
            "gzip",
            packed,
            _JQ.format(before=f"gzip -dc {packed} | ", jq=jq, file=""),
            "gzip -dc | jq | sort | uniq -c",
        ),
    )
    rows = []
    async with workspace.open_manager() as manager:
        plugin = await manager.load_spec(workspace.spec("audit-logs"))
        for name, file, shell, against in cases:
            expect("audit_top", await _ask(plugin, file), _by_jq(shell))
            turns = {"own": _own(plugin, file), "floor": _floor(shell)}
            times = await take_turns(turns, rounds=rounds)
            rows.append(
                Row(
                    name=f"audit.{name}",
                    what=f"audit_top by user, {size} MiB {name}, times faster",
                    against=against,
                    goal=2,
                    faster=True,
                    seconds=times["own"],
                    floor_seconds=times["floor"],
                )
            )
    return rows


def find_jq(path: str | None = None) -> str:
    """The command jq on PATH. Raises Missing."""
    found = shutil.which("jq", path=path)
    if found is None:
        raise Missing("no jq on PATH: apt-get install jq")
    return found


def write_log(file: Path, size: int) -> Path:
    """An audit log of at least so many bytes, always the same."""
    chance = random.Random(1)
    written = number = 0
    with file.open("wb") as log:
        while written < size:
            written += log.write(_event(chance, number))
            number += 1
    return file


def _event(chance: random.Random, number: int) -> bytes:
    user, namespace = chance.choice(_USERS), f"openshift-{number % 90}"
    resource, verb = chance.choice(_RESOURCES), chance.choice(_VERBS)
    account = user.split(":")[2]
    event: dict[str, object] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"{chance.getrandbits(128):032x}",
        # A watch is logged twice: when it begins, and when it ends.
        "stage": "ResponseStarted" if verb == "watch" and number % 2 else "ResponseComplete",
        "requestURI": f"/api/v1/namespaces/{namespace}/{resource}/item-{number % 500}?timeout=30s",
        "verb": verb,
        "user": {
            "username": user,
            "uid": f"{chance.getrandbits(64):016x}",
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{account}"],
            "extra": {"authentication.kubernetes.io/pod-name": [f"operator-{number % 40}"]},
        },
        "sourceIPs": [f"10.0.{number % 250}.{number % 7}"],
        "userAgent": "operator/v0.0.0 (linux/amd64) kubernetes/$Format",
        "objectRef": {
            "resource": resource,
            "namespace": namespace,
            "name": f"item-{number % 500}",
            "apiVersion": "v1",
        },
        "responseStatus": {"metadata": {}, "code": chance.choice((200, 200, 200, 201, 404, 409))},
        "requestReceivedTimestamp": f"2026-01-02T{number // 6000 % 24:02d}:00:00.123456Z",
        "stageTimestamp": f"2026-01-02T{number // 6000 % 24:02d}:00:00.125456Z",
        "annotations": {
            "authorization.k8s.io/decision": "allow",
            "authorization.k8s.io/reason": f'RBAC: allowed by ClusterRoleBinding "{account}"',
        },
    }
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def pack(file: Path) -> Path:
    """The same file, as gzip makes it."""
    packed = file.with_name(file.name + ".gz")
    with file.open("rb") as source, gzip.open(packed, "wb", compresslevel=6) as target:
        shutil.copyfileobj(source, target, _MIB)
    return packed


async def _ask(plugin: Plugin, file: Path) -> list[tuple[int, str]]:
    """Counts and users, as the plugin's report has them."""
    args = {"path": str(file), "by": "user", "n": _TOP}
    answer = await plugin.call_tool("audit_top", args, CallContext())
    rows = re.findall(r"^ *\d+ +([\d,]+) +[\d.]+ +(\S+)$", answer.content, re.MULTILINE)
    return [(int(count.replace(",", "")), user) for count, user in rows]


def _by_jq(shell: str) -> list[tuple[int, str]]:
    """The same, as the shell's line prints them."""
    done = subprocess.run(
        ["/bin/sh", "-c", shell], capture_output=True, text=True, check=True, timeout=600
    )
    rows = (line.split() for line in done.stdout.splitlines())
    return [(int(count), user) for count, user in rows]


def _own(plugin: Plugin, file: Path) -> Round:
    async def round() -> float:
        began = perf_counter()
        await _ask(plugin, file)
        return perf_counter() - began

    return round


def _floor(shell: str) -> Round:
    async def round() -> float:
        began = perf_counter()
        _by_jq(shell)
        return perf_counter() - began

    return round
