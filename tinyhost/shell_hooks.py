"""Shell hooks: commands from the configuration, run at hooks, as one in-process plugin.

A command gets its data in environment variables and as one JSON object on its standard
input. Nothing is ever put into the command's text, so no argument can become shell syntax.
docs/shell-hooks.md is the contract with the people who write the commands.
"""

from __future__ import annotations

import fnmatch
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import attrs

from tinyhost_sdk import names

from . import hooks
from .builtins.base import BuiltinPlugin
from .codec import dumps, loads
from .command import DRAIN, GRACE, SHELL, Outcome, run
from .config import Config
from .config_hooks import HOOKS, ShellHook
from .config_values import Place, Problem
from .environment import child_environment, redact, secret_values
from .errors import LoadError, PluginError
from .model import PluginSettings, Timeouts

NAME = "shell-hooks"

_REASON_MAX = 2000  # characters of standard error shown as a reason
# Linux refuses to start a program with one string of its environment (NAME=value and the
# zero byte behind it) longer than this.
_VARIABLE_MAX = 128 * 1024
_BOM = b"\xef\xbb\xbf"  # which some shells put before what they write
_OVERHEAD = GRACE + DRAIN + 0.5  # seconds that a hook may take beyond its own timeout

_log = logging.getLogger(__name__)


class ShellHookFailed(PluginError):
    """A command failed, or said something that makes no sense.

    hook: what was to run. outcome: how it ended, or None when it never ran.
    remote_message: its own words from standard error, if it had any.
    """

    def __init__(
        self, hook: ShellHook, reason: str, *, outcome: Outcome | None = None, said: str = ""
    ) -> None:
        self.hook, self.reason, self.outcome = hook, reason, outcome
        self.remote_message = said
        text = f"shell hook {hook.where}: {reason}"
        super().__init__(NAME, f"{text}: {said}" if said else text)

    @property
    def denies(self) -> bool:
        """Whether the command ended by itself, in time, with a status that is not 0."""
        return (
            self.outcome is not None
            and not self.outcome.timed_out
            and (self.outcome.returncode > 0)
        )


@attrs.frozen
class _Said:
    """What one command said: its output, checked, and its failure."""

    output: Any = None
    error: ShellHookFailed | None = None


