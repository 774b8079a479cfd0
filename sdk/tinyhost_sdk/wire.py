"""JSON-RPC 2.0 lines: bytes to messages and messages to bytes. Pure: no I/O, clock or log.

Both ends use this module, the host over trio streams and a plugin over blocking pipes.
`Receiver` takes bytes in chunks of any size and gives back messages. Nothing a peer
writes raises: what is not a message comes out as `Junk`, with the reason, and the reader
goes on with the next line.

A `Rules` record says what one wire allows. Looseness that could deliver a wrong answer
is refused under any rules: an id of another type (JSON's true, 1.0 and "1" are all equal
to 1 somewhere), a reply that is both result and error or neither, a request taken for a
reply.
"""

from . import codec, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Loads = Callable[[bytes], Any]

_BOM = b"\xef\xbb\xbf"
_SMALL = 4096  # bytes; a piece of a line is filled up to this
_HEAD = 200  # bytes of a bad line that are kept to show a person


class Rules:
    """What one wire allows.

    max_line: bytes in one line, newline included.
    max_depth: how deeply objects and arrays may nest.
    require_jsonrpc: refuse messages without "jsonrpc":"2.0". When false, the member may
        be missing, but a present one still has to be right.
    string_ids: ids may be strings as well as integers.
    strict_lines: refuse empty lines, a byte order mark, bytes that are not UTF-8, and a last
        line without newline, which are otherwise let pass.
    """

    __slots__ = ("max_depth", "max_line", "require_jsonrpc", "strict_lines", "string_ids")

    def __init__(
        self,
        *,
        max_line: int = names.MAX_LINE_FROM_PLUGIN,
        max_depth: int = names.MAX_DEPTH,
        require_jsonrpc: bool = True,
        string_ids: bool = False,
        strict_lines: bool = False,
    ) -> None:
        self.max_line = max_line
        self.max_depth = max_depth
        self.require_jsonrpc = require_jsonrpc
        self.string_ids = string_ids
        self.strict_lines = strict_lines


class Request:
    """A call that wants a reply. `params` is None when the member is missing."""

    __slots__ = ("id", "method", "params")

    def __init__(self, id: "int | str", method: str, params: "Any") -> None:
        self.id = id
        self.method = method
        self.params = params


