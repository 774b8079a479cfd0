"""The commands that are in a hurry, done by a running host: light imports only.

Each function does what the command of its name does in a process of its own, prints the
same, and returns the same exit code.
"""

from __future__ import annotations

import os

from tinyhost_cli import output
from tinyhost_cli.client import NOT_LOADED, HostError, HostGone, HostSilent, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from tinyhost_cli.setup import Setup

DENIED = 126
GONE_FOLDER = "the current folder is gone: change to another, or name one with --directory"


def ask_host(
    setup: Setup,
    method: str,
    params: Mapping[str, Any],
    raw: Mapping[str, str] | None = None,
    handlers: Mapping[str, Callable[[Mapping[str, Any]], Any]] | None = None,
) -> tuple[Any, str] | None:
    """The running host's answer: its value, and its text as the host wrote it.

    None when there is no such host, or it has not loaded what --plugin names, and the command
    has to be done here. Raises HostError and HostGone.
    """
    if setup.no_host:
        return None
    client = attach(setup.directory, setup.config_file)
    if client is None:
        return None
    given = {**params, "directory": directory_of(setup)}
    if setup.plugins:
        given["plugins"] = list(dict.fromkeys(setup.plugins))
    with client:
        try:
            return client.call(method, given, handlers, raw), client.result_text
        except HostError as error:
            if error.code == NOT_LOADED:
                return None
            raise


def tell_of_host(way: str, directory: str | None = None, config_file: str | None = None) -> None:
    """Where a host is running that goes by what was before, say how to make the change count."""
    try:
        client = attach(directory, config_file)
        if client is None:
            return
        with client:
            pass
    except HostSilent:
        pass  # there is one all the same
    output.problem(f"a host is running; to make it count there: {way}")


def report_failed(failed: Sequence[Mapping[str, Any]]) -> None:
    """Tell of each plugin that failed to load; see present.loaded_value."""
    for one in failed:
        output.problem("\n".join([one["error"]["message"], *one["error"].get("notes", ())]))


def directory_of(setup: Setup) -> str:
    """Where the command works. Raises OSError for a current folder that was deleted."""
    try:
        return os.path.abspath(setup.directory or ".")  # noqa: PTH100
    except FileNotFoundError:
        raise FileNotFoundError(GONE_FOLDER) from None


def invoke(setup: Setup, name: str, input_text: str | None) -> int | None:
    """`hook invoke`; None when it has to be done here."""
    raw = {} if input_text is None else {"input": input_text}
    answer = ask_host(setup, "hook/invoke", {"hook": name}, raw)
    if answer is None:
        return None
    value, text = answer
    if setup.as_json:
        output.emit_text(text)
    else:
        from tinyhost_cli.hook_text import show

        show(name, value)
    return 1 if value["stopped"] or any("error" in one for one in value["plugins"]) else 0


def call(setup: Setup, tool_id: str, args_text: str, session: str) -> int | None:
    """`tool call`; None when it has to be done here."""
    params = {
        "tool": tool_id,
        "session": session,
        "asks": can_ask(setup),
        "env": dict(os.environ),  # so that the host knows what is secret here
    }
    handlers = {"progress": _progress, "problem": _problem, **asking()}
    answer = ask_host(setup, "tool/call", params, {"args": args_text}, handlers)
    if answer is None:
        return None
    value, text = answer
    if setup.as_json:
        output.emit_text(text)
    else:
        show_outcome(value)
    return 1 if value["isError"] else 0


def show_outcome(value: Mapping[str, Any]) -> None:
    """What a tool answered, for people; see present.outcome_value."""
    output.content(value["content"])
    for context in value["additionalContext"]:
        output.note(context)
    if value["isError"]:
        output.problem(f"the tool {value['tool']} reported an error")


def _progress(params: Mapping[str, Any]) -> None:
    output.note(str(params.get("text")))


def _problem(params: Mapping[str, Any]) -> None:
    output.problem(str(params.get("text")))


# --- run


def run(setup: Setup, command: Sequence[str], text: str | None, *, explain: bool) -> int | None:
    """`run`; None when it has to be done here."""
    from tinyhost_cli.command_child import NotStarted
    from tinyhost_cli.explain import tell

    child = _Child()
    params = {
        **({"shell": text} if text is not None else {"command": list(command)}),
        "env": dict(os.environ),
        "asks": can_ask(setup),
    }
    problems = {} if setup.as_json else {"problem": _problem}
    handlers = {"exec": child.run, **problems, **asking()}
    try:
        answer = ask_host(setup, "shell/run", params, None, handlers)
    except (HostGone, HostError):
        if isinstance(child.failure, NotStarted):
            output.problem(str(child.failure))
            return child.failure.status
        if child.status is None:
            raise
        output.problem("the running host was gone before the command ended; plugins were not told")
        return child.status
    if answer is None:
        return None
    value = dict(answer[0])
    value["exitStatus"] = DENIED if value["denied"] else child.status
    tell(value, explain=explain, as_json=setup.as_json)
    status: int = value["exitStatus"]
    return status


class _Child:
    """The command, once the host has said how it is to be run."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.failure: Exception | None = None

    def run(self, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        from tinyhost_cli import command_child

        env = dict(os.environ)
        for name, value in wanted["env"].items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        try:
            code = command_child.run(wanted["argv"], env, wanted["directory"])
        except command_child.NotStarted as error:
            self.failure = error
            raise OSError(str(error)) from None
        self.status = code if code >= 0 else 128 - code
        return {"returncode": code}


# --- asking the person


def can_ask(setup: Setup) -> bool:
    """Whether the person is at a terminal here and may be asked; see ask.choose_asker."""
    in_ci = os.environ.get("CI", "").lower() not in ("", "0", "false", "no")
    if setup.as_json or in_ci:
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def asking() -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
    """The handler of the host's questions."""

    def ask(params: Mapping[str, Any]) -> Mapping[str, str]:
        from tinyhost_cli.ask import answer_for_host

        return answer_for_host(params)

    return {"ask": ask}