class ShellHooks(BuiltinPlugin):
    """The plugin that runs the commands; it declares only the events that have any.

    directory_of: gives a session's directory by its id; "" and None mean the current one.
    ignored_outputs: how often a command's standard output was not JSON.
    """

    name: ClassVar[str] = NAME  # type: ignore[misc]

    def __init__(
        self,
        entries: Mapping[str, Sequence[ShellHook]],
        *,
        settings: PluginSettings | None = None,
        environ: Mapping[str, str] | None = None,
        directory_of: Callable[[str], str | None] | None = None,
    ) -> None:
        super().__init__()
        self.directory_of = directory_of
        self.ignored_outputs = 0
        self._entries = {event: tuple(found) for event, found in entries.items() if found}
        self._settings = settings or PluginSettings()
        self._environ = os.environ if environ is None else environ
        self.timeouts = attrs.evolve(Timeouts(), hook=_longest(self._entries))

    @classmethod
    def from_config(
        cls,
        config: Config,
        *,
        environ: Mapping[str, str] | None = None,
        directory_of: Callable[[str], str | None] | None = None,
    ) -> tuple[ShellHooks | None, Sequence[Problem]]:
        """Build the plugin from the key `hooks`; None when no command is left to run.

        A project's commands come behind the person's. The problems are those of that key.
        Loading the configuration reported them too.
        """
        problems: list[Problem] = []
        entries: dict[str, list[ShellHook]] = {}
        for file, raw in config.sources:
            if (node := raw.get("hooks")) is not None:
                read = HOOKS.read(node, Place(file, problems, "hooks")) or {}
                for event, found in read.items():
                    entries.setdefault(event, []).extend(found)
        if not any(entries.values()):
            return None, problems
        settings = config.settings_for(NAME)
        return cls(entries, settings=settings, environ=environ, directory_of=directory_of), problems

    def take_over(self, other: ShellHooks | None) -> None:
        """Run another's commands from now on; None means no more. What runs is let run."""
        self._entries = other._entries if other else {}
        if other is not None:
            self._settings, self.timeouts = other._settings, other.timeouts

    def _declared(self) -> Sequence[str]:
        return list(self._entries)

    async def _run_hook(self, name: str, input: Mapping[str, Any] | None) -> Any:
        kind = hooks.spec_of(name).input
        if name not in self._entries or kind is None:
            return await super()._run_hook(name, input)
        event = hooks.from_wire(kind, input or {})
        entries = [hook for hook in self._entries[name] if _matches(hook, event)]
        if name == names.PERMISSION_ASK:
            return await self._query(entries, event)
        if name == names.TOOL_EXECUTE_BEFORE:
            return await self._gate(entries, event)
        return await self._observe(entries, event)

    # --- one function per meaning of a failure

    async def _query(self, entries: Sequence[ShellHook], event: hooks.PermissionAsk) -> Any:
        """The first denial counts; a command that broke is only told of when none denied."""
        allowed = False
        asking: hooks.PermissionOutput | None = None
        broken: ShellHookFailed | None = None
        for hook in entries:
            said = await self._ask(hook, event)
            if said.error is not None and said.error.denies:
                own = getattr(said.output, "reason", "")
                reason = said.error.remote_message or own or str(said.error)
                return {"allowed": False, "reason": reason}
            if said.error is not None:
                broken = broken or said.error
            elif said.output is not None and said.output.denies:
                return hooks.to_wire(said.output)
            elif said.output is not None and said.output.ask:
                asking = asking or said.output
            elif said.output is not None:
                allowed = True
        # A failure that is skipped must not hide that another command wants the person asked.
        if broken is not None and (asking is None or self._settings.on_guard_failure != "skip"):
            raise broken
        if asking is not None:
            return hooks.to_wire(asking)
        return {"allowed": True} if allowed else None

    async def _gate(self, entries: Sequence[ShellHook], event: hooks.ToolExecuteBefore) -> Any:
        """The first failure stops the call. Later commands see rewritten arguments."""
        contexts: list[str] = []
        rewritten = None
        for hook in entries:
            said = await self._ask(hook, event)
            if said.error is not None:
                raise said.error
            if said.output is None:
                continue
            contexts += said.output.additional_context
            if said.output.tool_args is not None:
                rewritten = said.output.tool_args
                event = attrs.evolve(event, tool_args=rewritten)
        output = hooks.ToolExecuteBeforeOutput(
            additional_context=tuple(contexts), tool_args=rewritten
        )
        return hooks.to_wire(output) or None

    async def _observe(self, entries: Sequence[ShellHook], event: Any) -> Any:
        """All run. Failures are raised when nothing was said, else listed beside the answer."""
        contexts: list[str] = []
        changes: dict[str, Any] = {}
        errors: list[ShellHookFailed] = []
        for hook in entries:
            said = await self._ask(hook, event)
            contexts += getattr(said.output, "additional_context", ())
            if said.error is not None:
                errors.append(said.error)
            elif isinstance(said.output, hooks.ToolExecuteAfterOutput):
                new = {"output": said.output.output, "is_error": said.output.is_error}
                new = {key: value for key, value in new.items() if value is not None}
                changes |= new
                event = attrs.evolve(event, **new)
        if errors and not contexts and not changes:
            raise errors[0] if len(errors) == 1 else PluginError(NAME, "\n".join(map(str, errors)))
        answer = _answer(event, contexts, changes)
        if errors:
            answer["errors"] = [str(error) for error in errors]
        return answer or None

    # --- one command

    async def _ask(self, hook: ShellHook, event: Any) -> _Said:
        try:
            outcome = await self._run(hook, event)
        except LoadError as failed:
            return _Said(error=ShellHookFailed(hook, f"it could not be started: {failed.reason}"))
        error = None if outcome.ok else self._failure(hook, outcome)
        try:
            output = self._read(hook, outcome)
        except ValueError as wrong:
            bad = ShellHookFailed(hook, f"its answer on standard output is wrong: {wrong}")
            return _Said(error=error or bad)
        if error is not None:
            _log.debug("%s", error)
        return _Said(output, error)

    async def _run(self, hook: ShellHook, event: Any) -> Outcome:
        directory = self._directory(event)
        env = child_environment(self._settings, self._environ)
        for name, value in _variables(hook.event, event, directory).items():
            env.pop(name, None)
            if _fits(name, value):
                env[name] = value
        return await run(
            (SHELL, "-c", hook.command),
            owner=NAME,
            env=env,
            directory=directory,
            stdin=_stdin(hook.event, event, directory),
            timeout=hook.timeout,
        )

    def _directory(self, event: Any) -> str:
        own = getattr(event, "directory", "")
        known = self.directory_of(event.session_id) if not own and self.directory_of else own
        return known or os.getcwd()  # noqa: PTH109

    def _failure(self, hook: ShellHook, outcome: Outcome) -> ShellHookFailed:
        if outcome.timed_out:
            reason = f"it did not end within {hook.timeout:g} s and was stopped"
            return ShellHookFailed(hook, reason, outcome=outcome)
        said = outcome.stderr.decode(errors="replace")
        said = redact(said, secret_values(self._settings, self._environ)).strip()
        if len(said) > _REASON_MAX:
            said = "..." + said[-_REASON_MAX:]
        nothing = "" if said else " and wrote nothing to standard error"
        return ShellHookFailed(hook, f"it {outcome.status}{nothing}", outcome=outcome, said=said)

    def _read(self, hook: ShellHook, outcome: Outcome) -> Any:
        """The command's answer, or None. Raises ValueError for one of the wrong form."""
        text = outcome.stdout.removeprefix(_BOM).strip()
        # A guard's answer may also stand behind other text: it must not be lost there.
        answers = text.startswith(b"{") or (
            hook.event == names.PERMISSION_ASK and (outcome.stdout_cut or b"\n{" in text)
        )
        if outcome.stdout_cut and answers:
            raise ValueError(f"it is longer than {len(outcome.stdout)} bytes")
        try:
            value = loads(text)
        except ValueError as error:
            if answers:
                # A denial whose reason quotes a quotation mark looks like this, too.
                raise ValueError(f"it is not one JSON object: {error}") from None
            value = None
        if isinstance(value, dict):
            return _checked(hook.event, value)
        if text:
            self.ignored_outputs += 1
            _log.debug("shell hook %s: standard output is not a JSON object, ignored", hook.where)
        return None


