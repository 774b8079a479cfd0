"""Checks of how the plugin ends, and of what it leaves."""

from __future__ import annotations

from tinyhost_sdk import names

from .. import process_tree
from ..errors import PluginError
from .case import Case, reported
from .model import Failed, Skipped, Verdict, Warned
from .session import Session

_SHOWN = 3


async def end_of_file(case: Case) -> str:
    """It ends when its input does."""
    session = await case.start()
    await _end(case, session)
    return session.status()


async def _end(case: Case, session: Session) -> None:
    session.close_input()
    grace = case.timeouts.stop
    if not await session.exited(grace):
        case.known.lingers = True
        raise Failed(f"it still runs {grace:g} s after its input has ended")


async def exit_status(case: Case) -> str:
    """An end that was asked for has the status 0."""
    session = await case.start()
    with_goodbye = await _goodbye(case)
    await _end_or_skip(case, session)
    status = session.status()
    if session.process.returncode != 0:
        said = session.stderr.decode(errors="replace").strip()[-300:]
        raise Failed(f"{status}; its standard error ends: {said}" if said else status)
    return "after a goodbye" if with_goodbye else "after end-of-file"


async def _goodbye(case: Case) -> bool:
    assert case.session is not None
    before = len(case.session.sent)
    try:
        await case.dialect.goodbye(case.link, case.timeouts.stop)
    except (PluginError, ValueError):
        return False  # that is another check's
    return len(case.session.sent) > before


async def _end_or_skip(case: Case, session: Session) -> None:
    try:
        await _end(case, session)
    except Failed as error:
        raise Skipped(error.text) from error


async def goodbye(case: Case) -> str:
    """It takes its leave when it is asked to."""
    session = await case.start()
    before = len(session.sent)
    with reported():
        await case.dialect.goodbye(case.link, case.timeouts.stop)
    if len(session.sent) == before:
        raise Skipped("it is told nothing before its input ends")
    await _end_or_skip(case, session)
    return ""


async def dispose_twice(case: Case) -> str:
    """A second dispose does nothing, and is answered."""
    if names.DISPOSE not in case.manifest.hooks or case.target.dialect != "native":
        raise Skipped("it does not declare the hook dispose")
    session = await case.start()
    for time in ("first", "second"):
        params = case.params({"name": names.DISPOSE})
        try:
            answer = await case.ask(names.HOOK_INVOKE, params, seconds=case.timeouts.stop)
        except Failed as error:
            raise _of_dispose(time, error.text) from error
        if answer.error is not None:
            raise _of_dispose(time, f"it was answered with the error {answer.error.code}")
    await _end_or_skip(case, session)
    _look_for_repetition(session.stderr)
    return ""


def _of_dispose(time: str, text: str) -> Verdict:
    # The first one is what the check of the goodbye is about.
    return Skipped(text) if time == "first" else Failed(f"the second dispose: {text}")


def _look_for_repetition(stderr: bytes) -> None:
    """Most plugins that log at all log that they were disposed: then it shows."""
    said = [line.strip() for line in stderr.decode(errors="replace").splitlines()]
    for line in said:
        if "dispos" in line.lower() and said.count(line) > 1:
            raise Warned(f"its standard error says {said.count(line)} times: {line:.100}")


async def children(case: Case) -> str:
    """No process that it started outlives it."""
    session = await case.start()
    await _goodbye(case)
    await _end_or_skip(case, session)
    left = process_tree.find_marked(process_tree.PLUGIN_VARIABLE, {session.mark})
    left = [pid for pid in left if pid != session.process.pid]
    if left:
        shown = ", ".join(f"{pid} ({_command(pid)})" for pid in left[:_SHOWN])
        raise Failed(f"{len(left)} left when it had ended: {shown}")
    return ""


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            words = file.read(200).replace(b"\0", b" ")
    except OSError:
        return "ended since"
    return words.decode(errors="replace").strip()[:80]


async def output(case: Case) -> str:
    """Its output is messages and nothing else, from the first byte to the last."""
    session = await case.start()
    await case.ask_politely()
    await _goodbye(case)
    session.close_input()
    await session.exited(case.timeouts.stop)
    await session.drain()
    strays = [*session.strays, *case.known.strays]
    if strays:
        more = f" (and {len(strays) - 1} more)" if len(strays) > 1 else ""
        raise Failed(f"{strays[0]}{more}")
    return ""
