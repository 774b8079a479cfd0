"""What else happens to a running host: clients that die or talk nonsense, plugins that are killed, loaded and
unloaded, configurations that change.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable

import trio

from tinyhost import runtime

from .clients import LOST, SocketClient
from .service import configuration
from .traffic import Load, http_end, socket_end
from .watch import is_plugin_process

PASSING = ["q0", "q1", "q2", "q3"]  # plugins that come and go
_LINE_MAX, _BODY_MAX, _HEAD_MAX = 16 * 1024 * 1024, 10 * 1024 * 1024, 32 * 1024
_NONSENSE = (
    b"\n\n\n",
    b"{\n",
    b"\xff\xfe\x00\n",
    b"[]\n[1,2]\nnull\n",
    b'{"jsonrpc":"2.0","id":true,"method":"host/status"}\n',
    b'{"jsonrpc":"2.0","id":7,"result":1}\n',
    b'{"jsonrpc":"2.0","id":8,"method":"tool/call","params":[1]}\n',
    b'{"jsonrpc":"2.0","id":9,"method":"tool/call","params":{"tool":7,"args":"x"}}\n',
    b'{"jsonrpc":"2.0","id":10,"method":"host/nothing"}\n',
    b'{"jsonrpc":"2.0","id":11,"method":"hook/invoke","params":{"hook":"tell","input":'
    + b"[" * 500
    + b"]" * 500
    + b"}}\n",
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}}\n',
)


async def repeat(load: Load, pause: float, what: Callable[[Load], Awaitable[None]]) -> None:
    """Do something again and again, until all is over."""
    while not load.over:
        try:
            await what(load)
        except LOST:
            load.measures["trouble cut off"] += 1
        await trio.sleep(pause * 2 * load.chance.random())


# --- clients


async def die_on_socket(load: Load) -> None:
    """Ask for much and be gone, in the midst of a line."""
    with runtime.Address(load.service.path) as address:
        stream = await trio.open_unix_socket(address)
    async with stream:
        for number in range(load.chance.randrange(1, 20)):
            name = load.chance.choice(load.steady)
            args = {"token": load.token(), "deed": load.deed() or "slow"}
            params = {"tool": f"plugin__{name}__do", "args": args}
            message = {"jsonrpc": "2.0", "id": number, "method": "tool/call", "params": params}
            await stream.send_all(json.dumps(message).encode() + b"\n")
        await stream.send_all(b'{"jsonrpc":"2.0","id":99,"method":"host/st')
        await trio.sleep(load.chance.random() * 0.05)
    load.measures["clients died"] += 1


async def die_on_http(load: Load) -> None:
    """Ask for something, or half of it, and be gone."""
    path = f"/tool/plugin__{load.chance.choice(load.steady)}__do/call"
    async with load.service.http(load.status) as client:
        with trio.move_on_after(load.chance.random() * 0.05):
            body = {"args": {"token": load.token(), "deed": load.deed() or "slow"}}
            await client.request("POST", path, body)
    async with await trio.open_tcp_stream("127.0.0.1", client.port) as stream:
        await stream.send_all(b"POST " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConte")
    load.measures["clients died"] += 2


async def talk_nonsense(load: Load) -> None:
    """Whatever was sent before, a proper request is answered."""
    async with SocketClient.opened(load.service.path) as client:
        for _ in range(5):
            await client.stream.send_all(load.chance.choice(_NONSENSE))
            await client.stream.send_all(load.chance.randbytes(100).replace(b"\n", b"") + b"\n")
        if load.chance.random() < 0.05:
            await client.stream.send_all(b'{"jsonrpc":"2.0","id":"' + b"x" * _LINE_MAX + b'"}\n')
            load.measures["oversize"] += 1
        kind, _ = socket_end(await client.request("host/status", {}))
        load.measures["nonsense" if kind == "answered" else "nonsense: no answer"] += 1


async def talk_nonsense_by_http(load: Load) -> None:
    """What no server should take is refused with the right status, or the connection closed."""
    port = load.service.http(load.status).port
    host = b"Host: 127.0.0.1:%d\r\n" % port
    sent, wanted = load.chance.choice(
        (
            (b"\xff" + load.chance.randbytes(200) + b"\r\n\r\n", b"400"),
            (b"GET / HTTP/2\r\n" + host + b"\r\n", b"400"),
            (b"GET / HTTP/1.1\r\n\r\n", b"400"),
            (b"GET /status HTTP/1.1\r\n" + host + b"\r\n", b"401"),
            (b"GET /health HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", b"421"),
            (b"GET /health HTTP/1.1\r\n" + host + b"X: " + b"x" * _HEAD_MAX, b"431"),
            (
                b"POST /reload HTTP/1.1\r\n"
                + host
                + b"Content-Length: %d\r\n\r\n" % (_BODY_MAX + 1),
                b"413",
            ),
        )
    )
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(sent)
        answer = b""
        with trio.move_on_after(60):
            while b"\r\n\r\n" not in answer and (more := await stream.receive_some()):
                answer += more
    right = answer.startswith(b"HTTP/1.1 " + wanted)
    load.measures["nonsense" if right else f"nonsense: {wanted!r} was {answer[:20]!r}"] += 1


async def run_command(load: Load) -> None:
    """A whole `tinyhost` process that attaches."""
    program = [sys.executable, "-m", "tinyhost_cli.entry"]

    async def ask(name: str, token: str) -> tuple[str, str]:
        args = json.dumps({"token": token})
        words, said = load.chance.choice(
            (
                (["tool", "call", f"plugin__{name}__do", "--args", args, "--json"], ""),
                (["hook", "invoke", "tell", "--input", args, "--plugin", name, "--json"], ""),
                (["run", "--", "echo", f"{name} {token}"], ""),
                (["status", "--json"], f"{name} {token}"),
            )
        )
        done = await trio.run_process(
            [*program, *words],
            cwd=load.service.place.root,
            env=dict(load.service.place.environ),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        load.measures["commands"] += 1
        text = done.stdout.decode()
        if done.returncode == 0:
            return "answered", said if said and json.loads(text)[
                "pid"
            ] == load.service.pid else text
        return ("fault" if b"Traceback" in done.stderr else "command failed"), ""

    await load.count(ask)


# --- plugins and configurations


async def change_plugin(load: Load) -> None:
    """Load, unload or restart one that comes and goes, whatever others do with it."""
    name, what = load.chance.choice(PASSING), load.chance.choice(("load", "unload", "restart"))
    if load.chance.random() < 0.5:
        async with SocketClient.opened(load.service.path) as client:
            params = {"names": [name]} if what == "load" else {"plugin": name}
            kind, _ = socket_end(await client.request(f"plugin/{what}", params))
    else:
        path = f"/plugin/{name}/restart" if what == "restart" else f"/plugin/{what}"
        body = {"load": {"name": name}, "unload": {"id": name}}.get(what)
        async with load.service.http(load.status) as http:
            kind, _ = http_end(await http.request("POST", path, body))
    load.measures[f"{what}: {kind}"] += 1


async def change_configuration(load: Load) -> None:
    """Write another one, and have it read in one of three ways."""
    plugins = [*load.steady, *(name for name in PASSING if load.chance.random() < 0.5)]
    text = configuration(plugins)
    draw = load.chance.random()
    if draw < 0.1:
        text = text[:-10]  # not JSON
    elif draw < 0.3:
        changed = json.loads(text)
        changed["settings"][load.chance.choice(plugins)] = {"env": {"N": load.token()}}
        text = json.dumps(changed)
    load.service.place.write_config(text)
    how = load.chance.choice(("SIGHUP", "socket", "HTTP"))
    kind = ""
    if how == "SIGHUP":
        load.service.signal(signal.SIGHUP)
    elif how == "socket":
        async with SocketClient.opened(load.service.path) as client:
            kind, _ = socket_end(await client.request("host/reload", {}))
    else:
        async with load.service.http(load.status) as http:
            kind, _ = http_end(await http.request("POST", "/reload"))
    load.measures[f"reload by {how}{': ' if kind else ''}{kind}"] += 1


async def kill_plugin(load: Load) -> None:
    """End or stop the process of one of them."""
    async with SocketClient.opened(load.service.path) as client:
        answer = await client.request("plugin/list", {})
    if answer is None or "result" not in answer:
        return
    pids = [one["pid"] for one in answer["result"]["plugins"] if one["pid"]]
    pid = load.chance.choice(pids)
    number = load.chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM))
    if is_plugin_process(pid, load.service.place.root):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            load.measures[f"plugin {number.name}"] += 1


async def revive_plugins(load: Load) -> None:
    """The person's answer to plugins that wait for one."""
    async with SocketClient.opened(load.service.path) as client:
        answer = await client.request("plugin/list", {})
        if answer is None or "result" not in answer:
            return
        for one in answer["result"]["plugins"]:
            if one["state"] == "failed":
                kind, _ = socket_end(await client.request("plugin/restart", {"plugin": one["id"]}))
                load.measures[f"revive: {kind}"] += 1
