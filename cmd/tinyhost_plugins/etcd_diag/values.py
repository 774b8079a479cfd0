"""Showing what etcd holds of an object, without its secrets."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .._shared import texts
from .._shared.table import cell
from . import kinds
from .kinds import Place
from .wire_format import BYTES, VARINT, BadMessage, fields

PROTOBUF = b"k8s\0"
ENCRYPTED = b"k8s:enc:"
# etcd takes 1.5 MiB in a request unless it is told otherwise.
MOST_READ = 16 * 1024 * 1024
_MOST_MASKED = 512 * 1024
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SECRET_KINDS = ("Secret", "OAuthAccessToken", "OAuthAuthorizeToken", "OAuthClient")
_KNOWN_METADATA = {"annotations", "finalizers", "labels", "managedFields", "ownerReferences"}
_DATA_URL = re.compile(
    r"""(\bdata:(?:[\w.+-]{1,80}/[\w.+-]{1,80})?(?:;[\w=.+-]{1,80}){0,4},)([^\s"'<>\\]+)"""
)
_DATA_URL_ALONE = re.compile(r"\A(data:[^\s,]{0,300},)(.+)", re.DOTALL)
_PLAIN_FIELDS = ("apiVersion", "kind", "type", "immutable")


class Shown(NamedTuple):
    """form: what the value is, in a few words. body: what may be seen of it; "" for nothing."""

    form: str
    body: str


def show(value: bytes, place: Place) -> Shown:
    """What may be seen of the value at a key. Nothing of it raises."""
    if value.startswith(ENCRYPTED):
        provider = b":".join(value[:200].split(b":", 5)[2:5]).decode(errors="replace")
        return Shown(f"encrypted at rest ({cell(provider, 60)})", "")
    if value.startswith(PROTOBUF):
        return _protobuf(value, place)
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        return Shown("neither JSON nor protobuf of Kubernetes; it is not shown", "")
    return Shown("JSON", _masked(json_text(document, place)))


def json_text(document: Any, place: Place) -> str:
    """The document without its secrets, as indented JSON."""
    try:
        safe = _safe(document, kinds.is_secret(place.kind))
        return _escaped(json.dumps(safe, indent=2, ensure_ascii=False))
    except RecursionError:
        return "(nested too deeply to be shown)"


def _escaped(text: str) -> str:
    """JSON without what a terminal may take for a command: "ensure_ascii" would escape all letters."""
    return "\n".join(
        line
        if line.isprintable()
        else "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)
        for line in text.split("\n")
    )


def _safe(value: Any, secret: bool = False) -> Any:
    """A copy without what Secrets and the like hold, at any depth: templates have them inside."""
    if isinstance(value, list):
        return {"redacted": len(value)} if secret else [_safe(item) for item in value]
    if not isinstance(value, dict):
        return {"redacted": 1} if secret else _without_data_urls(value)
    secret = secret or value.get("kind") in _SECRET_KINDS
    if secret:
        value = _without_content(value)
    return {name: _field(name, item, secret) for name, item in value.items()}


def _field(name: str, value: Any, secret: bool) -> Any:
    if name == "metadata" and isinstance(value, dict):
        return _metadata(value, secret)
    if name == "binaryData" and isinstance(value, dict):
        return {inner: _hidden(item) for inner, item in value.items()}
    return _safe(value)


def _without_data_urls(value: Any) -> Any:
    """A MachineConfig has whole files in them, the pull secret's among them, in a spelling of their own."""
    if not isinstance(value, str) or "data:" not in value:
        return value
    # What is one as a whole may hold blanks, too.
    pattern = _DATA_URL_ALONE if _DATA_URL_ALONE.match(value) else _DATA_URL
    return pattern.sub(lambda found: f"{found[1]}({len(found[2]):,} characters)", value)


def _hidden(value: Any) -> str:
    return f"({len(value):,} characters)" if isinstance(value, str) else "(not shown)"


def _without_content(document: dict[str, Any]) -> dict[str, Any]:
    """Only what says which object it is; of the rest, how many entries there are."""
    return {
        name: value
        if (name == "metadata" and isinstance(value, dict))
        or (name in _PLAIN_FIELDS and isinstance(value, (str, bool)))
        else {"redacted": len(value) if isinstance(value, (dict, list)) else 1}
        for name, value in document.items()
    }


def _metadata(metadata: dict[str, Any], secret: bool) -> dict[str, Any]:
    result = dict(metadata)
    if secret:
        # What an API server would not have taken is not shown either.
        result = {
            name: value
            for name, value in result.items()
            if name in _KNOWN_METADATA or not isinstance(value, (dict, list))
        }
    notes = result.get("annotations")
    if isinstance(notes, dict):
        result["annotations"] = {
            name: _hidden(value) if secret or name == _LAST_APPLIED else _safe(value)
            for name, value in notes.items()
        }
    elif secret and notes is not None:
        result["annotations"] = _hidden(notes)
    managed = result.get("managedFields")
    if isinstance(managed, list):
        result["managedFields"] = f"({texts.counted(len(managed), 'entry', 'entries')})"
    return result


def _masked(shown: str) -> str:
    # Passwords and tokens turn up in ConfigMaps and custom resources, too.
    from ..log_sanitizer.sanitize import sanitize

    rest = len(shown) - _MOST_MASKED
    result = sanitize(shown[:_MOST_MASKED]).text
    return result if rest <= 0 else f"{result}\n({rest} more characters are not shown)"


def _protobuf(value: bytes, place: Place) -> Shown:
    """The type, and the metadata if it is where that of Kubernetes objects is."""
    try:
        version, kind, start, end = _unknown(value)
    except (BadMessage, UnicodeDecodeError):
        return Shown("damaged protobuf of Kubernetes", "")
    lines = {"apiVersion": version, "kind": kind}
    try:
        metadata = _first(value, start, end, 1)
        lines |= _object_meta(value, *metadata) if metadata else {}
    except (BadMessage, UnicodeDecodeError):
        lines["metadata"] = "cannot be read"
    if lines.get("name", place.name) != place.name:
        # Not a Kubernetes object's metadata, so it may be anything.
        lines = {"apiVersion": version, "kind": kind}
    body = "\n".join(f"{name}: {cell(line, 400)}" for name, line in lines.items() if line)
    return Shown("protobuf; its type and metadata are shown, its content is not", body)


def _unknown(value: bytes) -> tuple[str, str, int, int]:
    """apiVersion and kind of the envelope, and where the object is in it."""
    version = kind = ""
    inside = (0, 0)
    for field, wire, start, end in fields(value, len(PROTOBUF), len(value)):
        if wire == BYTES and field == 1:
            for part, form, first, last in fields(value, start, end):
                if form == BYTES and part == 1:
                    version = value[first:last].decode()
                elif form == BYTES and part == 2:
                    kind = value[first:last].decode()
        elif wire == BYTES and field == 2:
            inside = (start, end)
    return version, kind, *inside


# The fields of ObjectMeta that hold one text.
_TEXTS = {1: "name", 3: "namespace", 5: "uid"}
_TIMES = {8: "created", 9: "being deleted since"}


def _object_meta(value: bytes, start: int, end: int) -> dict[str, str]:
    result: dict[str, str] = {}
    labels, notes, finalizers, owners = [], [], [], []
    for field, wire, first, last in fields(value, start, end):
        if wire == VARINT and field == 7:
            result["generation"] = str(first)
        if wire != BYTES:
            continue
        if field in _TEXTS:
            result[_TEXTS[field]] = value[first:last].decode()
        elif field in _TIMES:
            result[_TIMES[field]] = _time(value, first, last)
        elif field == 11:
            labels.append(f"{_text(value, first, last, 1)}={_text(value, first, last, 2)}")
        elif field == 12:
            notes.append(_text(value, first, last, 1))
        elif field == 13:
            owners.append(f"{_text(value, first, last, 1)}/{_text(value, first, last, 3)}")
        elif field == 14:
            finalizers.append(value[first:last].decode())
    result["labels"] = ", ".join(labels)
    result["annotations (names)"] = ", ".join(notes)
    result["owners"] = ", ".join(owners)
    result["finalizers"] = ", ".join(finalizers)
    return result


def _first(value: bytes, start: int, end: int, wanted: int) -> tuple[int, int] | None:
    """Where the field with a number is, if it is of bytes."""
    for field, wire, first, last in fields(value, start, end):
        if field == wanted:
            return (first, last) if wire == BYTES else None
    return None


def _text(value: bytes, start: int, end: int, wanted: int) -> str:
    found = _first(value, start, end, wanted)
    return value[slice(*found)].decode() if found else ""


def _time(value: bytes, start: int, end: int) -> str:
    for field, wire, seconds, _ in fields(value, start, end):
        if field == 1 and wire == VARINT and seconds < 1 << 37:
            return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return ""
