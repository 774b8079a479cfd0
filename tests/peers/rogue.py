"""One plugin that misbehaves on purpose, by switches.

A file beside the program, `<program>.json`, says what goes wrong when:

    {"call": [["write", "half a line"], ["exit", 7]], "manifest": {"hooks": ["dispose"]}}

Each moment has a list of deeds, and each deed is a name of `DEEDS` with its arguments. In
between the plugin does what is right: it answers initialize, tools and hooks with "ok"
until its input ends. A deed at the moments "initialize", "call" or "hook" that writes a
reply, or what stands for one, takes the place of the right answer; `["answer"]` gives it.
Children's numbers are written to `<program>.pids`, one a line.
"""

import json
import os
import signal
import time

# When a deed can be done. "first" is the first call only.
MOMENTS = {
    "start": "before anything is read",
    "initialize": "the handshake's request has been read",
    "ready": "the handshake has been answered",
    "first": "the first call has been read",
    "call": "a call has been read",
    "hook": "a hook has been read",
    "answered": "a call has been answered",
    "end": "the input has ended",
}

_switches = {}
_program = ""
_buffer = b""
_answered = False  # a deed has taken the place of the answer


def main(program):
    global _switches, _program
    _program = program
    with open(program + ".json") as file:  # noqa: PTH123
        _switches = json.load(file)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _do("start", None)
    _serve()
    _do("end", None)


def _serve():
    calls = 0
    while (request := _recv()) is not None:
        method = request["method"]
        if method == "initialize":
            _respond(request, ["initialize"])
            _do("ready", None)
        elif method == "tool/call":
            calls += 1
            _respond(request, ["first", "call"] if calls == 1 else ["call"])
            _do("answered", request)
        elif method == "hook/invoke":
            _respond(request, ["hook"])


def _respond(request, moments):
    global _answered
    _answered = False
    for moment in moments:
        _do(moment, request)
    if not _answered:
        answer(request)


def _do(moment, request):
    for name, *arguments in _switches.get(moment, ()):
        DEEDS[name](request, *arguments)


def _recv():
    global _buffer
    while b"\n" not in _buffer:
        try:
            data = os.read(0, 65536)
        except OSError:
            return None
        if not data:
            return None
        _buffer += data
    line, _, _buffer = _buffer.partition(b"\n")
    return json.loads(line)


# --- what is written: a function of the request and an argument gives the bytes


def _result(request):
    if request["method"] == "initialize":
        manifest = {"id": "rogue", "tools": [{"name": "t"}], "hooks": ["permission.ask", "custom"]}
        manifest.update(_switches.get("manifest", {}))
        return manifest
    if request["method"] == "hook/invoke":
        return {"output": "ok"}
    return {"content": "ok"}


def _line(**members):
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def _reply(request, _=None):
    return _line(id=request["id"], result=_result(request))


def _with_id(make):
    def shape(request, _=None):
        return _line(id=make(request["id"]), result=_result(request))

    return shape


def _content(text):
    """A reply whose content is raw text, in JSON or not."""

    def shape(request, _=None):
        head = b'{"jsonrpc":"2.0","id":%d,"result":{"content":' % request["id"]
        return head + text + b"}}\n"

    return shape


def _error(**members):
    def shape(request, _=None):
        return _line(id=request["id"], **members)

    return shape


def _notifications(request, count):
    id = 0 if request is None else request["id"]
    params = {"id": id, "message": "step"}
    line = json.dumps({"method": "tool/progress", "params": params}).encode() + b"\n"
    return line * count


def _calls_host(request, _=None):
    return _line(id=request["id"], method="tool/call", params={"name": "t", "args": None})


