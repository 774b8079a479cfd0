"""The fault matrix: what a plugin may do wrong, what the host makes of it, and how soon.

`python tests/faults/matrix.py` writes the table into docs/security.md.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tinyhost

HERE = Path(__file__).parent
if str(HERE) not in sys.path:  # when it runs by itself, too
    sys.path.insert(0, str(HERE))

from fault import (  # noqa: E402
    AT_ONCE,
    CAP,
    CLOSED,
    DEADLINE,
    DEATH,
    ENDS,
    GRACES,
    LOADS,
    RESTARTS,
    SHORT,
    SMALL_LINES,
    WEDGED,
    Answers,
    Bound,
    Fails,
    Row,
    Stops,
)

PAGE = HERE.parents[1] / "docs" / "security.md"
BEGIN = "<!-- The fault matrix begins. tests/faults/matrix.py writes it. -->\n"
END = "<!-- The fault matrix ends. -->\n"

OK = Answers()
JUNK = {"junk_lines": 1}
NO_ANSWER = Fails(tinyhost.CallTimeout, "no answer")
UNSENT = Fails(tinyhost.CallTimeout, "no answer|not sent", "no answer, or not sent")
TOO_LONG = Fails(tinyhost.FrameTooLarge, "a line longer than", "the line is too long")
FOREVER = ["sleep", 600]
MIB = 1024 * 1024


def _bad(match: str) -> Fails:
    return Fails(tinyhost.ProtocolError, match)


def _lost(match: str) -> Fails:
    return Fails(tinyhost.OutcomeUncertain, match)


def _beside(fault: str, moment: str, *deed: Any, counts: Mapping[str, int] = JUNK) -> Row:
    """Something is written besides the right answer."""
    return Row(fault, {moment: [["write", *deed]]}, OK, counts=counts)


def _taken(fault: str, shape: str, content: str = "ok") -> Row:
    """An odd answer, but an answer."""
    return Row(fault, {"first": [["write", shape]]}, Answers(content))


def _refused(fault: str, shape: str, match: str) -> Row:
    """An answer to the call that is none: it fails without waiting for its deadline."""
    return Row(fault, {"first": [["write", shape]]}, _bad(match))


def _unheard(fault: str, *deeds: Sequence[Any]) -> Row:
    """What is written cannot be taken for an answer to the call."""
    return Row(fault, {"first": deeds}, NO_ANSWER, bound=DEADLINE, counts=JUNK, settings=SHORT)


WRITING = [
    _beside("text on standard output before the handshake", "start", "noise"),
    _beside("text before a reply", "call", "noise"),
    _beside("text after a reply", "answered", "noise"),
    _beside("escape sequences for the terminal", "call", "escape sequences"),
    _beside("bytes that are not UTF-8", "call", "bytes that are not UTF-8"),
    _beside("a line of NUL bytes", "call", "NUL bytes"),
    _beside("a request with the id of the host's own", "call", "request of its own"),
    _beside("a reply before its request", "first", "reply to the next request"),
    _beside("the same reply twice", "first", "reply twice"),
    _beside("100,000 empty lines", "call", "empty lines", 100_000, counts={}),
    _beside(
        "a notification that nobody knows",
        "call",
        "notification of its own",
        counts={"notifications": 1},
    ),
    _taken("a reply with CRLF", "reply with CRLF"),
    _taken("a reply after a byte order mark", "reply after a BOM"),
    _taken("a reply after white space and empty lines", "reply after white space"),
    _taken("a reply with repeated keys: the last one counts", "reply with repeated keys"),
    _taken("half a surrogate pair", "content with half a surrogate", "\ud800"),
    _taken("an escaped NUL", "content with a NUL", "a\0b"),
    _taken("text that is not UTF-8", "content that is not UTF-8", "\ufffd\ufffd"),
    Row("a reply one byte at a time", {"call": [["write slowly", "reply", 0.001]]}, OK),
    Row(
        "a reply that is early, and work after it",
        {"first": [["answer"], ["sleep", 0.3]]},
        OK,
    ),
    Row(
        "a reply in two halves, with a pause",
        {"first": [["write", "half a reply"], ["sleep", 0.3], ["write", "second half"]]},
        OK,
    ),
    _refused("a reply with both result and error", "result and error", "both result and error"),
    _refused("a reply with neither", "neither result nor error", "neither result nor error"),
    _refused("an error that is text", "error as text", "error is not an object"),
    _refused("an error whose code is a word", "error with a code in words", "no integer code"),
    _refused("another version of JSON-RPC", "reply of another version", "another jsonrpc version"),
    _refused("a result that is an array", "result of a wrong type", "an array, not an object"),
    _refused("content that is a number", "content of a wrong type", "a number, not a string"),
    _refused("NaN", "content with NaN", "NaN"),
    _refused("a number of 100,000 digits", "content of many digits", "digits"),
    _refused("a NUL byte inside a string", "content with a raw NUL", "control character"),
    _refused("5,000 nested arrays", "deep content", "nested deeper than 128"),
    Row(
        "an error of its own",
        {"first": [["write", "error"]]},
        Fails(tinyhost.RemoteError, "it did not work", "its text"),
    ),
    _unheard("5,000 nested arrays before the id", ["write", "deep reply without id"]),
    _unheard("text without a newline before a reply", ["write", "noise without newline"]),
    _unheard("the id as a string", ["write", "reply with the id as a string"]),
    _unheard("the id as a float", ["write", "reply with the id as a float"]),
    _unheard("the id true", ["write", "reply with the id true"]),
    _unheard("the id null", ["write", "reply with the id null"]),
    _unheard("the id in an array", ["write", "reply with the id in an array"]),
    _unheard("a negative id", ["write", "reply with a negative id"]),
    _unheard("an id beyond 64 bits", ["write", "reply with a huge id"]),
    _unheard("no id", ["write", "reply without id"]),
    _unheard("the id of no request", ["write", "reply to an unknown id"]),
    _unheard("a reply in a batch", ["write", "reply in a batch"]),
    _unheard("a reply that is a request, too", ["write", "reply and request in one"]),
    Row(
        "half a reply, then silence",
        {"first": [["write", "half a reply"], FOREVER]},
        NO_ANSWER,
        RESTARTS,
        WEDGED,
        settings=SHORT,
        calls=3,
    ),
    Row(
        "no reply to the first call",
        {"first": [["say nothing"]]},
        NO_ANSWER,
        bound=DEADLINE,
        settings=SHORT,
    ),
    Row(
        "a reply after the deadline",
        {"first": [["sleep", 3.5]]},
        NO_ANSWER,
        bound=Bound("the deadline", 2),
        counts={"late_replies": 1, "timeouts": 1},
        settings={"timeouts": {"tool": "2s"}},
    ),
    Row(
        "progress for ever",
        {
            "manifest": {"protocol": {"progress": True}},
            "first": [["write", "notifications", 5], ["sleep", 0.4]] * 7,
        },
        NO_ANSWER,
        bound=CAP,
        settings={"timeouts": {"tool": "1s", "toolCap": "2s"}},
    ),
    Row(
        "a reply longer than the limit",
        {"first": [["write", "long reply", 100_000]]},
        TOO_LONG,
        settings=SMALL_LINES,
        counts=JUNK,
    ),
    Row(
        "a reply longer than the limit, its id last",
        {"first": [["write", "long reply with its id last", 100_000]]},
        TOO_LONG,
        settings=SMALL_LINES,
        counts=JUNK,
    ),
    Row(
        "a hook answered with an array",
        {"hook": [["write", "result of a wrong type"]]},
        _bad("an array, not an object"),
        act="hook",
    ),
    Row(
        "a hook answered with an error",
        {"hook": [["write", "error"]]},
        Fails(tinyhost.RemoteError, "it did not work", "its text"),
        act="hook",
    ),
]


def _no_load(
    fault: str,
    moment: str,
    *deeds: Sequence[Any],
    match: str,
    words: str = "",
    bound: Bound = AT_ONCE,
    manifest: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row:
    switches: dict[str, Any] = {moment: deeds} if deeds else {}
    if manifest is not None:
        switches["manifest"] = manifest
    return Row(
        fault,
        switches,
        Fails(tinyhost.LoadError, match, words or match),
        LOADS,
        bound,
        "load",
        settings=settings or {},
    )


def _late_load(fault: str, moment: str, *deeds: Sequence[Any], words: str = "") -> Row:
    return _no_load(
        fault,
        moment,
        *deeds,
        match=words or "no answer to initialize",
        bound=DEADLINE,
        settings=SHORT,
    )


def _bad_manifest(fault: str, match: str, **manifest: Any) -> Row:
    return _no_load(fault, "initialize", match=match, manifest=manifest)


def _ends(fault: str, moment: str, status: str, *deeds: Sequence[Any]) -> Row:
    return _no_load(fault, moment, *deeds, match=status, bound=DEATH)


HANDSHAKE = [
    _ends("exit 0 before the handshake", "start", "exited with status 0", ["exit", 0]),
    _ends("exit 7 before the handshake", "start", "exited with status 7", ["exit", 7]),
    _ends("SIGKILL before the handshake", "start", "SIGKILL", ["signal", signal.SIGKILL]),
    _ends("exit 0 in the handshake", "initialize", "exited with status 0", ["exit", 0]),
    _ends("exit 7 in the handshake", "initialize", "exited with status 7", ["exit", 7]),
    _ends("SIGSEGV in the handshake", "initialize", "SIGSEGV", ["signal", signal.SIGSEGV]),
    _ends("an exception in the handshake", "initialize", "a fault of the plugin", ["exception"]),
    _ends(
        "half an answer, then exit 7",
        "initialize",
        "exited with status 7",
        ["write", "half a reply"],
        ["exit", 7],
    ),
    _late_load("no answer to the handshake", "initialize", ["say nothing"]),
    _late_load("nothing is ever read", "start", FOREVER),
    _late_load("stopped by SIGSTOP before the handshake", "start", ["signal", signal.SIGSTOP]),
    _no_load(
        "standard input closed",
        "start",
        ["close", 0],
        FOREVER,
        # It depends on which was first, the close or the request.
        match="no answer to initialize|closed its standard input",
        words="no answer to initialize, or: closed its standard input",
        bound=DEADLINE,
        settings=SHORT,
    ),
    _late_load(
        "text without a newline before the handshake",
        "initialize",
        ["write", "noise without newline"],
        words="standard output is for the protocol alone",
    ),
    _late_load(
        "the handshake's id as a string",
        "initialize",
        ["write", "reply with the id as a string"],
    ),
    _no_load(
        "standard output closed",
        "start",
        ["close", 1],
        FOREVER,
        match="closed its standard output",
        bound=CLOSED,
    ),
    _no_load(
        "all three descriptors closed",
        "start",
        ["close", 0, 1, 2],
        FOREVER,
        match="closed its standard (output|input)",
        words="closed its standard output, or input",
        bound=CLOSED,
    ),
    _no_load(
        "1 MiB without a newline before the handshake",
        "initialize",
        ["write", "endless line", MIB],
        FOREVER,
        match="line longer than 65536",
        settings=SMALL_LINES,
    ),
    _no_load("the handshake refused", "initialize", ["write", "error"], match="it did not work"),
    _no_load(
        "a handshake of a wrong type",
        "initialize",
        ["write", "result of a wrong type"],
        match="an array, not an object",
    ),
    _no_load(
        "a handshake with result and error",
        "initialize",
        ["write", "result and error"],
        match="both result and error",
    ),
    _bad_manifest("tools that are text", "a string, not an array", tools="t"),
    _bad_manifest(
        "two tools of one name", "two tools named 't'", tools=[{"name": "t"}, {"name": "t"}]
    ),
    _bad_manifest(
        "a tool with an impossible name", "letters, digits", tools=[{"name": "../../etc/passwd"}]
    ),
    _bad_manifest("a hook that is a number", "not the name of a hook", hooks=[3]),
    _bad_manifest("a concurrency of 0", "not a whole number", protocol={"concurrency": 0}),
    Row(
        "two answers to the handshake", {"initialize": [["write", "reply twice"]]}, OK, counts=JUNK
    ),
]


def _wedges(fault: str, *deeds: Sequence[Any], moment: str = "call", **more: Any) -> Row:
    """The plugin goes on living and does not answer: three calls, and it is given up."""
    more = {"expect": UNSENT, **more}
    return Row(fault, {moment: deeds}, then=RESTARTS, bound=WEDGED, settings=SHORT, calls=3, **more)


STUCK = [
    _wedges("a call is never answered", FOREVER),
    _wedges("nothing is read after the handshake", FOREVER, moment="ready"),
    _wedges(
        "nothing is read, and the request is larger than the pipe",
        FOREVER,
        moment="ready",
        args="x" * 500_000,
    ),
    _wedges("stopped by SIGSTOP in a call", ["signal", signal.SIGSTOP]),
    _wedges("all processor time is used in a call", ["spin", 600]),
    _wedges("standard input handed to a grandchild", ["hand over", 0], FOREVER, moment="ready"),
    _wedges("standard output handed to a grandchild", ["hand over", 1], FOREVER),
    _wedges("another program takes its place", ["become", "sleep", "600"]),
    Row(
        "standard input closed in the handshake, which is answered",
        {"initialize": [["close", 0]], "ready": [FOREVER]},
        Fails(tinyhost.PluginDied, "closed its standard input"),
        RESTARTS,
        CLOSED,
    ),
    Row(
        "standard output closed in a call",
        {"call": [["close", 1], FOREVER]},
        _lost("closed its standard output"),
        RESTARTS,
        CLOSED,
    ),
    Row("standard error closed", {"start": [["close", 2]]}, OK),
    Row(
        "a hook is never answered",
        {"hook": [FOREVER]},
        NO_ANSWER,
        RESTARTS,
        WEDGED,
        "hook",
        settings=SHORT,
        calls=3,
    ),
]


def _dies(fault: str, status: str, *deeds: Sequence[Any], moment: str = "call") -> Row:
    return Row(fault, {moment: deeds}, _lost(status), RESTARTS, DEATH, counts={"deaths": 1})


# Each signal that ends a process by default, and one without a name.
SIGNALS = [
    *("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2"),
    *("PIPE", "ALRM", "TERM", "STKFLT", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS"),
]

DYING = [
    *(
        _dies(
            f"SIG{name} in a call",
            rf"was killed by SIG{name}",
            ["signal", getattr(signal, f"SIG{name}", None)],
        )
        for name in SIGNALS
        if hasattr(signal, f"SIG{name}")
    ),
    _dies("a real-time signal in a call", "was killed by signal 40", ["signal", 40]),
    _dies("exit 0 in a call", "exited with status 0", ["exit", 0]),
    _dies("exit 7 in a call", "exited with status 7", ["exit", 7]),
    _dies(
        "exit 7 with words on standard error", "out of luck", ["log", "out of luck"], ["exit", 7]
    ),
    _dies("an exception in a call", "a fault of the plugin", ["exception"]),
    _dies("out of memory, under a limit", "MemoryError", ["out of memory", 256 * MIB]),
    _dies("half a reply, then exit 7", "status 7", ["write", "half a reply"], ["exit", 7]),
    _dies("SIGTERM to its own process group", "SIGTERM", ["signal", signal.SIGTERM, "group"]),
    _dies("another program takes its place and ends", "exited with status 0", ["become", "true"]),
    _dies("its program is removed, then exit 7", "status 7", ["unlink"], ["exit", 7]),
    Row(
        "the limit on processor time",
        {"call": [["use up cpu", 1]]},
        _lost("SIGXCPU"),
        RESTARTS,
        Bound("the limit + 1 s", 2),
        counts={"deaths": 1},
    ),
    Row(
        "exit 7 after the handshake",
        {"ready": [["sleep", 0.2], ["exit", 7]]},
        Fails(tinyhost.PluginDied, "status 7"),
        RESTARTS,
        DEATH,
    ),
    Row(
        "exit 7 in a hook",
        {"hook": [["exit", 7]]},
        Fails(tinyhost.PluginDied, "status 7"),
        RESTARTS,
        DEATH,
        "hook",
    ),
    Row("exit 0 after an answer", {"answered": [["exit", 0]]}, OK, RESTARTS, counts={"deaths": 1}),
    Row(
        "a reply without a newline, then exit 7",
        {"call": [["write", "reply without newline"], ["exit", 7]]},
        OK,
        RESTARTS,
        DEATH,
    ),
]


def _stops(fault: str, **switches: Any) -> Row:
    return Row(fault, switches, Stops(), ENDS, GRACES, "stop")


TERM_IGNORED = ["ignore", signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
DISPOSE = {"hooks": ["dispose"]}

STOPPING = [
    _stops("end-of-file ignored", end=[FOREVER]),
    _stops("end-of-file and SIGTERM ignored", start=[TERM_IGNORED], end=[FOREVER]),
    _stops("stopped by SIGSTOP when it is to end", ready=[["signal", signal.SIGSTOP]]),
    _stops("nothing is read", ready=[FOREVER]),
    _stops("all processor time is used", start=[TERM_IGNORED], ready=[["spin", 600]]),
    _stops("standard output closed at the end", end=[["close", 1], FOREVER]),
    _stops("exit 7 at the end", end=[["exit", 7]]),
    _stops("200,000 notifications at the end", end=[["write", "notifications", 200_000]]),
    _stops("20 MiB on standard error at the end", end=[["flood stderr", 20 * MIB, 80]]),
    _stops("dispose is never answered", manifest=DISPOSE, hook=[TERM_IGNORED, FOREVER]),
    _stops("exit 7 in dispose", manifest=DISPOSE, hook=[["exit", 7]]),
    _stops("dispose answered with junk", manifest=DISPOSE, hook=[["write", "result and error"]]),
]


HELD = ["holds 0", "holds 1", "holds 2"]


def _child(fault: str, *traits: str) -> Row:
    return _stops(f"a child {fault}", start=[["child", *traits]])


def _orphans(fault: str, *deeds: Sequence[Any]) -> Row:
    return Row(
        f"{fault}, then exit 7",
        {"call": [*deeds, ["exit", 7]]},
        _lost("status 7"),
        RESTARTS,
        DEATH,
    )


CHILDREN = [
    _child("in its group"),
    _child("in its group that ignores signals", "deaf"),
    _child("in its group without its environment", "wipe"),
    _child("in a session of its own", "session"),
    _child("in a session of its own that ignores signals", "session", "deaf"),
    _child("that was forked twice", "double fork"),
    _child("that holds all its descriptors", "session", *HELD),
    _stops("40 children", start=[["multiply", 40]]),
    _stops("a child that moves on from session to session", start=[["chain", 1500]]),
    _orphans("a child holds standard output", ["child", "session", "holds 1"]),
    _orphans("a child holds standard error", ["child", "session", "holds 2"]),
    _orphans("a child forked twice holds all three", ["child", "double fork", *HELD]),
    _orphans("a child in its group holds all three", ["child", *HELD]),
    _orphans("standard output handed over", ["hand over", 1]),
    _orphans("all descriptors handed over", ["hand over", 0, 1, 2]),
    _orphans("40 children", ["multiply", 40]),
]


def _flood(fault: str, moment: str, size: int, line: int) -> Row:
    return Row(
        f"{fault} on standard error",
        {moment: [["flood stderr", size, line]]},
        OK,
        counts={"stderr_dropped": 1},
    )


FLOODS = [
    _beside("50,000 lines of junk", "call", "junk lines", 50_000, counts={"junk_lines": 50_000}),
    _beside(
        "200,000 notifications",
        "first",
        "notifications",
        200_000,
        counts={"notifications": 200_000},
    ),
    Row(
        "a line of 12 MiB beside the reply",
        {"first": [["write", "long line", 12 * MIB]]},
        TOO_LONG,
        counts=JUNK,
    ),
    Row(
        "40 MiB on standard output without a newline",
        {"first": [["write", "endless line", 40 * MIB], ["exit", 7]]},
        TOO_LONG,
        RESTARTS,
        counts=JUNK,
    ),
    _flood("30 MiB without a newline", "first", 30 * MIB, 0),
    _flood("30 MiB in lines of 80 bytes", "first", 30 * MIB, 80),
    _flood("10 MiB of newlines", "first", 10 * MIB, 1),
    _flood("30 MiB before the handshake", "start", 30 * MIB, 80),
]


def _guard(fault: str, *deeds: Sequence[Any], skip: bool = False) -> Row:
    settings = {**SHORT, "onGuardFailure": "skip" if skip else "ask"}
    refused = Fails(tinyhost.CallDenied, "rogue", "the failed guard is named")
    expect = OK if skip else refused
    then = "the call was made" if skip else "the call was not made"
    return Row(fault, {"hook": deeds}, expect, then, DEADLINE, "guard", settings=settings)


GUARDS = [
    _guard("a guard dies, and nobody can be asked", ["exit", 7]),
    _guard("a guard does not answer, and nobody can be asked", FOREVER),
    _guard(
        "a guard answers nonsense, and nobody can be asked", ["write", "result of a wrong type"]
    ),
    _guard("a guard answers with an error, and nobody can be asked", ["write", "error"]),
    _guard("a guard closes its output, and nobody can be asked", ["close", 1], FOREVER),
    _guard('a guard dies, with `"onGuardFailure": "skip"`', ["exit", 7], skip=True),
]

GROUPS: Mapping[str, Sequence[Row]] = {
    "What it writes": WRITING,
    "The handshake": HANDSHAKE,
    "Stuck": STUCK,
    "Dying": DYING,
    "Stopping it": STOPPING,
    "Children": CHILDREN,
    "Floods": FLOODS,
    "Guards": GUARDS,
}
ROWS = [row for rows in GROUPS.values() for row in rows]


def table() -> str:
    """The matrix in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    for title, rows in GROUPS.items():
        yield f"\n### {title}\n\n| fault | outcome | bound |\n| --- | --- | --- |"
        for row in rows:
            yield f"| {row.fault} | {row.outcome} | {row.bound.words} |"
    yield ""


def rendered(page: str) -> str:
    """The page with the table between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text()))
