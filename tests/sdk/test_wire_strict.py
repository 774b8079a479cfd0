"""Lines under strict rules, which pass nothing that is not exactly a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_sdk import wire

REPLY = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def receive(data: bytes, *, strict: bool = True) -> list[str]:
    """Each message's kind, or for junk the reason."""
    receiver = wire.Receiver(wire.Rules(strict_lines=strict))
    messages = [*receiver.feed(data), *receiver.feed_eof()]
    return [m.reason if isinstance(m, wire.Junk) else type(m).__name__ for m in messages]


@pytest.mark.parametrize(
    ("data", "strict", "loose"),
    [
        (b"\n", ["an empty line"], []),
        (b" \r\n", ["an empty line"], []),
        (b"\xef\xbb\xbf" + REPLY + b"\n", ["a byte order mark"], ["Response"]),
        (
            REPLY.replace(b"{}", b'"\xff"') + b"\n",
            ["bytes that are not UTF-8"],
            ["Response"],
        ),
        (REPLY, ["the output ended within a line"], ["Response"]),
        (REPLY + b"\r\n", ["Response"], ["Response"]),
        (REPLY + b"\n", ["Response"], ["Response"]),
    ],
)
def test_strict_rules_refuse_what_others_let_pass(
    data: bytes, strict: list[str], loose: list[str]
) -> None:
    assert receive(data) == strict
    assert receive(data, strict=False) == loose


@given(st.binary(min_size=1, max_size=60))
def test_strict_rules_never_take_more_than_others(data: bytes) -> None:
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    messages = receive(data)
    assert len(messages) == lines
    taken = [m for m in messages if m in ("Response", "Request", "Notification")]
    assert len(taken) <= len(receive(data, strict=False))
