"""What a line of etcd's log is about."""

from __future__ import annotations

import re

from .lines import Line

LEADER, COMPACTION, DEFRAG = "leader_election", "compaction", "defragmentation"
SLOW_APPLY, SLOW_FSYNC, OVERLOAD = "slow_apply", "slow_fsync", "overload"
NETWORK, STORAGE = "network_issue", "storage_issue"
AUTH, RAFT, COMPACTED, OTHER = "auth", "raft", "compacted", "other"

# In the order in which a line is put into one of them.
EVENTS = (LEADER, COMPACTION, DEFRAG, SLOW_APPLY, SLOW_FSYNC, OVERLOAD, NETWORK, STORAGE)
# Categories of errors, likewise, with their titles.
ERRORS = {
    AUTH: "Auth",
    STORAGE: "Storage",
    RAFT: "Raft",
    OVERLOAD: "Overload",
    NETWORK: "Network",
    COMPACTED: "Compacted revisions asked for (clients start over; harmless when rare)",
    OTHER: "Other",
}

# Each alternative is a row of texts that have to come one after the other. Plain texts, so that
# the time does not depend on what a line holds.
_RULES: dict[str, tuple[tuple[str, ...], ...]] = {
    LEADER: (("elected leader",), ("became leader",), ("lost leader",), ("changed leader",)),
    COMPACTION: (("finished scheduled compaction",), ("compaction finished",)),
    DEFRAG: (("defragment",),),
    SLOW_APPLY: (
        ("apply request took too long",),
        ("apply entries took too long",),
        ("took too long (", "to execute"),
    ),
    SLOW_FSYNC: (("slow fdatasync",), ("sync duration of",)),
    OVERLOAD: (
        ("failed to send out heartbeat on time",),
        ("leader is overloaded",),
        ("waiting for ReadIndex response took too long",),
        ("server is likely overloaded",),
    ),
    NETWORK: (
        ("failed to send",),
        ("peer", "unreachable"),
        ("prober detected unhealthy status",),
        ("lost TCP streaming connection",),
        ("lost the TCP streaming connection",),
        ("peer became inactive",),
        ("became inactive",),
        ("dropped internal Raft message",),
        ("failed to dial",),
        ("failed to reach the peer",),
        ("health check for peer", "could not connect"),
        ("timed out waiting for read index response",),
        ("request timed out",),
        ("rejected connection",),
    ),
    STORAGE: (
        ("database space exceeded",),
        ("no space left on device",),
        ("alarm raised",),
        ("raised alarm",),
        ("hash mismatch",),
        ("checksum mismatch",),
        ("crc mismatch",),
    ),
    COMPACTED: (("required revision has been compacted",), ("mvcc: required revision",)),
    AUTH: (
        ("auth", "fail"),
        ("authentication", "error"),
        ("permission denied",),
        ("invalid auth token",),
        ("x509:",),
        ("tls: bad certificate",),
        ("certificate has expired",),
    ),
    RAFT: (("raft:", "error"), ("raft:", "failed")),
}
# What raft says of itself; from 3.5 on it goes through a logger of etcd's.
_RAFT_CALLERS = ("raft/", "etcdserver/zap_raft.go")
# Lines around a defragmentation that tell of the same one.
_DEFRAG_ECHO = ("starting defragment", "defragmenting", "finished defragment")
_BAD = ("error", "fatal", "panic", "dpanic")
_TERM = re.compile(r" at term (\d{1,19})")


# Texts of which a line has one if any rule may hold for it; few, for each is looked for everywhere.
NEEDLES = (
    *(b" leader", b"compaction", b"defragment", b"took too long", b"slow fdatasync"),
    *(b"sync duration of", b"heartbeat on time", b"overloaded", b"failed", b"unreachable"),
    *(b"unhealthy status", b"streaming connection", b"became inactive", b"dropped internal Raft"),
    *(b"health check for peer", b"timed out", b"rejected connection", b"space exceeded"),
    *(b"no space left", b"alarm", b"mismatch", b"corrupt", b"required revision", b"auth"),
    *(b"permission denied", b"x509:", b"certificate", b"raft:"),
    # Errors of etcd in JSON and in text, and those of klog, at the beginning of a line or behind a time.
    *(b'"error"', b'"fatal"', b'panic"', b" E | ", b" C | ", b"Z E", b"Z F", b"\nE", b"\nF"),
)


def classify(line: Line) -> tuple[str, ...]:
    """All classes of a line, those of EVENTS first."""
    text = line.text
    if _is_probe(text):
        return ()
    found = [name for name, rows in _RULES.items() if any(_has(text, row) for row in rows)]
    if OVERLOAD in found and NETWORK in found:
        # A leader that is too busy to send its heartbeats is no matter of the network.
        found.remove(NETWORK)
    if AUTH in found and NETWORK in found:
        # Nor is a certificate that is refused.
        found.remove(NETWORK)
    if DEFRAG in found and text.strip() in _DEFRAG_ECHO:
        found.remove(DEFRAG)
    if line.level in (*_BAD, "warn") and "corrupt" in text and STORAGE not in found:
        found.append(STORAGE)
    if line.level in _BAD and line.caller.startswith(_RAFT_CALLERS):
        found.append(RAFT)
    if not found and line.level in _BAD:
        found.append(OTHER)
    return tuple(found)


def event_of(classes: tuple[str, ...]) -> str:
    """The one class that an event is shown under, or ""."""
    return next((name for name in EVENTS if name in classes), "")


def error_of(classes: tuple[str, ...]) -> str:
    """The one category of an error, or ""."""
    return next((name for name in ERRORS if name in classes), "")


def term_of(text: str) -> int | None:
    """The term of raft in which a leader came or went."""
    found = _TERM.search(text)
    return int(found[1]) if found else None


def _is_probe(text: str) -> bool:
    """A client that has connected and gone without a word: kubelet's probes do so every few seconds.

    From 3.5 on the text says "on client endpoint" or "on peer endpoint", too.
    """
    return "rejected connection" in text and (text.endswith(" EOF") or '(error "EOF"' in text)


def _has(text: str, row: tuple[str, ...]) -> bool:
    at = 0
    for part in row:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
