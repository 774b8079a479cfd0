"""What callers hear: of a death, at once and all of them, and of nothing that is another's."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
import trio
import trio.testing
from runner import HEALTHY, Bench, until, within

import tinyhost
from tinyhost import OutcomeUncertain, PluginDied

WORDS = "the last words"
MANY = {"protocol": {"concurrency": 64, "progress": True, "cancel": True}}


class Callers:
    """Calls made side by side, and how each ended; an answer counts as None."""

    def __init__(self, plugin: tinyhost.Plugin) -> None:
        self.plugin = plugin
        self.ended: list[Exception | None] = []

    async def call(self, args: Any = None) -> None:
        try:
            await self.plugin.call_tool("t", args)
        except tinyhost.PluginError as error:
            self.ended.append(error)
        else:
            self.ended.append(None)


@pytest.mark.parametrize(
    ("death", "words"),
    [(["exit", 7], "exited with status 7"), (["signal", signal.SIGSEGV], "killed by SIGSEGV")],
)
@pytest.mark.parametrize("held", [[], [["child", "session", "holds 1", "holds 2"]]])
async def test_every_caller_hears_of_a_death_with_status_and_last_words(
    bench: Bench, death: list[Any], words: str, held: list[Any]
) -> None:
    deeds = [*held, ["sleep", 0.2], ["log", WORDS], death]
    bench.add("rogue", {"manifest": MANY, "first": deeds})
    async with tinyhost.open_manager(bench.config({})) as manager:
        callers = Callers(await manager.load("rogue"))
        # The pause, the second from the death on, and the slack.
        async with within(0.2 + 1, "the calls"), trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(callers.call)
    assert len(callers.ended) == 100
    for error in callers.ended:
        assert isinstance(error, PluginDied)
        assert words in error.status
        assert WORDS in error.stderr
    sent = [error for error in callers.ended if type(error) is OutcomeUncertain]
    # Those that waited behind others were never sent, and are known to have had no effect.
    assert len(sent) == 64


async def test_a_call_that_meets_a_closed_pipe_is_known_to_have_had_no_effect(
    bench: Bench,
) -> None:
    bench.add("rogue", {"initialize": [["close", 0]], "ready": [["sleep", 600]]})
    async with tinyhost.open_manager(bench.config({})) as manager:
        plugin = await manager.load("rogue")
        async with within(1.5, "the call"):
            with pytest.raises(PluginDied, match="closed its standard input") as caught:
                await plugin.call_tool("t")
        assert type(caught.value) is PluginDied
        assert plugin.info.counters.deaths == 1


async def test_the_news_of_a_death_does_not_wait_for_threads_of_the_program(bench: Bench) -> None:
    bench.add("rogue", {"call": [["exit", 7]]})
    limiter = trio.to_thread.current_default_thread_limiter()
    tokens, limiter.total_tokens = limiter.total_tokens, 1
    try:
        async with tinyhost.open_manager(bench.config({})) as manager:
            plugin = await manager.load("rogue")
            async with limiter, within(1, "the call"):
                with pytest.raises(OutcomeUncertain, match="status 7"):
                    await plugin.call_tool("t")
    finally:
        limiter.total_tokens = tokens


async def test_a_caller_that_fails_at_progress_is_alone_to_hear_of_it(bench: Bench) -> None:
    bench.add(
        "rogue",
        {"manifest": MANY, "first": [["write", "notifications", 3], ["sleep", 0.2]]},
    )

    def fail(message: str) -> None:
        raise ZeroDivisionError(message)

    async with tinyhost.open_manager(bench.config({})) as manager:
        plugin = await manager.load("rogue")
        others = Callers(plugin)

        async def first() -> None:
            with pytest.raises(ZeroDivisionError, match="step"):
                await plugin.call_tool("t", on_progress=fail)

        async with within(0.2, "the calls"), trio.open_nursery() as nursery:
            nursery.start_soon(first)
            await trio.testing.wait_all_tasks_blocked()
            for _ in range(10):
                nursery.start_soon(others.call)
        assert others.ended == [None] * 10
        await until(lambda: plugin.info.counters.late_replies == 1, "its answer is counted")
        assert plugin.info.counters.junk_lines == 0


@pytest.mark.parametrize("seed", range(4))
async def test_random_kills_and_cancels_end_each_call_once(bench: Bench, seed: int) -> None:
    """Kills and cancellations at any pass of the scheduler, with another plugin beside."""
    bench.add("rogue", {"manifest": MANY})
    bench.add(HEALTHY, {"manifest": MANY})
    async with tinyhost.open_manager(bench.config({})) as manager:
        rogue, healthy = await manager.load("rogue"), await manager.load(HEALTHY)
        callers, others = Callers(rogue), Callers(healthy)
        async with within(2, "the calls"), trio.open_nursery() as nursery:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as cancelled:
                    for _ in range(10):
                        cancelled.start_soon(callers.call)
                    for _ in range(30):
                        nursery.start_soon(callers.call)
                        nursery.start_soon(others.call)
                    for _ in range(seed * 3):
                        await trio.lowlevel.checkpoint()
                    scope.cancel()
            if seed % 2 and rogue.info.pid is not None:
                os.kill(rogue.info.pid, signal.SIGKILL)
        assert 30 <= len(callers.ended) <= 40
        assert others.ended == [None] * 30
