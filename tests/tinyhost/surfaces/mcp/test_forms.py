"""The parts that need no server: entries, pages, results, questions and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import mcp_types as types
import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.asking import Question, Reply
from tinyhost.model import ToolSpec
from tinyhost.outcomes import Outcome
from tinyhost.permissions import Action, Reason, ReasonKind, ToolUse
from tinyhost.surfaces.mcp import asking, lines, requests, results, tools
from tinyhost.surfaces.mcp.text import sound

NEWEST = "2026-07-28"
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "x://y", "name": "y"}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def outcome(contexts: Sequence[str] = (), **details: Any) -> Any:
    verdict: Any = None
    return Outcome(
        content="text", is_error=False, contexts=contexts, verdict=verdict, details=details
    )


# --- tools


@pytest.mark.parametrize(
    ("hints", "shown"),
    [
        ({}, (False, True, False, True)),
        ({"readOnlyHint": True}, (True, False, False, True)),
        ({"readOnlyHint": True, "destructiveHint": True}, (True, True, False, True)),
        ({"destructiveHint": False, "openWorldHint": False}, (False, False, False, False)),
        ({"idempotentHint": True}, (False, True, True, True)),
    ],
)
def test_a_tool_is_held_to_do_the_worst_unless_its_plugin_says_otherwise(
    hints: Mapping[str, bool], shown: tuple[bool, ...]
) -> None:
    assert tuple(tools.hints_of(hints).values()) == shown


def test_a_schema_is_passed_on_as_it_is() -> None:
    schema = {"type": "object", "$defs": {"a": {"type": "null"}}, "x-mine": ["\ud800"]}
    entry = tools.tool_entry("n", ToolSpec(id="i", name="n", plugin="p", input_schema=schema))
    assert entry.input_schema == {**schema, "x-mine": ["?"]}
    assert entry.description is None


def test_the_first_of_two_tools_with_one_name_is_kept() -> None:
    one, two = (ToolSpec(id=f"plugin__{p}__t", name="t", plugin=p) for p in "ab")
    assert tools.named([one, two], lambda tool: tool.name) == {"t": one}
    assert list(tools.named([one, two], tools.by_id)) == [one.id, two.id]


@given(st.lists(st.text(min_size=1), unique=True), st.integers(1, 5))
def test_pages_hold_each_name_once_and_in_order(names: list[str], size: int) -> None:
    names = [sound(name) for name in dict.fromkeys(map(sound, names))]
    found: list[str] = []
    cursor = None
    while True:
        shown, cursor = tools.page(names, cursor, size)
        found += shown
        if cursor is None:
            break
        assert len(shown) == size
    assert found == names


@given(st.text())
def test_a_cursor_that_was_not_given_out_is_refused(cursor: str) -> None:
    with pytest.raises(tools.BadCursor):
        tools.page(["a", "b"], cursor + "!", 1)


def test_a_cursor_skips_nothing_when_tools_before_it_go() -> None:
    _, cursor = tools.page(["a", "b", "c", "d"], None, 2)
    assert tools.page(["b", "c", "d"], cursor, 2) == (["c", "d"], None)
    with pytest.raises(tools.BadCursor):
        tools.page(["a", "c", "d"], cursor, 2)


# --- results


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("2024-11-05", ["image", "text", "text", "text"]),
        ("2025-03-26", ["image", "audio", "text", "text"]),
        ("2025-06-18", ["image", "audio", "resource_link", "text"]),
        (NEWEST, ["image", "audio", "resource_link", "text"]),
    ],
)
def test_content_that_a_revision_does_not_know_becomes_text(version: str, kinds: list[str]) -> None:
    given = outcome(content=[IMAGE, AUDIO, LINK, {"type": "hologram"}])
    shown = results.call_result(given, version)["content"]
    assert [part["type"] for part in shown] == kinds
    assert shown[3] == text("[content of the unknown type hologram]")


@pytest.mark.parametrize(
    ("value", "since"),
    [({"a": 1}, "2025-06-18"), ([1], NEWEST), (False, NEWEST)],
)
def test_structured_content_is_kept_where_it_is_known(value: Any, since: str) -> None:
    for version in ("2024-11-05", "2025-06-18", "2025-11-25", NEWEST):
        result = results.call_result(outcome(structuredContent=value), version)
        assert ("structuredContent" in result) == (version >= since)
        assert result["content"] == [text("text")]


def test_details_of_other_wires_are_kept_beside_the_text() -> None:
    result = results.call_result(outcome(title="t", content="no list"), NEWEST)
    assert result["content"] == [text("text")]
    assert result["_meta"] == {results.DETAILS: {"title": "t"}}


def test_contexts_stand_behind_the_content() -> None:
    result = results.call_result(outcome(contexts=["b"], content=[IMAGE]), NEWEST, ["a"])
    assert result["content"] == [IMAGE, text("[Hook Context]\na\nb")]


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_sound_values_can_be_encoded(value: Any) -> None:
    str(sound(value)).encode()
    assert sound(sound(value)) == sound(value)


# --- questions


def question(kind: ReasonKind = ReasonKind.RULE, a: str = "b") -> Question:
    use = ToolUse(
        tool_id="plugin__p__t",
        args={"a": a},
        args_text=f'{{"a":"{a}"}}',
        plugin="p",
        permission="",
        directory="/work",
    )
    reason = Reason(kind, "who", "it says so", Action.ASK)
    return Question(use=use, session_id="s", reasons=[reason])


def test_a_question_names_the_call_and_the_reason() -> None:
    message = asking.message_of(question(a="\ud800"))
    assert message.startswith('plugin__p__t is to run in /work with {"a":"?"}\nAsked because ')


def test_a_rule_is_offered_where_it_would_help() -> None:
    assert asking.form_of(question())["properties"]["answer"]["enum"] == ["once", "session", "no"]
    field = asking.form_of(question(ReasonKind.DEFAULT))["properties"]["answer"]
    assert field["enum"] == ["once", "session", "project", "no"]
    assert 'write the rule plugin__p__t({"a":"b"})' in field["description"]


@pytest.mark.parametrize(
    ("action", "content", "reply"),
    [
        ("accept", {"answer": "once"}, Reply.ONCE),
        ("accept", {"answer": "session"}, Reply.SESSION),
        ("accept", {"answer": "project"}, Reply.NO),  # it was not offered
        ("accept", {"answer": ["once"]}, Reply.NO),
        ("accept", None, Reply.NO),
        ("decline", {"answer": "once"}, Reply.NO),
    ],
)
def test_only_an_offered_answer_is_a_yes(action: Any, content: Any, reply: Reply) -> None:
    result = types.ElicitResult(action=action, content=content)
    assert asking.read_reply(result, question()) is reply


@pytest.mark.parametrize(
    ("offered", "asks"),
    [({}, True), ({"form": {}}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False)],
)
def test_a_client_that_shows_forms_can_be_asked(offered: dict[str, Any], asks: bool) -> None:
    capabilities = types.ClientCapabilities.model_validate({"elicitation": offered})
    assert requests.can_be_asked(capabilities) is asks
    assert not requests.can_be_asked(types.ClientCapabilities())
    assert not requests.can_be_asked(None)


# --- lines


@attrs.define
class Chunks(trio.abc.ReceiveStream):
    """Gives these, and ends."""

    left: list[bytes]

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        await trio.lowlevel.checkpoint()
        return self.left.pop(0) if self.left else b""

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


def read(chunks: list[bytes], limit: int) -> list[bytes | None]:
    async def run() -> list[bytes | None]:
        return [line async for line in lines.lines(Chunks(list(chunks)), limit)]

    return trio.run(run)


@given(st.lists(st.binary(min_size=1, max_size=8).map(lambda b: b.replace(b"a", b"\n"))))
def test_lines_are_found_wherever_chunks_end(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    wanted = [line.strip() for line in whole.split(b"\n") if line.strip()]
    assert read(chunks, 1000) == wanted


@given(st.lists(st.integers(0, 12), min_size=1), st.integers(1, 7))
def test_a_line_that_is_too_long_is_left_out_and_the_next_is_read(
    lengths: list[int], size: int
) -> None:
    whole = b"".join(b"x" * length + b"\n" for length in lengths)
    chunks = [whole[i : i + size] for i in range(0, len(whole), size)]
    wanted = [b"x" * length if length <= 6 else None for length in lengths if length]
    assert read(chunks, 6) == wanted
