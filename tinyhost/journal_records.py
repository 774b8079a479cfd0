"""What journal records hold, and making any value fit to be kept. Pure: no files here.

Every text is masked and cut before it is written: secret values wherever they stand, and
whatever stands under a name that looks like a secret's, also inside JSON text.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any, TypeVar

from .codec import dumps, loads
from .errors import cut
from .redaction import MASK, looks_secret, redact

if TYPE_CHECKING:
    # Readers need no trio.
    from .dispatch import DispatchResult

_T = TypeVar("_T")

FORMAT = "tinyhost-journal"
VERSION = 1
KINDS = ("session", "hook", "decision", "call", "load", "exit", "ask")
OWN_KEYS = ("t", "seq", "kind")

TEXT_MAX = 16 * 1024  # characters kept of one text
LINE_MAX = 256 * 1024  # bytes of one record's line
RESULT_HEAD = 2000  # characters kept of a tool's result

_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}")
_DEPTH_MAX = 32
_VALUES_MAX = 20_000  # in one field; a line holds hardly more
_LEARNT_MAX = 500
_JSON_MAX = 256 * 1024  # characters; longer JSON text is masked without being parsed

# "name": "value", the value perhaps cut off at the end of the text.
_MEMBER = re.compile(r'"([^"\\]{1,100})"(\s*:\s*)"((?:[^"\\]|\\.)*)("|\\?$)', re.DOTALL)


def hook_fields(result: DispatchResult, **more: Any) -> dict[str, Any]:
    """The fields of a `hook` record: every plugin's answer, and the merged output.

    more: the tool, its args, and whatever else the hook was called with.
    """
    answers = [answer.to_json() for answer in result.answers]
    return {"hook": result.hook, **more, "answers": answers, "output": result.output()}


def decision_fields(
    tool: str, args: Any, decision: str, *, by: str, plugin: str = "", reason: str = "", **more: Any
) -> dict[str, Any]:
    """The fields of a `decision` record.

    decision: "allow", "deny", "ask" or "change". by: who decided, as "plugin", "rule" or
    "person"; plugin: its name, where it was one.
    """
    fields = {"tool": tool, "args": args, "decision": decision, "by": by}
    return {**fields, "plugin": plugin, "reason": reason, **more}


def call_fields(
    tool: str,
    args: Any,
    *,
    result: str,
    is_error: bool,
    ms: float,
    final_args: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """The fields of a `call` record. final_args: what the tool ran with, where it differs.

    result: the whole text; the journal keeps its beginning, RESULT_HEAD characters.
    """
    fields: dict[str, Any] = {"tool": tool, "args": args}
    if final_args is not None and final_args != args:
        fields["finalArgs"] = final_args
    return {**fields, "result": result, "isError": is_error, "ms": round(ms, 3), **more}


def safe_name(session: str) -> str:
    """The name of a session's file, without its ending; different for different sessions."""
    data = session.encode("utf-8", "surrogatepass")
    if _SAFE.fullmatch(session):
        return session
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", session)[:60].lstrip(".-") or "session"
    return f"{plain}-{hashlib.sha256(data).hexdigest()[:16]}"