class Notification:
    """A call that wants no reply."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: "Any") -> None:
        self.method = method
        self.params = params


class Response:
    """A reply: `error` is None for a success, whatever `result` is."""

    __slots__ = ("error", "id", "result")

    def __init__(self, id: "int | str", result: "Any", error: "RpcError | None" = None) -> None:
        self.id = id
        self.result = result
        self.error = error


class RpcError:
    """The error member of a reply."""

    __slots__ = ("code", "data", "message")

    def __init__(self, code: int, message: str, data: "Any" = None) -> None:
        self.code = code
        self.message = message
        self.data = data


class Junk:
    """A line that is not a message.

    `head` is the line's first bytes, `size` its length in bytes. `id` is set when the line
    was meant as the reply to that request, so that its caller need not wait in vain;
    `call_id` is set when it was meant as a request of that id, so that its sender can be
    answered with the error `code`. `oversize` marks a line longer than the rules allow; it
    is reported once, when it passes the limit, and dropped up to its newline.
    """

    __slots__ = ("call_id", "code", "head", "id", "oversize", "reason", "size")

    def __init__(
        self,
        reason: str,
        head: bytes,
        size: int,
        id: "int | str | None" = None,
        oversize: bool = False,
        call_id: "int | str | None" = None,
        code: int = names.INVALID_REQUEST,
    ) -> None:
        self.reason = reason
        self.head = head
        self.size = size
        self.id = id
        self.oversize = oversize
        self.call_id = call_id
        self.code = code


if TYPE_CHECKING:
    Message = Request | Notification | Response | Junk
    Ids = tuple[int | str | None, int | str | None]  # of a reply, of a call; one at most


def loads(line: bytes) -> "Any":
    """Decode one line. Bytes that are not UTF-8 become U+FFFD. Raises ValueError."""
    return codec.decode(_text(line))


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace")


class Receiver:
    """Turns the bytes a peer wrote into messages, for chunks cut anywhere."""

    def __init__(self, rules: Rules, loads: "Loads" = loads) -> None:
        self.rules = rules
        self._loads = loads
        # A list of pieces joined at the newline: appending to one buffer would copy a
        # long line once for each chunk.
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False  # inside a line that has been refused as too long

    def feed(self, data: bytes) -> "list[Message]":
        """Take the next bytes and return the messages that they complete."""
        messages: list[Message] = []
        if data.find(b"\n") == len(data) - 1 and not self._pieces and not self._skipping:
            self._take_line(data[:-1], messages)  # one whole line, as nearly always
            return messages
        lines = data.split(b"\n")
        last = lines.pop()
        for line in lines:
            if self._skipping:
                self._skipping = False
                continue
            if self._pieces:
                self._pieces.append(line)
                line = b"".join(self._pieces)
                self._pieces.clear()
                self._size = 0
            self._take_line(line, messages)
        if last and not self._skipping:
            # Many tiny pieces would weigh more than what they hold.
            if self._pieces and len(self._pieces[-1]) < _SMALL:
                self._pieces[-1] += last
            else:
                self._pieces.append(last)
            self._size += len(last)
            if self._size >= self.rules.max_line:
                line = b"".join(self._pieces)
                self._pieces.clear()
                self._size = 0
                self._skipping = True
                messages.append(self._oversize(line))
        return messages

    def feed_eof(self) -> "list[Message]":
        """The peer will write no more: a last line without newline still counts."""
        messages: list[Message] = []
        if self._pieces:
            line = b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            if self.rules.strict_lines:
                messages.append(_junk("the output ended within a line", line))
            else:
                self._take_line(line, messages)
        return messages

    def _take_line(self, line: bytes, messages: "list[Message]") -> None:
        if len(line) >= self.rules.max_line:
            messages.append(self._oversize(line))
            return
        if self.rules.strict_lines and (problem := _line_problem(line)):
            messages.append(_junk(problem, line))
            return
        line = line.strip()
        if line.startswith(_BOM):
            line = line[len(_BOM) :].lstrip()
        if line:
            messages.append(parse(line, self.rules, self._loads))

    def _oversize(self, line: bytes) -> Junk:
        head = line[:_HEAD]
        reason = f"the line is longer than {self.rules.max_line} bytes"
        id, call_id = _ids_at_head(head)
        return Junk(reason, head, len(line), id, oversize=True, call_id=call_id)


def _line_problem(line: bytes) -> str:
    """What strict rules have against a line before it is parsed, or ""."""
    if not line.strip():
        return "an empty line"
    if line.startswith(_BOM):
        return "a byte order mark"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes that are not UTF-8"
    return ""


def _ids_at_head(head: bytes) -> "Ids":
    """The id of a line too long or too deep to parse, when it stands first as is usual."""
    # Only up to the first nested value: an id in there belongs to something else.
    parts = head.replace(b"[", b"{").split(b"{", 2)
    members = parts[1] if len(parts) > 1 else b""
    _, found, rest = members.partition(b'"id":')
    digits = rest.partition(b",")[0].strip()
    if not found or not digits.isdigit() or len(digits) > 18:
        return None, None
    if b'"method":' in members:
        return None, int(digits)
    is_reply = b'"result":' in members or b'"error":' in members
    return (int(digits) if is_reply else None), None


def parse(line: bytes, rules: Rules, loads: "Loads" = loads) -> "Message":
    """Turn one line, without its newline, into a message."""
    if len(line) > rules.max_depth and deeper_than(line, rules.max_depth):
        return _junk(f"nested deeper than {rules.max_depth}", line, _ids_at_head(line[:_HEAD]))
    try:
        value = loads(line)
    except ValueError as error:
        return _junk(str(error), line, _salvage_ids(line, rules), names.PARSE_ERROR)
    return _message(value, line, rules)


def _message(value: "Any", line: bytes, rules: Rules) -> "Message":
    if type(value) is not dict:
        what = "a batch" if type(value) is list else "not an object"
        return _junk(f"{what}, where one message per line is expected", line)
    id: Any = value.get("id")
    id_ok = type(id) is int or (rules.string_ids and type(id) is str)
    version = value.get("jsonrpc")
    if version != "2.0" and (version is not None or rules.require_jsonrpc):
        reason = 'no "jsonrpc":"2.0" member' if version is None else "another jsonrpc version"
        return _junk(reason, line, _ids(value, rules))
    if "method" in value:
        return _call(value, id, id_ok, line)
    if not id_ok:
        allowed = "an integer or a string" if rules.string_ids else "an integer"
        return _junk(f"neither a call nor a reply: the id is not {allowed}", line)
    return _reply(value, id, line)


def _ids(value: "dict[str, Any]", rules: Rules) -> "Ids":
    id = value.get("id")
    if type(id) is not int and not (rules.string_ids and type(id) is str):
        return None, None
    return (None, id) if "method" in value else (id, None)


def _call(value: "dict[str, Any]", id: "Any", id_ok: bool, line: bytes) -> "Message":
    ids: Ids = (None, id if id_ok else None)
    method = value["method"]
    if type(method) is not str:
        return _junk("the method is not a string", line, ids)
    params = value.get("params")
    if params is not None and type(params) not in (dict, list):
        reason = "the params are neither an object nor an array"
        return _junk(reason, line, ids, names.INVALID_PARAMS)
    if "id" not in value:
        return Notification(method, params)
    if not id_ok:
        return _junk("a request whose id is of a wrong type", line)
    return Request(id, method, params)


def _reply(value: "dict[str, Any]", id: "int | str", line: bytes) -> "Message":
    error = value.get("error")
    result = value.get("result")
    if error is None:
        if "result" not in value:
            return _junk("a reply with neither result nor error", line, (id, None))
        return Response(id, result)
    if result is not None:
        return _junk("a reply with both result and error", line, (id, None))
    if type(error) is not dict:
        return _junk("a reply whose error is not an object", line, (id, None))
    code = error.get("code", 0)
    message = error.get("message", "")
    if type(code) is not int or type(message) is not str:
        return _junk("a reply whose error has no integer code and text message", line, (id, None))
    return Response(id, None, RpcError(code, message, error.get("data")))


def _junk(
    reason: str, line: bytes, ids: "Ids" = (None, None), code: int = names.INVALID_REQUEST
) -> Junk:
    return Junk(reason, line[:_HEAD], len(line), ids[0], call_id=ids[1], code=code)


def _salvage_ids(line: bytes, rules: Rules) -> "Ids":
    """Whose message it was, when a number or what follows its id is wrong with the line."""
    try:
        value = codec.decode_lenient(_text(line))
    except ValueError:
        # Only of a line that begins as a message does: a log may quote one.
        return _ids_at_head(line[:_HEAD]) if line.startswith(b"{") else (None, None)
    return _ids(value, rules) if type(value) is dict else (None, None)


def deeper_than(line: bytes, limit: int) -> bool:
    """Whether brackets outside strings nest deeper than limit. Unbalanced text may count.

    The line is an attacker's choice, so nearly all of the work is done by C code over data
    that only shrinks, and it stops at the first bracket that is too deep.
    """
    if line.count(b"[") + line.count(b"{") <= limit:
        return False
    # Not needed to start a plugin.
    import re
    from itertools import accumulate

    unescaped = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    bare = re.sub(rb'"[^"]*(?:"|\Z)', b"", unescaped)
    brackets = bare.translate(None, delete=_NOT_BRACKETS).translate(_AS_SQUARE)
    taken = 0
    # Wide data is shallow: a few passes, each of which takes away the innermost pairs,
    # leave next to nothing of it.
    while brackets and taken < min(limit, 8):
        brackets = brackets.replace(b"[]", b"")
        taken += 1
    depths = accumulate(map(_STEP.__getitem__, brackets))
    return any(depth + taken > limit for depth in depths)


_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_AS_SQUARE = bytes.maketrans(b"{}", b"[]")
_STEP = {ord("["): 1, ord("]"): -1}


def _id_text(id: "int | str | None") -> str:
    return str(id) if type(id) is int else codec.encode(id)


def request(id: "int | str", method: str, params: str) -> bytes:
    """One request line; `params` is JSON text and goes in as it is."""
    return (
        f'{{"jsonrpc":"2.0","id":{_id_text(id)},"method":"{method}","params":{params}}}\n'.encode()
    )


def notification(method: str, params: str) -> bytes:
    """One notification line; `params` is JSON text and goes in as it is."""
    return f'{{"jsonrpc":"2.0","method":"{method}","params":{params}}}\n'.encode()


def success(id: "int | str", result: object) -> bytes:
    """One reply line. Raises ValueError or TypeError for a result that is not JSON."""
    return success_text(id, codec.encode(result))


def success_text(id: "int | str", result: str) -> bytes:
    """One reply line; `result` is JSON text and goes in as it is."""
    return f'{{"jsonrpc":"2.0","id":{_id_text(id)},"result":{result}}}\n'.encode()


def failure(id: "int | str | None", code: int, message: str, data: object = None) -> bytes:
    """One error reply line."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return f'{{"jsonrpc":"2.0","id":{_id_text(id)},"error":{codec.encode(error)}}}\n'.encode()
