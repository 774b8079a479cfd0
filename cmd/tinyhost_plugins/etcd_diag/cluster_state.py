"""What etcd says of itself: members, status, health and alarms, as `etcdctl -w json` prints them.

A must-gather keeps these answers in etcd_info/, and the live tool asks for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from .._shared import texts
from .._shared.table import table
from . import text

FOLDER = "etcd_info"
MEMBERS, STATUS, HEALTH, ALARMS = "member_list", "endpoint_status", "endpoint_health", "alarm_list"
_OBJECTS = ("object_count.json", "etcd_object_count")
_MOST_READ = 16 * 1024 * 1024
_MOST_ROWS = 50
_MOST_OBJECTS = 15
_ALARM_NAMES = {1: "NOSPACE", 2: "CORRUPT"}
# How far members may be apart in the log of raft while all is well.
_FAR_BEHIND = 1000


class Finding(NamedTuple):
    """One judged matter. rating: OK, WARN or CRITICAL."""

    rating: str
    name: str
    said: str


OK, WARN, CRITICAL = "OK", "WARN", "CRITICAL"


class State:
    """The documents by name; those that are missing or unreadable are not in it."""

    def __init__(self, documents: dict[str, Any], objects: dict[str, int]) -> None:
        self.documents = documents
        self.objects = objects

    def __bool__(self) -> bool:
        return bool(self.documents or self.objects)

    def rows(self, name: str, key: str = "") -> list[dict[str, Any]]:
        """The objects in a document: its list, or the list at a key of it."""
        value = self.documents.get(name)
        if key:
            value = value.get(key) if isinstance(value, dict) else None
        return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def read(root: Path) -> State:
    """What a must-gather has; nothing is fine."""
    documents = {}
    for name in (MEMBERS, STATUS, HEALTH, ALARMS):
        try:
            documents[name] = json.loads(_read(root / FOLDER / f"{name}.json"))
        except (OSError, ValueError, RecursionError):
            continue
    return State(documents, _objects(root))


def _read(path: Path) -> bytes:
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        raise FileNotFoundError(path)
    with path.open("rb") as stream:
        return stream.read(_MOST_READ)


def _objects(root: Path) -> dict[str, int]:
    """How many objects of each resource: JSON, or lines of a number and a name."""
    for name in _OBJECTS:
        try:
            content = _read(root / FOLDER / name).decode(errors="replace")
        except OSError:
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            value = {
                words[1]: int(words[0])
                for line in content.splitlines()
                if len(words := line.split()) == 2 and words[0].isdecimal()
            }
        if isinstance(value, dict):
            return {str(key): n for key, n in value.items() if type(n) is int and n >= 0}
    return {}


def alarm_name(number: object) -> str:
    """The name of an alarm, which goes by its number."""
    return _ALARM_NAMES.get(_number(number)) or f"alarm {number}"


def findings(state: State) -> list[Finding]:
    """What the answers say about the health of the cluster."""
    found = [*_alarms(state), *_health(state), *_status(state)]
    unnamed = [row for row in state.rows(MEMBERS, "members") if not row.get("name")]
    if unnamed:
        found.append(Finding(WARN, "members", f"{len(unnamed)} have not started yet"))
    learners = [row for row in state.rows(MEMBERS, "members") if row.get("isLearner")]
    if learners:
        found.append(Finding(WARN, "members", f"{len(learners)} are learners without a vote"))
    return found


def _alarms(state: State) -> list[Finding]:
    if ALARMS not in state.documents:
        return []
    alarms = [
        f"{alarm_name(row.get('alarm', 0))} on {_hex(row.get('memberID'))}"
        for row in state.rows(ALARMS, "alarms")
    ]
    return [Finding(CRITICAL if alarms else OK, "alarms", ", ".join(alarms) or "none")]


def _health(state: State) -> list[Finding]:
    rows = state.rows(HEALTH)
    if not rows:
        return []
    ill = [
        f"{row.get('endpoint')}: {row.get('error') or 'unhealthy'}"
        for row in rows
        if row.get("health") is not True
    ]
    if ill:
        rating = CRITICAL if 2 * len(ill) >= len(rows) else WARN
        return [Finding(rating, "endpoints", f"{len(ill)} of {len(rows)} ill: {'; '.join(ill)}")]
    return [Finding(OK, "endpoints", f"all {len(rows)} healthy")]


def _status(state: State) -> list[Finding]:
    rows = [row for row in map(_status_of, state.rows(STATUS)) if row]
    if not rows:
        return []
    leaders = {_number(row.get("leader")) for row in rows}
    found = []
    if leaders == {0}:
        found.append(Finding(CRITICAL, "leader", "none"))
    elif len(leaders) > 1:
        found.append(Finding(CRITICAL, "leader", "the members do not agree on one"))
    else:
        found.append(Finding(OK, "leader", _hex(leaders.pop())))
    indexes = [_number(row.get("raftIndex")) for row in rows]
    behind = max(indexes) - min(indexes)
    if len(rows) > 1:
        rating = WARN if behind > _FAR_BEHIND else OK
        found.append(Finding(rating, "raft", f"the members are {behind:,} entries apart"))
    return [*found, *_sizes(rows)]


def _sizes(rows: list[dict[str, Any]]) -> list[Finding]:
    largest = max(rows, key=lambda row: _number(row.get("dbSize")))
    size, used = _number(largest.get("dbSize")), _number(largest.get("dbSizeInUse"))
    said = f"largest database {texts.size(size)}"
    if not used:
        return [Finding(OK, "size", said)]
    free = max(0, size - used)
    said += f", {text.percent(free, size)} of it free"
    # Below 100 MiB there is nothing to win.
    worth = 2 * free > size and size > 100 * 1024 * 1024
    return [Finding(WARN if worth else OK, "size", said + ("; defragment" if worth else ""))]


def members_table(state: State) -> str:
    """Members and endpoints beside each other; "" when there is nothing to show."""
    rows = state.rows(STATUS)
    names = {_number(row.get("ID")): row.get("name") for row in state.rows(MEMBERS, "members")}
    lines = []
    for row in rows:
        status = _status_of(row)
        me = _number(_header(status).get("member_id"))
        lines.append(
            (
                row.get("Endpoint"),
                (me and names.get(me)) or _hex(me or None),
                status.get("version"),
                texts.size(_number(status.get("dbSize"))),
                texts.size(_number(status.get("dbSizeInUse"))),
                "leader" if me and me == status.get("leader") else "",
                _number(status.get("raftTerm")),
                _number(status.get("raftIndex")),
            )
        )
    headers = ("ENDPOINT", "MEMBER", "VERSION", "SIZE", "IN USE", "ROLE", "TERM", "INDEX")
    if lines:
        return table(headers, lines, most=_MOST_ROWS)
    members = state.rows(MEMBERS, "members")
    if not members:
        return ""
    plain = [
        (row.get("name"), _hex(row.get("ID")), _listed(row.get("clientURLs"))) for row in members
    ]
    return table(("MEMBER", "ID", "CLIENT URLS"), plain, most=_MOST_ROWS)


def objects_table(state: State) -> str:
    """The commonest resources; "" when they were not counted."""
    if not state.objects:
        return ""
    ordered = sorted(state.objects.items(), key=lambda item: (-item[1], item[0]))
    return table(("RESOURCE", "OBJECTS"), ordered, most=_MOST_OBJECTS, more="see " + FOLDER)


def _status_of(row: dict[str, Any]) -> dict[str, Any]:
    status = row.get("Status")
    return status if isinstance(status, dict) else {}


def _header(status: dict[str, Any]) -> dict[str, Any]:
    header = status.get("header")
    return header if isinstance(header, dict) else {}


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else ""


def _number(value: object) -> int:
    # All that etcd counts fits into 64 bits; what does not could not be divided either.
    return value if type(value) is int and 0 <= value < 1 << 64 else 0


def _hex(value: object) -> str:
    """A member's id as etcd's logs have it."""
    return f"{value:x}" if type(value) is int else "?"