def timestamp(seconds: float) -> str:
    """Seconds since the epoch in the journal's form: RFC 3339, UTC, with milliseconds."""
    when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def header(session: str, directory: str, started: str, after: int) -> dict[str, Any]:
    """The first line of a file. after: the number of the last record before this file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "session": session,
        "directory": directory,
        "started": started,
        "after": after,
    }


def fitting_line(head: Mapping[str, Any], fields: Mapping[str, Any]) -> bytes:
    """One record as a line of at most LINE_MAX bytes; the largest fields give way first."""
    fields = dict(fields)
    line = _line({**head, **fields})
    while len(line) > LINE_MAX:
        sizes = {key: len(_line({key: value})) for key, value in fields.items()}
        largest = max(sizes, key=lambda key: sizes[key])
        if sizes[largest] <= 200:  # a multitude of small fields
            fields = {"leftOut": f"[{len(line)} bytes left out]"}
        else:
            fields[largest] = f"[{sizes[largest]} bytes left out]"
        line = _line({**head, **fields})
    return line


def _line(value: Mapping[str, Any]) -> bytes:
    return dumps(value).encode() + b"\n"


@functools.lru_cache(maxsize=1024)
def _names_secret(name: str) -> bool:
    return looks_secret(name)


class Cleaner:
    """Makes values fit to be kept; `secrets` are the values that are never written."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._own = self._secrets = frozenset(secrets) - {""}
        self._learnt: dict[str, None] = {}  # the one that was met last comes last
        self._room = 0  # for further values

    def know(self, secrets: Iterable[str]) -> None:
        """Mask these for good, such as those that a plugin is given."""
        self._own = self._own.union(secrets) - {""}
        self._secrets = self._own.union(self._learnt)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these, too, such as those of somebody who calls; the last 500 of them count."""
        for secret in sorted(set(secrets) - self._own - {""}):
            self._learnt.pop(secret, None)
            self._learnt[secret] = None
        while len(self._learnt) > _LEARNT_MAX:
            del self._learnt[next(iter(self._learnt))]
        self._secrets = self._own.union(self._learnt)

    def fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A record's fields, masked, cut, and of JSON's kinds only."""
        cleaned: dict[str, Any] = {}
        for name, value in fields.items():
            self._room = _VALUES_MAX  # for each, so that none takes it from another
            cleaned |= self._value({name: value}, 0)
        if isinstance(result := cleaned.get("result"), str):
            # Cut after masking: half a secret would not be recognised.
            cleaned["result"] = cut(result, RESULT_HEAD)
        return cleaned

    def text(self, text: str) -> str:
        """One text, masked."""
        return self._text(text)

    def _value(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, str):
            return self._text(value)
        if depth > _DEPTH_MAX:
            return "[nested too deeply]"
        if isinstance(value, Mapping):
            members = {
                self._text(str(key)): _masked(item)
                if _names_secret(str(key))
                else self._value(item, depth + 1)
                for key, item in self._fitting(value.items())
            }
            if left_out := self._rest(value, members):
                members["..."] = left_out
            return members
        if isinstance(value, list | tuple | set | frozenset):
            items = [self._value(item, depth + 1) for item in self._fitting(value)]
            if left_out := self._rest(value, items):
                items.append(left_out)
            return items
        if isinstance(value, bytes):
            return self._text(value.decode(errors="replace"))
        return self._text(str(value))

    def _fitting(self, values: Iterable[_T]) -> Iterator[_T]:
        """As many as the record has room for: whoever calls decides how many there are."""
        for value in values:
            self._room -= 1
            if self._room < 0:
                return
            yield value

    def _rest(self, values: Sized, kept: Sized) -> str:
        """A word on what there was no room for; "" where there was."""
        left_out = len(values) - len(kept) if self._room < 0 else 0
        return f"[{left_out} more]" if left_out else ""

    def _text(self, text: str) -> str:
        text = str(text)
        if any(secret in text for secret in self._secrets):
            text = redact(text, self._secrets)
        size = len(text)
        if '"' in text and text.lstrip()[:1] in ("{", "["):
            text = _masked_json(text)
        if len(text) <= TEXT_MAX:
            return text
        return f"{text[:TEXT_MAX]}... [{max(size, len(text)) - TEXT_MAX} more characters]"


def _masked(value: Any) -> Any:
    """What stands under a secret's name: everything that could tell something is masked."""
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, Mapping):
        return {str(key): _masked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    return MASK


def _masked_json(text: str) -> str:
    """JSON text with its secrets masked; it is left as it is written where it has none."""
    try:
        if len(text) > _JSON_MAX:
            raise ValueError("too long to parse")
        value = loads(text.encode("utf-8", "surrogatepass"))
        masked = _masked_members(value)
        return text if masked == value else dumps(masked)
    except (ValueError, RecursionError):
        # Cut off, or not JSON after all: its members are masked by their look.
        return _MEMBER.sub(_mask_member, text[: 4 * TEXT_MAX])


def _masked_members(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _masked(item) if _names_secret(key) else _masked_members(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_masked_members(item) for item in value]
    if isinstance(value, str) and '"' in value and value.lstrip()[:1] in ("{", "["):
        return _masked_json(value)
    return value


def _mask_member(match: re.Match[str]) -> str:
    if not _names_secret(match[1]):
        return match[0]
    return f'"{match[1]}"{match[2]}"{MASK}{match[4]}'
