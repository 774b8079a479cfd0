"""What the tools are called, what they say of themselves, and the schemas of their arguments."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

USER, VERB, RESOURCE, NAMESPACE = "user", "verb", "resource", "namespace"
STATUS_CODE, USER_AGENT, SOURCE_IP, NODE, AREA = (
    "status_code",
    "user_agent",
    "source_ip",
    "node",
    "area",
)
DIMENSIONS = (USER, VERB, RESOURCE, NAMESPACE, STATUS_CODE, USER_AGENT, SOURCE_IP, NODE, AREA)
MINUTE, HOUR = "minute", "hour"
TOP_ROWS, SEARCH_ROWS, TIMELINE_ROWS = 20, 50, 200


def _text(description: str, *choices: str) -> "dict[str, Any]":
    schema: dict[str, Any] = {"type": "string", "description": description}
    if choices:
        schema["enum"] = list(choices)
    return schema


def _count(description: str) -> "dict[str, Any]":
    return {"type": "integer", "description": description}


_SOURCE = {
    "path": _text(
        "An unpacked must-gather, a folder around it, its audit_logs folder or a part of that,"
        " or one log file"
    ),
    "area": _text("Only the logs of one API server, for example kube-apiserver"),
    "since": _text("Only events from this time on, RFC 3339; without a zone it is UTC"),
    "until": _text("Only events before this time, RFC 3339; without a zone it is UTC"),
}
_FILTERS = {
    USER: _text("Only users whose name contains this, in any case"),
    "group": _text("Only users that are in this group"),
    VERB: _text("Only this verb, for example delete"),
    RESOURCE: _text("Only this resource, for example pods, deployments.apps or pods/exec"),
    NAMESPACE: _text("Only this namespace; (cluster-scoped) for events without one"),
    STATUS_CODE: _count("Only this HTTP status; 0 is no filter"),
    "all_stages": {
        "type": "boolean",
        "description": "Take every event of a request. Otherwise the last one counts alone",
    },
}


def _schema(properties: "dict[str, Any]", *required: str) -> "dict[str, Any]":
    return {
        "type": "object",
        "properties": properties,
        "required": ["path", *required],
        "additionalProperties": False,
    }


TOOLS: "dict[str, tuple[str, dict[str, Any]]]" = {
    "audit_top": (
        "Who or what causes most requests: counts the audit events of a Kubernetes or OpenShift"
        " API server by one dimension and shows the largest counts.",
        _schema(
            {
                **_SOURCE,
                "by": _text("What to count by", *DIMENSIONS),
                "n": _count(f"How many to show; {TOP_ROWS} by default"),
                **_FILTERS,
            },
            "by",
        ),
    ),
    "audit_search": (
        "Lists audit events that match all filters, oldest first, and says how many there are.",
        _schema(
            {
                **_SOURCE,
                **_FILTERS,
                "max": _count(f"How many to list; {SEARCH_ROWS} by default"),
                "after": _text("For the next rows: what the report on the former ones ends with"),
            }
        ),
    ),
    "audit_timeline": (
        "Shows how many audit events there were in each hour or minute, with bars, and marks"
        " spikes.",
        _schema(
            {
                **_SOURCE,
                "interval": _text("hour by default", MINUTE, HOUR),
                **_FILTERS,
                "max": _count(f"How many intervals to show; {TIMELINE_ROWS} by default"),
            }
        ),
    ),
    "audit_anomalies": (
        "Reports what may be an attack or a mistake in audit logs: failed authentication,"
        " deletions, privilege escalation, and which service accounts are active.",
        _schema(_SOURCE),
    ),
    "audit_health": (
        "Rates audit logs in five checks as OK, WARN or CRITICAL: failed authentication,"
        " deletions, privilege escalation, volume and server errors.",
        _schema(_SOURCE),
    ),
}
