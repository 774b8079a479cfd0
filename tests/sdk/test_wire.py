"""Bytes to messages, however the bytes are cut and whatever stands between them."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_sdk import codec, names, wire

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
PARAMS = st.dictionaries(ANY_TEXT, VALUES, max_size=3) | st.lists(VALUES, max_size=3)
IDS = st.integers() | ANY_TEXT
METHODS = st.sampled_from(["initialize", "tool/call", "hook/invoke", "tool/cancel"])
ERRORS = st.builds(
    wire.RpcError, st.integers(), ANY_TEXT, VALUES.filter(lambda value: value is not None)
)
MESSAGES = (
    st.builds(wire.Request, IDS, METHODS, PARAMS)
    | st.builds(wire.Notification, METHODS, PARAMS)
    | st.builds(wire.Response, IDS, VALUES)
    | st.builds(wire.Response, IDS, st.none(), ERRORS)
)
JUNK_LINES = st.sampled_from(
    [
        b"",
        b"   ",
        b"DEBUG hello",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":true,"result":1}',
        b'{"jsonrpc":"2.0","id":1.0,"method":"x"}',
        b'{"jsonrpc":"2.0","id":null,"result":1}',
        b'{"jsonrpc":"2.0","method":7}',
        b"[" * 500,
        b'{"a":NaN}',
    ]
)
LOOSE = wire.Rules(require_jsonrpc=False)
STRICT = wire.Rules(string_ids=True)


def line(message):
    if isinstance(message, wire.Request):
        return wire.request(message.id, message.method, codec.encode(message.params))
    if isinstance(message, wire.Notification):
        return wire.notification(message.method, codec.encode(message.params))
    if message.error is None:
        return wire.success(message.id, message.result)
    error = message.error
    return wire.failure(message.id, error.code, error.message, error.data)


def plain(message):
    """A message as text that tells 1, 1.0 and True apart."""
    fields = {name: getattr(message, name) for name in message.__slots__}
    if getattr(message, "error", None) is not None:
        fields["error"] = plain(message.error)
    return type(message).__name__ + repr(fields)


def received(pieces, rules=STRICT):
    receiver = wire.Receiver(rules)
    messages = [message for piece in pieces for message in receiver.feed(piece)]
    return messages + receiver.feed_eof()


def cut(data, positions):
    edges = [0, *sorted(position % (len(data) + 1) for position in positions), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def one(text, rules=LOOSE):
    (message,) = received([text if isinstance(text, bytes) else text.encode()], rules)
    return message


@given(
    st.lists(MESSAGES | JUNK_LINES, max_size=8),
    st.lists(st.integers(0, 10_000), max_size=12),
    st.sampled_from([b"\n", b"\r\n", b" \n"]),
    st.booleans(),
)
def test_messages_come_out_the_same_from_any_split_and_between_junk(items, cuts, end, last_ended):
    lines = [item if isinstance(item, bytes) else line(item)[:-1] for item in items]
    data = end.join(lines) + (end if last_ended else b"")
    messages = received(cut(data, cuts))
    expected = [plain(item) for item in items if not isinstance(item, bytes)]
    assert [
        plain(message) for message in messages if not isinstance(message, wire.Junk)
    ] == expected
    junk = [item for item in items if isinstance(item, bytes) and item.strip()]
    assert sum(isinstance(message, wire.Junk) for message in messages) == len(junk)


@given(st.lists(MESSAGES, min_size=1, max_size=5))
def test_single_bytes_give_the_same_as_one_chunk(items):
    data = b"".join(map(line, items))
    single = received([data[index : index + 1] for index in range(len(data))])
    assert list(map(plain, single)) == list(map(plain, received([data])))


@given(st.lists(st.binary(max_size=40), max_size=10), st.lists(st.integers(0, 400), max_size=8))
def test_no_bytes_make_the_receiver_raise_or_lose_the_next_message(blobs, cuts):
    data = b"\n".join(blobs) + b"\n" + wire.success(5, "here")
    messages = received(cut(data, cuts))
    assert plain(messages[-1]) == plain(wire.Response(5, "here"))


@given(st.lists(st.integers(1, 120), max_size=8), st.lists(st.integers(0, 1000), max_size=8))
def test_lines_over_the_cap_are_junk_once_and_the_others_arrive(sizes, cuts):
    rules = wire.Rules(max_line=80)
    lines = [b'"' + b"x" * size + b'"\n' for size in sizes]
    data = b"".join(lines) + wire.success(1, 2)
    *junk, last = received(cut(data, cuts), rules)
    assert plain(last) == plain(wire.Response(1, 2))
    assert [message.oversize for message in junk] == [len(text) > 80 for text in lines]


def test_the_cap_counts_the_newline():
    text = b'"' + b"x" * 20 + b'"'
    assert not one(text + b"\n", wire.Rules(max_line=len(text) + 1)).oversize
    assert one(text + b"\n", wire.Rules(max_line=len(text))).oversize


def test_the_cap_is_met_to_the_byte_in_whatever_pieces_a_line_comes():
    receiver = wire.Receiver(wire.Rules(max_line=16, require_jsonrpc=False))
    fits, too_long = b'{"method":"ab"}', b'{"method":"abc"}'
    for _ in range(3):  # what was too long leaves no trace
        assert receiver.feed(fits[:8]) == receiver.feed(fits[8:]) == []
        (message,) = receiver.feed(b"\n")
        assert message.method == "ab"
        assert receiver.feed(too_long[:15]) == []
        (junk,) = receiver.feed(too_long[15:])
        assert (junk.oversize, junk.size) == (True, 16)
        assert receiver.feed(b"more of it") == receiver.feed(b"\n") == []


def test_the_end_of_output_is_taken_once():
    receiver = wire.Receiver(LOOSE)
    assert receiver.feed(b'{"method":"last"}') == []
    (message,) = receiver.feed_eof()
    assert message.method == "last"
    assert receiver.feed_eof() == []


def test_an_endless_line_is_reported_early_and_is_not_kept():
    receiver = wire.Receiver(wire.Rules(max_line=1000))
    junk = [message for _ in range(100) for message in receiver.feed(b"x" * 100)]
    assert [message.oversize for message in junk] == [True]
    assert receiver._pieces == []
    assert plain(receiver.feed(b"rest\n" + wire.success(1, 1))[0]) == plain(wire.Response(1, 1))


def test_two_receivers_share_nothing():
    first, second = wire.Receiver(STRICT), wire.Receiver(STRICT)
    one_line, other_line = wire.success(1, "a"), wire.request(2, "tool/call", "{}")
    assert first.feed(one_line[:9]) == second.feed(other_line[:9]) == []
    assert plain(first.feed(one_line[9:])[0]) == plain(wire.Response(1, "a"))
    assert plain(second.feed(other_line[9:])[0]) == plain(wire.Request(2, "tool/call", {}))


@given(st.lists(MESSAGES, max_size=6))
def test_what_one_end_writes_the_other_end_reads_and_writes_again_unchanged(items):
    data = b"".join(map(line, items))
    assert b"".join(map(line, received([data]))) == data
    assert data.isascii()


def test_a_byte_order_mark_and_crlf_and_a_missing_last_newline_are_accepted():
    text = b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":1}\r\n{"jsonrpc":"2.0","id":2,"result":2}'
    assert [message.id for message in received([text])] == [1, 2]


def test_an_unfinished_last_line_is_junk():
    assert isinstance(one('{"jsonrpc":"2.0","id":1,"resu'), wire.Junk)


def test_bytes_that_are_not_utf_8_do_not_lose_the_message():
    message = one(b'{"id":1,"result":"a\xffb"}\n')
    assert message.result == "a\ufffdb"


def test_lone_surrogates_big_integers_and_floats_arrive_unchanged():
    message = one('{"id":1,"result":["\\udc80",18446744073709551617,1.0,1e2]}')
    assert repr(message.result) == repr(["\udc80", 2**64 + 1, 1.0, 100.0])


@pytest.mark.parametrize(
    "text",
    [
        '{"id":3,"result":NaN}',
        '{"id":3,"result":[1e999]}',
        '{"id":3,"result":%s}' % ("9" * 5000),
        '{"id":3,"result":%s}' % ("[" * 200 + "]" * 200),
        '{"id":3}',
        '{"id":3,"result":1,"error":{"code":1,"message":"x"}}',
        '{"id":3,"error":"boom"}',
        '{"id":3,"error":{"code":"1","message":"x"}}',
        '{"jsonrpc":"1.0","id":3,"result":1}',
    ],
)
def test_a_bad_reply_names_the_request_it_was_meant_for(text):
    message = one(text)
    assert isinstance(message, wire.Junk)
    assert (message.id, message.call_id) == (3, None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"id":3,"method":"x","params":NaN}', names.PARSE_ERROR),
        ('{"id":3,"method":"x","params":"text"}', names.INVALID_PARAMS),
        ('{"id":3,"method":7}', names.INVALID_REQUEST),
        ('{"jsonrpc":"1.0","id":3,"method":"x"}', names.INVALID_REQUEST),
        ('{"id":3,"method":"x","params":%s}' % ("[" * 200 + "]" * 200), names.INVALID_REQUEST),
    ],
)
def test_a_bad_request_can_be_answered(text, code):
    message = one(text)
    assert isinstance(message, wire.Junk)
    assert (message.id, message.call_id, message.code) == (None, 3, code)


@pytest.mark.parametrize(
    ("head", "id", "call_id"),
    [
        ('{"jsonrpc":"2.0","id":4,"result":"', 4, None),
        ('{"id": 4, "error":{"message":"', 4, None),
        ('{"id":123456789012345678,"result":"', 123456789012345678, None),
        ('{"id":1234567890123456789,"result":"', None, None),
        ('{"jsonrpc":"2.0","id":4,"method":"tool/call","params":{"id":9,"x":"', None, 4),
        ('{"jsonrpc":"2.0","result":{"id":9,"x":"', None, None),
        ('{"params":{"id":9,"method":"x","y":"', None, None),
        ('{"id":true,"result":"', None, None),
        ('[{"id":4,"result":"', None, None),
        ('"id":4,"result":"', None, None),
        ("x", None, None),
    ],
)
def test_an_oversize_line_names_its_request_only_by_a_member_of_its_own(head, id, call_id):
    message = one(head + "x" * 2000, wire.Rules(max_line=1000))
    assert message.oversize
    assert (message.id, message.call_id) == (id, call_id)


@pytest.mark.parametrize("id", ["true", "1.0", '"1"', "null", "[1]"])
def test_an_id_of_another_type_is_never_the_integer_that_it_equals(id):
    for member in ('"result":1', '"method":"x"'):
        message = one(f'{{"jsonrpc":"2.0","id":{id},{member}}}')
        assert isinstance(message, wire.Junk)
        assert (message.id, message.call_id) == (None, None)


def test_string_ids_are_a_matter_of_the_rules():
    assert (
        one('{"id":"a","result":1}', wire.Rules(require_jsonrpc=False, string_ids=True)).id == "a"
    )
    assert isinstance(one('{"id":"a","result":1}'), wire.Junk)


def test_a_bad_message_names_a_string_id_only_where_those_are_allowed():
    text = '{"jsonrpc":"1.0","id":"a","result":1}'
    assert one(text, wire.Rules(string_ids=True)).id == "a"
    assert one(text, wire.Rules()).id is None


@pytest.mark.parametrize("siblings", [1, 2, 300])
@pytest.mark.parametrize("depth", [1, 7, 8, 9, 10, 30])
def test_depth_is_counted_to_the_level_however_wide_the_data_is(depth, siblings):
    text = b"[" * (depth - 1) + b",".join([b"{}"] * siblings) + b"]" * (depth - 1)
    assert not wire.deeper_than(text, depth)
    assert wire.deeper_than(text, depth - 1)


def test_a_missing_version_is_a_matter_of_the_rules_and_a_wrong_one_is_not():
    assert isinstance(one('{"id":1,"result":1}'), wire.Response)
    assert isinstance(one('{"id":1,"result":1}', STRICT), wire.Junk)
    assert isinstance(one('{"jsonrpc":"1.0","id":1,"result":1}'), wire.Junk)
    assert isinstance(one('{"jsonrpc":2.0,"id":1,"result":1}'), wire.Junk)


def test_a_request_is_never_taken_for_a_reply():
    message = one('{"id":1,"method":"x","result":{"allowed":true}}')
    assert isinstance(message, wire.Request)


def test_a_null_result_is_a_success_and_a_null_error_is_none():
    assert one('{"id":1,"result":null}').error is None
    assert one('{"id":1,"error":null,"result":2}').result == 2


def test_an_error_may_leave_out_its_fields():
    error = one('{"id":1,"error":{}}').error
    assert (error.code, error.message, error.data) == (0, "", None)


def test_nesting_is_allowed_up_to_the_cap():
    deep = "[" * 126 + "]" * 126
    assert isinstance(one(f'{{"id":1,"result":[{deep}]}}'), wire.Response)
    message = one(f'{{"id":1,"result":[[{deep}]]}}')
    assert isinstance(message, wire.Junk)
    assert "nested deeper than 128" in message.reason


def _depth(value):
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


BRACKETED = st.recursive(
    st.text('[]{}"\\x', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"\\', max_size=3), inner)
    ),
    max_leaves=15,
)


@given(BRACKETED, st.integers(0, 12))
def test_the_depth_check_counts_brackets_outside_strings_only(value, limit):
    assert wire.deeper_than(json.dumps(value).encode(), limit) == (_depth(value) > limit)


def test_the_head_of_a_bad_line_is_kept_and_its_size_told():
    message = one(b"x" * 5000)
    assert message.head == b"x" * 200
    assert message.size == 5000


@pytest.mark.parametrize(
    ("text", "id", "call_id"),
    [
        ('{"jsonrpc":"2.0","id":7,"result":{"content":"a\0b"}}', 7, None),
        ('{"jsonrpc":"2.0","id":7,"result":{"content":tru}}', 7, None),
        ('{"jsonrpc":"2.0","id":7,"method":"m","params":{]}', None, 7),
        ('{"jsonrpc":"2.0","id":7,', None, None),
        ('sent {"jsonrpc":"2.0","id":7,"result":{}}', None, None),
        ('[{"jsonrpc":"2.0","id":7,"result":{}]', None, None),
    ],
)
def test_a_line_that_is_broken_after_its_id_names_its_request_and_a_quoted_one_does_not(
    text, id, call_id
):
    message = one(text)
    assert isinstance(message, wire.Junk)
    assert (message.id, message.call_id) == (id, call_id)


def test_a_line_in_tiny_pieces_weighs_little_more_than_its_bytes():
    receiver = wire.Receiver(wire.Rules())
    for _ in range(100_000):
        receiver.feed(b"xy")
    assert len(receiver._pieces) < 100
    (message,) = receiver.feed(b"\n")
    assert message.size == 200_000