SHAPES = {
    "reply": _reply,
    "reply twice": lambda request, _: _reply(request) * 2,
    "reply to the next request": _with_id(lambda number: number + 1),
    "reply to an unknown id": _with_id(lambda number: number + 1_000_000),
    "reply with a negative id": _with_id(lambda number: -number),
    "reply with a huge id": _with_id(lambda number: number + 2**80),
    "reply with the id as a string": _with_id(str),
    "reply with the id as a float": _with_id(float),
    "reply with the id true": _with_id(lambda number: True),
    "reply with the id null": _with_id(lambda number: None),
    "reply with the id in an array": _with_id(lambda number: [number]),
    "reply without id": lambda request, _: _line(result=_result(request)),
    "reply without newline": lambda request, _: _reply(request)[:-1],
    "half a reply": lambda request, _: _reply(request)[:20],
    "second half": lambda request, _: _reply(request)[20:],
    "reply with CRLF": lambda request, _: _reply(request)[:-1] + b"\r\n",
    "reply after a BOM": lambda request, _: b"\xef\xbb\xbf" + _reply(request),
    "reply after white space": lambda request, _: b" \t \n\n  " + _reply(request),
    "reply in a batch": lambda request, _: b"[" + _reply(request)[:-1] + b"]\n",
    "reply with repeated keys": lambda request, _: (
        b'{"id":77,"result":{"content":"no"},"id":%d,"result":{"content":"ok"}}\n' % request["id"]
    ),
    "reply and request in one": lambda request, _: _line(
        id=request["id"], method="tool/call", result=_result(request)
    ),
    "reply of another version": lambda request, _: _reply(request).replace(b'"2.0"', b'"1.0"'),
    "result and error": _error(result={}, error={"code": 1, "message": "both"}),
    "neither result nor error": _error(),
    "error": _error(error={"code": -32000, "message": "it did not work"}),
    "error as text": _error(error="it did not work"),
    "error with a code in words": _error(error={"code": "E1", "message": "no"}),
    "result of a wrong type": _error(result=[1, 2]),
    "content of a wrong type": _error(result={"content": 3}),
    "content with NaN": _content(b"NaN"),
    "content with half a surrogate": _content(b'"\\ud800"'),
    "content with a NUL": _content(b'"a\\u0000b"'),
    "content that is not UTF-8": _content(b'"\xff\xfe"'),
    "content with a raw NUL": _content(b'"a\0b"'),
    "content of many digits": _content(b"9" * 100_000),
    "deep content": _content(b"[" * 5000 + b"]" * 5000),
    "deep reply without id": lambda request, _: b'{"result":' + b"[" * 5000 + b"\n",
    "noise": lambda request, _: b"Loading model... 100%\n",
    "noise without newline": lambda request, _: b"Loading model... ",
    "NUL bytes": lambda request, _: b"\0" * 1000 + b"\n",
    "bytes that are not UTF-8": lambda request, _: b"\xff\xfe\x80" * 50 + b"\n",
    "escape sequences": lambda request, _: b"\x1b[2J\x1b]0;owned\x07\n",
    "empty lines": lambda request, count: b"\n" * count,
    "junk lines": lambda request, count: b"x\n" * count,
    "long line": lambda request, size: b"x" * size + b"\n",
    "endless line": lambda request, size: b"x" * size,
    "long reply": lambda request, size: _content(b'"' + b"y" * size + b'"')(request),
    "long reply with its id last": lambda request, size: (
        b'{"result":{"content":"' + b"y" * size + b'"},"id":%d}\n' % request["id"]
    ),
    "notifications": _notifications,
    "request of its own": _calls_host,
    "notification of its own": lambda request, _: _line(method="window/show", params={}),
}
# What takes the place of the right answer; the rest is written besides.
_BESIDES = {"noise", "noise without newline", "NUL bytes", "bytes that are not UTF-8"}
_BESIDES |= {"escape sequences", "empty lines", "junk lines", "long line", "endless line"}
_BESIDES |= {"notifications", "request of its own", "notification of its own"}
_BESIDES |= {"reply to the next request"}


def write(request, shape, argument=None, *, pace=None):
    """Write one of `SHAPES`; pace: seconds to wait after each byte."""
    global _answered
    _answered = _answered or shape not in _BESIDES
    _write_all(1, SHAPES[shape](request, argument), pace)


def write_slowly(request, shape, pause):
    """One byte at a time."""
    write(request, shape, pace=pause)


def _write_all(fd, data, pace=None):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:1] if pace is not None else view) :]
        if pace:
            time.sleep(pace)


def answer(request):
    """The right answer, now; what follows happens after it."""
    global _answered
    _answered = True
    _write_all(1, _reply(request))


def say_nothing(request):
    """No answer, and on to the next request."""
    global _answered
    _answered = True


