from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.builtins import context_pruning
from tinyhost.builtins.context_pruning import SHORTEST, ContextPruning
from tinyhost.dispatch import Dispatcher
from tinyhost.hooks import ToolExecuteAfter

LONG = "line of output\n" * 100
OTHER = "another line\n" * 100


def pruning(**env: str) -> ContextPruning:
    return ContextPruning(env)


async def after(
    plugin: ContextPruning,
    output: str,
    *,
    tool: str = "bash",
    session: str = "s1",
    error: bool = False,
) -> Any:
    event = {"sessionId": session, "toolName": tool, "output": output, "isError": error}
    return await plugin.invoke_hook("tool.execute.after", event)


async def test_the_first_output_passes_unchanged() -> None:
    assert await after(pruning(), LONG) is None


async def test_a_repeated_output_becomes_a_note_that_names_the_earlier_call() -> None:
    plugin = pruning()
    await after(plugin, LONG)
    await after(plugin, OTHER)
    answer = await after(plugin, LONG)
    assert answer == {
        "output": f"[same output as bash gave 2 calls ago: {len(LONG)} characters,"
        " unchanged and not repeated here]"
    }


async def test_a_changed_output_is_given_whole_and_so_is_the_change_back() -> None:
    plugin = pruning()
    await after(plugin, LONG)
    assert await after(plugin, LONG + "edited") is None
    # What the tool gives now is what it gave two calls ago: the note is true.
    assert "2 calls ago" in (await after(plugin, LONG))["output"]


async def test_short_outputs_are_left_alone() -> None:
    plugin = pruning()
    short = "x" * (SHORTEST - 1)
    await after(plugin, short)
    assert await after(plugin, short) is None


async def test_the_note_is_shorter_than_what_it_replaces() -> None:
    plugin = pruning()
    shortest = "x" * SHORTEST
    await after(plugin, shortest, tool="t" * 64)
    answer = await after(plugin, shortest, tool="t" * 64)
    assert len(answer["output"]) < SHORTEST / 2


async def test_another_tool_with_the_same_output_is_left_alone() -> None:
    plugin = pruning()
    await after(plugin, LONG, tool="read")
    assert await after(plugin, LONG, tool="bash") is None


async def test_the_error_flag_is_part_of_what_has_to_be_the_same() -> None:
    plugin = pruning()
    await after(plugin, LONG)
    assert await after(plugin, LONG, error=True) is None
    answer = await after(plugin, LONG, error=True)
    assert "1 call ago" in answer["output"]
    assert "isError" not in answer


async def test_sessions_do_not_see_each_other() -> None:
    plugin = pruning()
    await after(plugin, LONG, session="s1")
    assert await after(plugin, LONG, session="s2") is None


async def test_calls_without_a_session_are_left_alone() -> None:
    plugin = pruning()
    await after(plugin, LONG, session="")
    assert await after(plugin, LONG, session="") is None


async def test_a_note_points_at_the_full_output_and_never_at_another_note() -> None:
    plugin = pruning(CONTEXT_PRUNE_THRESHOLD="3")
    assert await after(plugin, LONG) is None
    for ago in (1, 2, 3):
        assert f"gave {ago} call" in (await after(plugin, LONG))["output"]
    assert await after(plugin, LONG) is None
    assert "1 call ago" in (await after(plugin, LONG))["output"]


async def test_short_outputs_and_errors_count_as_calls() -> None:
    plugin = pruning(CONTEXT_PRUNE_THRESHOLD="2")
    await after(plugin, LONG)
    await after(plugin, "")
    await after(plugin, "no", error=True)
    assert await after(plugin, LONG) is None


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "²", "", "9" * 5000])
async def test_a_bad_threshold_means_twenty(value: str) -> None:
    plugin = pruning(CONTEXT_PRUNE_THRESHOLD=value)
    await after(plugin, LONG)
    for _ in range(19):
        await after(plugin, "")
    assert "20 calls ago" in (await after(plugin, LONG))["output"]
    assert await after(plugin, LONG) is None


@pytest.mark.parametrize("way", ["session.end", "dispose"])
async def test_what_was_seen_is_forgotten_at_the_end(way: str) -> None:
    plugin = pruning()
    await after(plugin, LONG)
    await plugin.invoke_hook(way, {"sessionId": "s1"} if way == "session.end" else None)
    assert await after(plugin, LONG) is None


async def test_sessions_that_never_end_push_out_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_pruning, "_SESSIONS_MOST", 2)
    plugin = pruning()
    for session in ("s1", "s2", "s1", "s3"):
        await after(plugin, LONG, session=session)
    assert (await after(plugin, LONG, session="s1"))["output"].startswith("[same")
    assert await after(plugin, LONG, session="s2") is None


async def test_an_output_with_half_a_character_is_compared_like_any_other() -> None:
    plugin = pruning()
    odd = "\ud800" * SHORTEST
    assert await after(plugin, odd) is None
    assert (await after(plugin, odd))["output"].startswith("[same")


@given(
    calls=st.lists(
        st.tuples(st.sampled_from(["read", "bash"]), st.sampled_from([LONG, OTHER, ""])),
        max_size=30,
    ),
    window=st.integers(1, 6),
)
def test_every_note_is_true(calls: list[tuple[str, str]], window: int) -> None:
    import re

    import trio

    async def check() -> None:
        plugin = pruning(CONTEXT_PRUNE_THRESHOLD=str(window))
        full: list[bool] = []
        for index, (tool, output) in enumerate(calls):
            answer = await after(plugin, output, tool=tool)
            full.append(answer is None)
            if answer is None:
                continue
            match = re.search(r"gave (\d+) call", answer["output"])
            assert match is not None
            ago = int(match[1])
            assert 1 <= ago <= window
            assert calls[index - ago] == (tool, output)
            assert full[index - ago]

    trio.run(check)


async def test_a_dispatch_keeps_the_flag_and_puts_in_the_note() -> None:
    plugin = pruning()
    asked = Dispatcher(lambda hook: [plugin] if plugin.handles(hook) else [])
    event = ToolExecuteAfter(session_id="s", tool_name="bash", output=LONG, is_error=True)
    first = await asked.tool_execute_after(event)
    assert (first.text, first.changed) == (LONG, False)
    second = await asked.tool_execute_after(event)
    assert second.text.startswith("[same output as bash gave 1 call ago")
    assert second.is_error
