"""What all bridges share: our view of a client's hook event, and what goes back.

A client starts one process for each event, with JSON on standard input. A bridge reads it
into an Event, the host is asked, and the bridge puts the result into the client's format.
A plugin can tighten and never widen: where nobody objects the bridge says nothing, and the
client asks its own user as it would without us.
"""

from __future__ import annotations

import enum
import posixpath
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

# The clients give a hook 60 seconds or more; one that takes longer counts as no answer, and
# the call goes ahead. So we give up before that and stop it.
DEADLINE = 50.0

BLOCK = 2  # the exit code that stops a call, in all clients
FAILED = 1  # the exit code that tells of a failure and stops nothing

JsonObject = Mapping[str, Any]
NOTHING: JsonObject = MappingProxyType({})


class Kind(enum.StrEnum):
    """What a client's event is to us."""

    START = "session.start"
    END = "session.end"
    BEFORE = "before a tool"
    PERMISSION = "before the client asks its user"
    AFTER = "after a tool"
    ENV = "shell.env"
    NONE = "none"  # an event that we have no hook for


# Where silence would let something through, a failure has to block.
GUARDS = frozenset({Kind.BEFORE, Kind.PERMISSION})


class Event(NamedTuple):
    """One event of a client.

    name: the client's name of the event. tool: our name of the tool; args: its arguments.
    output, is_error: what the tool put out, for AFTER. payload: the client's JSON, whole.
    """

    kind: Kind
    name: str
    session_id: str = ""
    directory: str = ""
    tool: str = ""
    args: JsonObject = NOTHING
    output: str = ""
    is_error: bool = False
    payload: JsonObject = NOTHING


class Judgement(NamedTuple):
    """What the host says of a call.

    action: "deny", "ask", "allow", or None for no objection, which is no approval either.
    args: what the tool is to run with; rewritten: whether that is not what the client sent.
    """

    action: str | None
    args: JsonObject
    reason: str = ""
    rewritten: bool = False
    contexts: Sequence[str] = ()


class Reviewed(Protocol):
    """What became of a tool's output."""

    @property
    def text(self) -> str: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def changed(self) -> bool: ...
    @property
    def contexts(self) -> Sequence[str]: ...


class Reply(NamedTuple):
    """What the process does: JSON on standard output, text on standard error, exit code."""

    output: JsonObject | None = None
    text: str = ""
    code: int = 0


class Bridge:
    """Base of the translators. Answers are None where there is nothing to say."""

    client = ""  # the client's name, for texts

    def read(self, payload: JsonObject) -> Event:
        """Read a client's JSON. Raises ValueError for one that lacks what it must have."""
        raise NotImplementedError

    def started(
        self, event: Event, contexts: Sequence[str], problems: Sequence[str]
    ) -> JsonObject | None:
        """The answer to the start of a session: texts for the model, and for the user."""
        raise NotImplementedError

    def judged(self, event: Event, judgement: Judgement) -> JsonObject | None:
        """The answer to an event of GUARDS."""
        raise NotImplementedError

    def reviewed(self, event: Event, after: Reviewed) -> JsonObject | None:
        """The answer to an event after a tool."""
        raise NotImplementedError

    def environment(self, changes: Mapping[str, str | None]) -> JsonObject | None:
        """The answer to shell.env, for clients that have it."""
        raise NotImplementedError

    def failed(self, event: Event | None, error: str) -> Reply:
        """What to do when we cannot work: block what needs a verdict, let the rest go on.

        event None: nobody knows what it was, so it counts as one that needs a verdict.
        """
        if event is not None and event.kind not in GUARDS:
            return Reply(text=error, code=FAILED)
        text = f"{error}\nThe call was stopped because nobody could judge it."
        return Reply(text=text, code=BLOCK)

    def cannot_ask(self, judgement: Judgement) -> str:
        """Why an ask becomes a denial, and the way out."""
        return (
            f"{judgement.reason}\n{self.client} has no way to ask its user about this, so it was"
            " denied. To allow such calls, add a rule to permissions.allow in tinyhost's"
            " configuration."
        )


# --- reading


def text_member(payload: JsonObject, key: str, default: str | None = None) -> str:
    """A string; `default` where it is absent or null, else ValueError."""
    value = payload.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise ValueError(f"{key} is not a string")
    return value


def object_member(payload: JsonObject, key: str) -> JsonObject:
    """An object; an absent one or null is empty."""
    value = payload.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{key} is not an object")
    return value


def below(directory: str, given: object) -> str:
    """Where a command runs that names a folder of its own: it decides what `rm *` means."""
    if not isinstance(given, str) or not given:
        return directory
    return posixpath.normpath(posixpath.join(directory, given))


# --- writing


def joined(contexts: Sequence[str]) -> str | None:
    """Several contexts as the one text that clients take; None for none."""
    return "\n\n".join(contexts) or None


def for_user(problems: Sequence[str]) -> dict[str, str]:
    """What the clients show their user of plugins that are not there."""
    return (
        {"systemMessage": "\n".join(f"tinyhost: {text}" for text in problems)} if problems else {}
    )


def without_none(**members: Any) -> dict[str, Any]:
    """The members that say something."""
    return {key: value for key, value in members.items() if value is not None}
