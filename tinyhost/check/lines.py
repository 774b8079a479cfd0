"""Checks of how the plugin reads lines and writes them: whole, in pieces, long, late."""

from __future__ import annotations

import contextlib
import fcntl

import trio

from tinyhost_sdk import names

from .calls import samples
from .case import Case
from .model import Failed, Skipped

# Nothing in these asks for an effect, or can be taken for a request that has one.
_MALFORMED = (
    b"this is not JSON\n",
    b"{\n",
    b"\n",
    b"null\n",
    b'"text"\n',
    b"[]\n",
    b'{"jsonrpc":"2.0"}\n',
    b'{"jsonrpc":"2.0","id":{},"method":7}\n',
    b'{"jsonrpc":"2.0","id":900001,"result":null}\n',
    b"\xff\xfe\x80\n",
    b"[" * 5000 + b"\n",
)
_PIPE = 64 * names.KIB
_LONGEST = 10 * names.MIB  # that is tried, whatever the plugin announces
_BIG_ANSWER = 6.0  # seconds
_LATE = 0.3  # seconds in which the host does not read
_SLOW_REPLIES = 200
_SMALL_PIPE = 4096
_BYTE_PAUSE = 0.001
_AT_ONCE = 5


async def malformed(case: Case) -> str:
    """Lines that are not requests end nothing."""
    await case.start()
    for line in _MALFORMED:
        await case.write(line)
    await case.still_answers("lines that are no requests")
    return f"{len(_MALFORMED)} survived"


async def crlf(case: Case) -> str:
    """A line may end in CR LF."""
    await case.start()
    id, frame = case.ping_frame()
    await case.send(frame[:-1] + b"\r\n", id, "a request that ends in CR LF")
    return ""


async def one_write(case: Case) -> str:
    """Several requests may arrive together."""
    await case.start()
    frames = [case.ping_frame() for _ in range(_AT_ONCE)]
    await case.write(b"".join(frame for _, frame in frames))
    for number, (id, _) in enumerate(frames, 1):
        what = f"request {number} of {_AT_ONCE} that came in one piece"
        await case.receive(id, what)
    return f"{_AT_ONCE} answered"


async def slow_writer(case: Case) -> str:
    """A request may arrive byte by byte, and so may its characters."""
    await case.start()
    method, params = case.known_ping()
    if params == "{}":
        params = '{"note":"é漢😀"}'
    id, frame = case.request(method, params)
    seconds = case.patience + 20 * _BYTE_PAUSE * len(frame)
    what = "a request that came byte by byte"
    await case.send(frame, id, what, pause=_BYTE_PAUSE, seconds=seconds)
    return f"{len(frame)} pieces"


async def slow_reader(case: Case) -> str:
    """No answer is lost when the host reads late."""
    session = await case.start()
    with contextlib.suppress(OSError, AttributeError):  # elsewhere the pipe keeps its size
        fcntl.fcntl(session.process.from_plugin, fcntl.F_SETPIPE_SZ, _SMALL_PIPE)
    await case.ping()
    session.pause()
    frames = [case.ping_frame() for _ in range(_SLOW_REPLIES)]

    async def write_all() -> None:
        with contextlib.suppress(Failed):  # seen below, as answers that are missing
            await case.write(b"".join(frame for _, frame in frames))

    case.spawn_task(write_all)
    await trio.sleep(_LATE)
    session.reading.set()
    for number, (id, _) in enumerate(frames, 1):
        await case.receive(id, f"request {number} of {_SLOW_REPLIES}, read late")
    return f"{_SLOW_REPLIES} answers, none lost"


async def big_line(case: Case) -> str:
    """It reads lines as long as it says."""
    session = await case.start()
    longest = min(case.max_line, _LONGEST)
    for size in sorted({min(_PIPE + 1000, longest), longest}):
        id = session.next_id()
        method, params = case.driver.call_nothing('{"text":"@FILL@"}')
        frame = case.request(method, params, id)[1]
        fill = b"x" * (size - len(frame) + len(b"@FILL@"))
        what = f"a request line of {size} bytes"
        await case.send(frame.replace(b"@FILL@", fill), id, what, seconds=_BIG_ANSWER)
    await case.ask(*case.driver.call_nothing())
    return f"{longest} bytes"


async def concurrency(case: Case) -> str:
    """As many requests as it announced are answered, each once."""
    count = min(case.manifest.concurrency, 64)
    if count < 2:
        raise Skipped("it takes one request at a time")
    session = await case.start()
    frames = [_hook_or_ping(case, number) for number in range(count)]
    for _, frame in frames:
        await case.write(frame)
    for number, (id, _) in enumerate(frames, 1):
        await case.receive(
            id, f"request {number} of {count} side by side", seconds=2 * case.patience
        )
    await case.ping()
    doubled = [stray for stray in session.strays if stray.startswith("a second answer")]
    if doubled:
        raise Failed(doubled[0])
    return f"{count} side by side"


def _hook_or_ping(case: Case, number: int) -> tuple[int, bytes]:
    """Requests of two kinds in turn, as they take different ways through a plugin."""
    hook = names.PERMISSION_ASK
    if number % 2 or hook not in case.manifest.hooks or case.target.dialect != "native":
        return case.ping_frame()
    assert case.session is not None
    params = {"name": hook, "input": samples(case.link.directory)[hook]}
    return case.request(names.HOOK_INVOKE, case.params(params))
