"""notify: tell the person something by the desktop's notifier, or ring the terminal."""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import trio

from ..model import CallContext
from . import arguments, programs
from .base import BuiltinPlugin, BuiltinTool, ToolFailed

INTERVAL = 5.0  # seconds from one notification to the next
TITLE_MAX = 200  # characters
MESSAGE_MAX = 2000  # characters
_LOOKED_AT = 10 * MESSAGE_MAX  # of a text that may be mostly blanks
URGENCIES = ("low", "normal", "critical")
_DEADLINE = 5.0  # seconds that a notifier may take

# What notifiers need to find the person's desktop, and no more.
_ENV = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
)
# Characters that reverse the direction of what follows can make a text read as another.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": f"At most {TITLE_MAX} characters are shown."},
        "message": {
            "type": "string",
            "description": f"At most {MESSAGE_MAX} characters are shown.",
        },
        "urgency": {"type": "string", "enum": list(URGENCIES), "default": "normal"},
    },
    "required": ["title", "message"],
    "additionalProperties": False,
}


class Notify(BuiltinPlugin):
    """Offers the tool `notify`, which takes effect at most once in INTERVAL seconds.

    environ: by default os.environ. platform: as sys.platform. tty: the terminal to ring
    where there is no notifier; nothing is ever written to standard output.
    """

    name = "notify"

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        platform: str = sys.platform,
        tty: str = "/dev/tty",
    ) -> None:
        super().__init__()
        self._environ = dict(os.environ if environ is None else environ)
        self._platform = platform
        self._tty = tty
        self._last = -math.inf
        self._sending = False

    def tools(self) -> Sequence[BuiltinTool]:
        """The one tool."""
        return (
            BuiltinTool(
                name="notify",
                description="Show the person a desktop notification, for example when a long"
                f" task is done. At most one in {INTERVAL:g} seconds.",
                parameters=_PARAMETERS,
                execute=self._notify,
            ),
        )

    async def _notify(self, args: Mapping[str, Any], _: CallContext) -> str:
        title, message, urgency = _read(args)
        if self._sending:
            return "Rate-limited: not shown, because another notification is just being sent."
        wait = self._last + INTERVAL - trio.current_time()
        if wait > 0:
            return (
                f"Rate-limited: not shown, because one notification in {INTERVAL:g} seconds is"
                f" allowed. The next may be sent in {math.ceil(wait)} s."
            )
        self._sending = True
        try:
            said = await self._show(title, message, urgency)
        finally:
            self._sending = False
        self._last = trio.current_time()
        return said

    async def _show(self, title: str, message: str, urgency: str) -> str:
        darwin = self._platform == "darwin"
        notifier = "osascript" if darwin else "notify-send"
        program = programs.find_program(notifier, self._environ)
        if program is None:
            return self._ring(notifier)
        build = _osascript if darwin else _notify_send
        try:
            with trio.fail_after(_DEADLINE):
                ended = await programs.run(
                    [program, *build(title, message, urgency)],
                    env=programs.pick(self._environ, _ENV),
                    directory="/",
                    most=64 * 1024,
                )
        except trio.TooSlowError:
            reason = f"{notifier} did not end within {_DEADLINE:g} s and was killed"
            raise ToolFailed(f"the notification was not shown: {reason}") from None
        if ended.returncode != 0:
            raise ToolFailed(
                f"the notification was not shown: {notifier}: {programs.complaint(ended)}"
            )
        return "Notification sent."

    def _ring(self, notifier: str) -> str:
        try:
            fd = os.open(self._tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.write(fd, b"\a")
            finally:
                os.close(fd)
        except OSError:
            raise ToolFailed(
                f"nothing could be shown: {notifier} is not on PATH, and there is no terminal"
                " to ring; tell the person in your answer instead"
            ) from None
        return (
            f"The terminal bell was rung; title and message were not shown, because {notifier}"
            " is not on PATH."
        )


def _read(args: Mapping[str, Any]) -> tuple[str, str, str]:
    arguments.refuse_unknown(args, _PARAMETERS)
    title = _cut(" ".join(_clean(arguments.text(args, "title")).split()), TITLE_MAX)
    message = _cut(_clean(arguments.text(args, "message")).strip(), MESSAGE_MAX)
    for name, value in (("title", title), ("message", message)):
        if not value:
            raise ToolFailed(f"{name} must not be empty")
    urgency = arguments.text(args, "urgency", "normal")
    if urgency not in URGENCIES:
        raise ToolFailed(f"urgency must be one of {', '.join(URGENCIES)}")
    return title, message, urgency


def _clean(text: str) -> str:
    """Keep line breaks; tabs become spaces; other control characters go."""
    text = text[:_LOOKED_AT]
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(
        char
        for char in text
        if char == "\n" or (unicodedata.category(char) != "Cc" and char not in _BIDI)
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _notify_send(title: str, message: str, urgency: str) -> list[str]:
    # notify-send reads C escapes such as \033 in the message, though not in the title.
    message = message.replace("\\", "\\\\")
    return [f"--urgency={urgency}", "--app-name=tinyhost", "--", title, message]


def _osascript(title: str, message: str, urgency: str) -> list[str]:
    show = "display notification (item 3 of argv) with title (item 2 of argv)"
    if urgency == "critical":
        show += ' sound name "Ping"'
    script = [part for line in ("on run argv", show, "end run") for part in ("-e", line)]
    # The first word ends osascript's options, so that a title with a dash is not one.
    return [*script, "tinyhost", title, message]
