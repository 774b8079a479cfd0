"""The wire: any bytes, cut anywhere, give the same messages, and never an exception."""

from __future__ import annotations

from typing import Any

from tinyhost import codec
from tinyhost_sdk import wire

SEEDS = [
    b'\x00{"jsonrpc":"2.0","id":1,"result":{"a":[1,2.5,"x"]}}\n',
    b'\x03{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":null}}\n',
    b'\x11{"id":"a","method":"m","params":[]}\n\xef\xbb\xbf{"method":"n"}\r\n',
    b'\x25{"id":1.0,"result":1}\n{"id":true}\n[]\n\n{"a":"\\ud800"}\n{"id":1e999}\n',
    b'\xff{"jsonrpc":"2.0","id":12345678901234567890123,"result":NaN}\n[[[[[[[[[{"a":{}}',
]


def check(data: bytes) -> None:
    """The first byte chooses the rules and the cuts."""
    if not data:
        return
    choice, data = data[0], data[1:]
    rules = wire.Rules(
        max_line=64 if choice & 1 else 4096,
        max_depth=8 if choice & 2 else 128,
        require_jsonrpc=not choice & 4,
        string_ids=bool(choice & 8),
    )
    step = 1 + (choice >> 4)
    for loads in (wire.loads, codec.loads):
        whole = messages([data], rules, loads)
        cut = [data[at : at + step] for at in range(0, len(data), step)]
        assert messages(cut, rules, loads) == whole


def messages(chunks: list[bytes], rules: wire.Rules, loads: Any) -> list[str]:
    receiver = wire.Receiver(rules, loads)
    taken = [message for chunk in chunks for message in receiver.feed(chunk)]
    return [shown(message) for message in [*taken, *receiver.feed_eof()]]


def shown(message: wire.Message) -> str:
    """As text, to be compared: of a line too long it depends on the cuts how much was seen."""
    if isinstance(message, wire.Junk) and message.oversize:
        return "oversize"
    fields = {name: getattr(message, name) for name in message.__slots__}
    error = fields.get("error")
    if error is not None:
        fields["error"] = (error.code, error.message, error.data)
    id = fields.get("id")
    assert id is None or type(id) in (int, str)
    return f"{type(message).__name__} {fields!r}"


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
