"""One tree of exceptions. Fields carry the facts; the text is built here, in one place.

Every text says what happened, where, and what to do next. Whatever a plugin wrote is
quoted and cut; values of secrets never get here.
"""

from __future__ import annotations

from collections.abc import Sequence

_CUT = 2000


def cut(text: str, limit: int = _CUT) -> str:
    """Shorten a plugin's text for a message, marking what is left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... [{len(text) - limit} more characters]"


class TinyhostError(Exception):
    """Base of all errors that tinyhost raises on purpose."""


class ConfigError(TinyhostError):
    """A configuration file, or one entry of it, cannot be used.

    `file` is its path or None for a value given otherwise, `key` the dotted path of the
    entry, `line` and `column` count from 1 and are None where there is no text to point at.
    """

    def __init__(
        self,
        reason: str,
        *,
        file: str | None = None,
        key: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.reason, self.file, self.key = reason, file, key
        self.line, self.column = line, column
        where = file or "configuration"
        if line is not None:
            where += f":{line}" + (f":{column}" if column is not None else "")
        super().__init__(f"{where}: {key}: {reason}" if key else f"{where}: {reason}")


class PluginError(TinyhostError):
    """Something about one plugin; `plugin` is the name that it is loaded under."""

    def __init__(self, plugin: str, message: str) -> None:
        self.plugin = plugin
        super().__init__(message)


class PluginNotFound(PluginError):
    """No plugin of that id or name is loaded, or none of that name can be found to load.

    `searched` lists the places that were looked at, `hint` says what to do.
    """

    def __init__(self, plugin: str, *, searched: Sequence[str] = (), hint: str = "") -> None:
        self.searched, self.hint = tuple(searched), hint
        text = f"plugin not found: {plugin}"
        if searched:
            text += " (looked in: " + ", ".join(searched) + ")"
        super().__init__(plugin, f"{text}. {hint}" if hint else text)


class PluginNotInstalled(PluginNotFound):
    """The registry knows the plugin, but its program is not on this machine."""


class NotLoaded(TinyhostError):
    """Plugins that a client names are not loaded in the running host."""

    def __init__(self, plugins: Sequence[str]) -> None:
        self.plugins = tuple(plugins)
        super().__init__(f"the running host has not loaded {', '.join(plugins)}")


class PluginAlreadyLoaded(PluginError):
    """A plugin of that name is loaded, or being loaded, under `id`."""

    def __init__(self, plugin: str, id: str) -> None:
        self.id = id
        super().__init__(plugin, f"plugin already loaded: {plugin} (as {id})")


class PluginSkipped(PluginError):
    """The name is a builtin's, which is there without being loaded."""

    def __init__(self, plugin: str) -> None:
        super().__init__(plugin, f"plugin skipped: {plugin} is built in and needs no loading")


class LoadError(PluginError):
    """A plugin could not be loaded; nothing of it is left.

    stage: "resolve", "spawn", "handshake" or "register".
    command: the program and its arguments.
    status: how the process ended, in words, or None if it had not ended by itself.
    stderr: the last of what it wrote to standard error.
    """

    def __init__(
        self,
        plugin: str,
        stage: str,
        reason: str,
        *,
        command: Sequence[str] = (),
        status: str | None = None,
        stderr: str = "",
    ) -> None:
        self.stage, self.reason, self.command = stage, reason, tuple(command)
        self.status, self.stderr = status, stderr
        parts = [f"plugin {plugin} failed to load at {stage}: {reason}"]
        if status:
            parts.append(f"it {status}")
        if command:
            parts.append("command: " + " ".join(command))
        super().__init__(plugin, "; ".join(parts) + _quote_stderr(stderr))


class CallTimeout(PluginError):
    """A call got no answer within its deadline, `seconds`.

    sent: whether the plugin may have seen the call. When it has not (`busy`), the call
        waited behind others and had no effect; otherwise its outcome is unknown.
    """

    def __init__(self, plugin: str, method: str, seconds: float, *, sent: bool) -> None:
        self.method, self.seconds, self.sent = method, seconds, sent
        if sent:
            text = f"plugin {plugin}: timeout: no answer to {method} within {seconds:g} s"
        else:
            text = (
                f"plugin {plugin} is busy: {method} waited {seconds:g} s behind other calls"
                " and was not sent"
            )
        super().__init__(plugin, text)

    @property
    def busy(self) -> bool:
        """The request was still waiting behind other calls, so the plugin never saw it."""
        return not self.sent


