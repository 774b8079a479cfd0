"""A must-gather with audit logs, and a way to ask the plugin about it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.audit_logs.plugin import build
from tinyhost_sdk import ToolResult, testing

MakeEvent = Callable[..., dict[str, Any]]
Ask = Callable[..., ToolResult]


class Gather:
    """A must-gather as `oc adm must-gather` writes it: a folder for the image, and logs in it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "must-gather.local.17"
        self.image = self.root / "registry-example-must-gather-sha256-0af1"
        self.audit_logs = self.image / "audit_logs"
        (self.image / "namespaces").mkdir(parents=True)

    def add(
        self,
        events: Sequence[dict[str, Any]] | bytes,
        *,
        area: str = "kube-apiserver",
        name: str = "master-0-audit.log",
    ) -> Path:
        """Write a log: packed where the name ends in .gz."""
        file = self.audit_logs / area / name
        file.parent.mkdir(parents=True, exist_ok=True)
        data = events if isinstance(events, bytes) else lines(events)
        file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return file


def lines(events: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def _event(
    user: str = "alice",
    verb: str = "get",
    resource: str = "pods",
    namespace: str = "shop",
    code: int = 200,
    at: str = "2026-01-02T10:00:00.000000Z",
    **more: Any,
) -> dict[str, Any]:
    """An event as an API server writes it. What is empty is left out, as there."""
    target = {"resource": resource, "namespace": namespace, "name": "web", "apiVersion": "v1"}
    target |= more.pop("target", {})
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "4f0c1a52-70a3-4b1e-9c31-0c2b7f6c2c11",
        "stage": "ResponseComplete",
        "requestURI": f"/api/v1/namespaces/{namespace}/{resource}/web",
        "verb": verb,
        "user": {"username": user, "groups": ["system:authenticated"]},
        "sourceIPs": ["10.0.0.7"],
        "userAgent": "oc/4.16.0 (linux/amd64)",
        "objectRef": {key: value for key, value in target.items() if value},
        "responseStatus": {"metadata": {}, "code": code},
        "requestReceivedTimestamp": at,
        "stageTimestamp": at,
    }
    if not resource:
        del event["objectRef"]
    if not code:
        del event["responseStatus"]
    return event | more


@pytest.fixture
def event() -> MakeEvent:
    return _event


@pytest.fixture
def gather(tmp_path: Path) -> Gather:
    return Gather(tmp_path)


@pytest.fixture
def ask(gather: Gather) -> Ask:
    """ask(tool, options=None, **args): what the tool says, by default about the must-gather."""

    def ask(tool: str, options: dict[str, Any] | None = None, **args: Any) -> ToolResult:
        with testing.drive(build(), options) as driver:
            return driver.call_tool(tool, {"path": str(gather.root), **args})

    return ask


@pytest.fixture
def seven(gather: Gather, event: MakeEvent) -> Gather:
    """Seven events in two hours: three gets, two refusals of mallory, two users' deletions."""
    gather.add(
        [
            event(),
            event(verb="list", at="2026-01-02T10:01:00.000000Z"),
            event(at="2026-01-02T10:10:00.000000Z"),
            event(verb="delete", resource="secrets", at="2026-01-02T10:10:30.000000Z"),
            event("mallory", code=403, at="2026-01-02T11:00:00.000000Z"),
            event("mallory", "delete", "secrets", code=403, at="2026-01-02T11:00:01.000000Z"),
            event(
                "system:serviceaccount:shop:robot",
                "deletecollection",
                "deployments",
                target={"apiGroup": "apps", "name": ""},
                at="2026-01-02T11:00:02.000000Z",
            ),
        ],
    )
    return gather