def _longest(entries: Mapping[str, Sequence[ShellHook]]) -> float:
    """Seconds that the commands of one event can take together, at most."""
    sums = (sum(hook.timeout + _OVERHEAD for hook in found) for found in entries.values())
    return max(sums, default=0.0) + Timeouts().hook


def _matches(hook: ShellHook, event: Any) -> bool:
    facts = {"tool": getattr(event, "tool_name", None), "session": event.session_id}
    for key, pattern in hook.match.items():
        value = facts.get(key)
        if value is None or (value != pattern and not fnmatch.fnmatchcase(value, pattern)):
            return False
    return True


def _variables(name: str, event: Any, directory: str) -> Mapping[str, str]:
    """The variables of an event; the short names are those that tinycode's hooks use."""
    found = {
        "TINYHOST_EVENT": name,
        "TINYHOST_SESSION_ID": event.session_id,
        "TINYHOST_DIRECTORY": directory,
        "SESSION_ID": event.session_id,
    }
    if hasattr(event, "tool_name"):
        found["TINYHOST_TOOL"] = found["TOOL"] = event.tool_name
        found["TINYHOST_ARGS"] = found["ARGS"] = event.tool_args
    if hasattr(event, "is_error"):
        found["TINYHOST_IS_ERROR"] = found["IS_ERROR"] = "true" if event.is_error else "false"
    return found


def _fits(name: str, value: str) -> bool:
    """Whether the system takes a variable of that value; else only stdin has it."""
    try:
        size = len(os.fsencode(f"{name}={value}")) + 1
    except UnicodeEncodeError:
        return False
    return size <= _VARIABLE_MAX and "\0" not in value


def _stdin(name: str, event: Any, directory: str) -> bytes:
    data: dict[str, Any] = {
        "event": name,
        "sessionId": event.session_id,
        "directory": directory,
    }
    wire = {"tool_name": "tool", "permission": "permission", "output": "output"}
    for attribute, key in (*wire.items(), ("is_error", "isError")):
        if hasattr(event, attribute):
            data[key] = getattr(event, attribute)
    if hasattr(event, "tool_args"):
        data["argsText"] = event.tool_args
        try:
            data["args"] = loads(event.tool_args.encode("utf-8", "surrogatepass"))
            return _line(data)
        except ValueError:
            data["args"] = event.tool_args
    return _line(data)


def _line(data: Mapping[str, Any]) -> bytes:
    return dumps(data).encode() + b"\n"


def _checked(event: str, value: Mapping[str, Any]) -> Any:
    """Read the answer's members by the hook's own type, as strictly as any plugin's."""
    if event == names.PERMISSION_ASK:
        if value and "allowed" not in value and "ask" not in value:
            raise ValueError('it says neither "allowed" nor "ask"')
        # Null is no opinion.
        has = value.get("allowed") is not None or value.get("ask") is not None
        return hooks.from_wire(hooks.PermissionOutput, value) if has else None
    said, kind = value.get("hookSpecificOutput"), hooks.spec_of(event).output
    if said is None or kind is None:
        return None
    if isinstance(said, dict) and isinstance(said.get("toolArgs"), dict):
        said = {**said, "toolArgs": dumps(said["toolArgs"])}
    output = hooks.from_wire(kind, said)
    args = getattr(output, "tool_args", None)
    if args is not None:
        _refuse_bad_args(args)
    return output


def _refuse_bad_args(text: str) -> None:
    try:
        loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        raise ValueError("toolArgs is not JSON text") from None


def _answer(event: Any, contexts: Sequence[str], changes: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(event, hooks.ToolExecuteAfter):
        after = hooks.ToolExecuteAfterOutput(additional_context=tuple(contexts), **changes)
        return hooks.to_wire(after)
    return {"additionalContext": list(contexts)} if contexts else {}