# --- time, signals, descriptors


def sleep(request, seconds):
    time.sleep(seconds)


def spin(request, seconds):
    """Use the processor."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def ignore(request, *numbers):
    """Ignore signals."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def close(request, *fds):
    for fd in fds:
        os.close(fd)


def hand_over(request, *fds):
    """Give descriptors to a child in a session of its own, and close one's own."""
    _start(["session"], fds)
    for fd in fds:
        os.close(fd)


def flood_stderr(request, size, line):
    """Write so many bytes to standard error, in lines of a length; 0: no newline at all."""
    block = b"e" * 65536 if line == 0 else (b"e" * (line - 1) + b"\n") * (65536 // line)
    while size > 0:
        _write_all(2, block[:size])
        size -= len(block)


def log(request, text):
    _write_all(2, text.encode() + b"\n")


def unlink(request):
    """Remove one's own program."""
    os.unlink(_program)  # noqa: PTH108


# --- dying


def exit_with(request, status):
    os._exit(status)


def raise_signal(request, number, to="self"):
    """Send a signal to oneself or to the whole process group."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP) and number < signal.SIGRTMIN:
        signal.signal(number, signal.SIG_DFL)
    os.kill(0 if to == "group" else os.getpid(), number)


def run_out_of_memory(request, limit):
    """Allocate more than the limit, in bytes, that it sets itself."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    blocks = []
    while True:
        blocks.append(bytearray(1024 * 1024))


def use_up_cpu(request, seconds):
    """Spin until the limit on processor time, set by oneself, ends it."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    while True:
        pass


def raise_exception(request):
    raise RuntimeError("a fault of the plugin")


def become(request, *command):
    """Replace oneself by another program."""
    os.execvp(command[0], command)


# --- children


TRAITS = {
    "session": "in a session of its own",
    "double fork": "in a session of its own, and nobody's child",
    "wipe": "without its environment",
    "deaf": "ignores signals",
    "holds 0": "keeps standard input open",
    "holds 1": "keeps standard output open",
    "holds 2": "keeps standard error open",
}


def start_child(request, *traits):
    """Start a child that lives on.

    See `TRAITS`; the descriptors that it does not hold are closed.
    """
    _start(traits, [fd for fd in (0, 1, 2) if f"holds {fd}" in traits])


def chain(request, links):
    """Start a process that moves on to a new child and session again and again."""
    if os.fork():
        return
    _leave_descriptors(())
    for _ in range(links):
        os.setsid()
        if os.fork():
            os._exit(0)
        _note_pid()
        time.sleep(0.0005)
    time.sleep(600)
    os._exit(0)


def multiply(request, count):
    """Start many children at once."""
    for _ in range(count):
        _start((), ())


def _start(traits, keep):
    read_end, write_end = os.pipe()
    if os.fork():
        os.close(write_end)
        os.read(read_end, 1)  # until the child is what it is to be
        os.close(read_end)
        return
    if "session" in traits or "double fork" in traits:
        os.setsid()
    if "double fork" in traits and os.fork():
        os._exit(0)
    if "deaf" in traits:
        ignore(None, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    _note_pid()
    _leave_descriptors(keep)
    if "wipe" in traits:
        os.execve("/bin/sleep", ["sleep", "600"], {})
    time.sleep(600)
    os._exit(0)


def _note_pid():
    with open(_program + ".pids", "a") as file:  # noqa: PTH123
        file.write(f"{os.getpid()}\n")


def _leave_descriptors(keep):
    for fd in range(256):
        if fd not in keep:
            try:
                os.close(fd)
            except OSError:
                pass


DEEDS = {
    "write": write,
    "write slowly": write_slowly,
    "answer": answer,
    "say nothing": say_nothing,
    "sleep": sleep,
    "spin": spin,
    "ignore": ignore,
    "close": close,
    "hand over": hand_over,
    "flood stderr": flood_stderr,
    "log": log,
    "unlink": unlink,
    "exit": exit_with,
    "signal": raise_signal,
    "out of memory": run_out_of_memory,
    "use up cpu": use_up_cpu,
    "exception": raise_exception,
    "become": become,
    "child": start_child,
    "chain": chain,
    "multiply": multiply,
}
