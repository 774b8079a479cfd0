"""How classes stand for JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.bingo import context_messages, hook_messages, messages, schema
from tinyhost.bingo.forms import read, read_any, write
from tinyhost.bingo.model_types import ModelEvent, ProviderError, Usage
from tinyhost.bingo.types import ContextPiece, HookSpec, PartImage, Placement, ToolOutput
from tinyhost.bingo.views import View

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KINDS = [params for _, params, _ in schema.METHODS.values()]
KINDS += [result for _, _, result in schema.METHODS.values()]
KINDS += [params for _, params in schema.NOTIFICATIONS.values()]
KINDS += [*schema.PAYLOADS.values(), context_messages.CompactParams5, View, ModelEvent]
DOCUMENT = schema.document()


def from_schema(found: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that a part of the schema document describes."""
    if "$ref" in found:
        return from_schema(DOCUMENT["$defs"][found["$ref"].rpartition("/")[2]], depth + 1)
    if "const" in found:
        return st.just(found["const"])
    if "enum" in found:
        return st.sampled_from(found["enum"])
    for word in ("oneOf", "anyOf"):
        if word in found:
            return st.sampled_from(found[word]).flatmap(lambda part: from_schema(part, depth + 1))
    kind = found.get("type")
    if kind == "object":
        return _objects(found, depth)
    if kind == "array":
        low, high = found.get("minItems", 0), found.get("maxItems", 2)
        most = low if depth > 8 else high
        return st.lists(
            st.deferred(lambda: from_schema(found["items"], depth + 1)), min_size=low, max_size=most
        )
    plain = {
        "string": st.text(max_size=4),
        "boolean": st.booleans(),
        "integer": st.integers(0, 2**15),
        "number": st.integers(0, 9) | st.floats(0, 9),
        "null": st.none(),
        None: JSON,
    }
    return plain[kind]


def _objects(found: Any, depth: int) -> st.SearchStrategy[Any]:
    if "properties" not in found:
        inner = found["additionalProperties"]
        return st.dictionaries(st.text(max_size=3), from_schema(inner, depth + 1), max_size=2)
    members = {
        key: st.deferred(lambda part=part: from_schema(part, depth + 1))
        for key, part in found["properties"].items()
    }
    required = {key: members[key] for key in found["required"]}
    rest = {key: part for key, part in members.items() if key not in required}
    return st.fixed_dictionaries(required, optional={} if depth > 8 else rest)


def reference(kind: Any) -> Any:
    from tinyhost.bingo.forms import schema as schema_of

    return schema_of(kind, {})


@given(st.sampled_from(KINDS), JSON)
def test_whatever_is_sent_is_read_or_refused_in_words(kind: Any, value: Any) -> None:
    try:
        made = read_any(kind, value)
    except ValueError:
        return
    assert read_any(kind, json.loads(json.dumps(write(made)))) == made


@given(st.data())
def test_what_the_schema_describes_is_read_and_written_the_same(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    value = data.draw(from_schema(reference(kind)))
    first = read_any(kind, value)
    again = read_any(kind, json.loads(json.dumps(write(first))))
    assert again == first


@given(st.data())
def test_a_null_in_place_of_an_optional_member_is_as_if_it_was_not_there(
    data: st.DataObject,
) -> None:
    value = data.draw(from_schema(reference(HookSpec)))
    nulls = {"points": None, "tool": None}
    given_ones = {key: item for key, item in value.items() if item is not None}
    assert read(HookSpec, {**nulls, **given_ones}) == read(HookSpec, given_ones)


def test_unknown_members_are_ignored() -> None:
    assert read(HookSpec, {"id": "a", "more": 1, "Points": []}) == HookSpec(id="a")


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (HookSpec, {}, "id is missing"),
        (HookSpec, {"id": None}, "id is null"),
        (
            HookSpec,
            {"id": "a", "points": ["nowhere"]},
            r"points\[0\]: 'nowhere' is not one of submit",
        ),
        (HookSpec, [], "the value is an array, not an object"),
        (Placement, {"kind": "middle"}, "kind: 'middle' is not one of system, roundStart, barrier"),
        (Placement, {"kind": "system", "order": True}, "order is not a whole number"),
        (Placement, {}, "kind is null, not a string"),
        (Usage, {"inputTokens": -1, "outputTokens": 0}, "inputTokens is not a whole number from 0"),
        (Usage, {"inputTokens": 1.0, "outputTokens": 0}, "inputTokens is not a whole number"),
        (ToolOutput, {"parts": [{"type": "text"}]}, r"parts\[0\].text is missing"),
        (View, {"kind": "keyValue", "rows": [["a"]]}, r"rows\[0\] does not have 2 items"),
        (ProviderError, {"kind": "server", "status": 70000, "message": ""}, "status is not"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(kind: Any, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_any(kind, value)


def test_optional_members_are_left_out_and_those_with_a_default_are_written() -> None:
    assert write(PartImage(media_type="image/png", data="")) == {
        "type": "image",
        "mediaType": "image/png",
        "data": "",
    }
    assert write(ToolOutput(parts=())) == {"parts": []}
    assert write(ToolOutput(parts=(), is_error=True))["isError"] is True
    assert write(messages.ServiceCallResult()) == {"result": None}
    hook = hook_messages.HookParams(
        id="a", site=hook_messages.HookSite(session="", cwd="/"), point="stop"
    )
    assert "payload" not in write(hook)
    piece = read_any(ContextPiece, {"kind": "system", "text": "a"})
    assert write(piece) == {"kind": "system", "text": "a", "cache": False}


def test_a_required_member_of_any_kind_may_be_null_but_not_missing() -> None:
    call = {"callId": "c", "name": "n"}
    assert read(hook_messages.ToolCall, {**call, "input": None}).input is None
    with pytest.raises(ValueError, match="input is missing"):
        read(hook_messages.ToolCall, call)