class PluginDied(PluginError):
    """The plugin's process is gone, or was given up. `status` says how it ended."""

    def __init__(self, plugin: str, status: str, *, stderr: str = "", hint: str = "") -> None:
        self.status, self.stderr, self.hint = status, stderr, hint
        text = f"plugin {plugin} {status}" + _quote_stderr(stderr)
        super().__init__(plugin, f"{text}\n{hint}" if hint else text)


class OutcomeUncertain(PluginDied):
    """The plugin died after a tool call was sent: it may have had its effect, or not.

    The host never sends such a call again by itself.
    """

    def __init__(self, plugin: str, status: str, *, stderr: str = "") -> None:
        hint = "The call was sent before that: whether it had its effect is not known."
        super().__init__(plugin, status, stderr=stderr, hint=hint)


class RemoteError(PluginError):
    """The plugin answered with a JSON-RPC error: `code`, `remote_message` and `data`."""

    def __init__(self, plugin: str, method: str, code: int, message: str, data: object) -> None:
        self.method, self.code, self.remote_message, self.data = method, code, message, data
        super().__init__(plugin, f"plugin {plugin}: {method}: error {code}: {cut(message)}")


class ProtocolError(PluginError):
    """The plugin's answer breaks the rules of the wire."""

    def __init__(self, plugin: str, method: str, reason: str) -> None:
        self.method, self.reason = method, reason
        super().__init__(plugin, f"plugin {plugin}: bad answer to {method}: {cut(reason)}")


class FrameTooLarge(PluginError):
    """A message does not fit the wire; `size` and `limit` are in bytes.

    outgoing: true for a request, which was not sent, false for the plugin's answer.
    """

    def __init__(self, plugin: str, method: str, size: int, limit: int, *, outgoing: bool) -> None:
        self.method, self.size, self.limit, self.outgoing = method, size, limit, outgoing
        if outgoing:
            text = f"the {method} request of {size} bytes was not sent: plugin {plugin}"
            text += f" takes lines of at most {limit} bytes"
        else:
            text = f"plugin {plugin} answered {method} with a line longer than {limit} bytes;"
            text += " raise maxLineBytes in its settings if that is expected"
        super().__init__(plugin, text)


class InvalidCall(TinyhostError):
    """The caller asked for something that makes no sense: an unknown tool, bad arguments."""


class ToolNotFound(InvalidCall):
    """No loaded plugin offers that tool; `known` lists the ids of those that are there."""

    def __init__(self, tool: str, known: Sequence[str] = ()) -> None:
        self.tool, self.known = tool, tuple(known)
        text = f"tool not found: {tool}"
        if known:
            text += "; there are: " + ", ".join(known)
        super().__init__(text)


class ManagerClosed(TinyhostError):
    """The manager is shutting down or has shut down, and loads nothing more."""

    def __init__(self) -> None:
        super().__init__("the plugin manager is closed")


class InstallError(TinyhostError):
    """A plugin cannot be installed, replaced or removed; what was there before is still there."""


class CallDenied(TinyhostError):
    """A call was not made because a rule, a guard, a gate or the person stopped it.

    tool: its id. reason: who and why, in words. decision: what `permissions` decided, or
    None when a gate stopped the call after it was allowed.
    """

    def __init__(self, tool: str, reason: str, decision: object = None) -> None:
        self.tool, self.reason, self.decision = tool, reason, decision
        super().__init__(f"{tool} was denied: {reason}")


def _quote_stderr(stderr: str) -> str:
    if not stderr.strip():
        return ""
    text = stderr.rstrip()
    if len(text) > _CUT:
        # What a program says last tells most of how it ended.
        text = f"[{len(text) - _CUT} more characters] ...{text[-_CUT:]}"
    lines = "\n".join("  | " + line for line in text.splitlines())
    return f"\nlast of its standard error:\n{lines}"
