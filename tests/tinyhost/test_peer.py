"""Many calls over one pair of pipes: matching, order, deadlines, the end.

The far end lives in the same event loop, so the clock can be a virtual one: no test here
waits for real time.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost import peer as peer_module
from tinyhost.call import Call
from tinyhost.dialects.base import Conduct
from tinyhost.errors import (
    CallTimeout,
    FrameTooLarge,
    PluginDied,
    ProtocolError,
    RemoteError,
)
from tinyhost.peer import Peer
from tinyhost_sdk import wire


class Pair:
    """A peer and the far end of its pipes."""

    def __init__(self, rules: wire.Rules) -> None:
        far_in, to_plugin = os.pipe()
        from_plugin, far_out = os.pipe()
        for fd in (to_plugin, from_plugin):
            os.set_blocking(fd, False)
        self.far_in = trio.lowlevel.FdStream(far_in)
        self.far_out = trio.lowlevel.FdStream(far_out)
        self.notifications: list[wire.Notification] = []
        self.abandoned: list[Call] = []
        self.broken: list[str] = []
        self._lines = b""
        self.peer = Peer(
            "demo",
            to_plugin,
            from_plugin,
            Conduct(rules=rules, max_line_out=0),
            on_notification=self.notifications.append,
            on_request=lambda request: False,
            on_abandoned=self.abandoned.append,
            on_broken=self.broken.append,
        )

    async def received(self) -> dict[str, Any]:
        """The next request that the far end sees."""
        while b"\n" not in self._lines:
            self._lines += await self.far_in.receive_some()
        line, _, self._lines = self._lines.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    async def say(self, text: str | bytes) -> None:
        await self.far_out.send_all(text.encode() if isinstance(text, str) else text)

    async def answer(self, id: int, result: Any = "ok") -> None:
        await self.say(json.dumps({"id": id, "result": result}) + "\n")

    async def call(self, method: str = "m", *, timeout: float = 5, **more: Any) -> Any:
        return await self.peer.call(method, "{}", timeout=timeout, **more)


@asynccontextmanager
async def pair(**rules: Any) -> AsyncIterator[Pair]:
    made = Pair(wire.Rules(require_jsonrpc=False, **rules))
    async with made.far_in, made.far_out, trio.open_nursery() as nursery:
        nursery.start_soon(made.peer.run_reader)
        nursery.start_soon(made.peer.run_writer)
        nursery.start_soon(made.peer.run_sweeper)
        try:
            yield made
        finally:
            made.peer.fail(lambda call: PluginDied("demo", "is gone"))
            nursery.cancel_scope.cancel()


class Outcome:
    """Runs one call in a nursery and keeps what came of it."""

    def __init__(self) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self.done = trio.Event()

    async def of(self, pair: Pair, method: str = "m", **more: Any) -> None:
        try:
            self.result = await pair.call(method, **more)
        except Exception as error:
            self.error = error
        self.done.set()


async def test_replies_in_any_order_reach_their_own_callers(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.concurrency = 64
        outcomes = [Outcome() for _ in range(64)]
        for index, outcome in enumerate(outcomes):
            nursery.start_soon(outcome.of, ends, f"m{index}")
        requests = [await ends.received() for _ in outcomes]
        for request in reversed(requests):
            await ends.answer(request["id"], request["method"])
        for outcome in outcomes:
            await outcome.done.wait()
        assert [o.result for o in outcomes] == [f"m{index}" for index in range(64)]


async def test_one_at_a_time_lets_hooks_go_before_tools(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcomes = {name: Outcome() for name in ("first", "tool", "hook1", "hook2")}
        for name, outcome in outcomes.items():
            hook = name.startswith("hook")
            nursery.start_soon(lambda n=name, o=outcome, h=hook: o.of(ends, n, hook=h))
            await trio.testing.wait_all_tasks_blocked()
        assert (ends.peer.in_flight, ends.peer.queued) == (1, 3)
        seen = []
        for _ in outcomes:
            request = await ends.received()
            seen.append(request["method"])
            assert ends.peer.in_flight == 1
            await ends.answer(request["id"], request["method"])
        assert seen == ["first", "hook1", "hook2", "tool"]
        for name, outcome in outcomes.items():
            await outcome.done.wait()
            assert outcome.result == name


async def test_a_timeout_ends_the_call_and_the_late_reply_is_dropped(autojump_clock: Any) -> None:
    async with pair() as ends:
        with pytest.raises(CallTimeout, match="no answer to m within 5 s") as caught:
            await ends.call()
        assert not caught.value.busy
        assert trio.current_time() == pytest.approx(autojump_clock.current_time())
        late = await ends.received()
        await ends.answer(late["id"], "late")
        async with trio.open_nursery() as nursery:
            outcome = Outcome()
            nursery.start_soon(outcome.of, ends)
            request = await ends.received()
            await ends.answer(request["id"], "mine")
        assert outcome.result == "mine"
        assert ends.peer.late_replies == 1
        assert ends.peer.junk_lines == 0


async def test_a_second_late_reply_to_one_call_is_junk(autojump_clock: Any) -> None:
    async with pair() as ends:
        with pytest.raises(CallTimeout):
            await ends.call(timeout=1)
        await ends.say('{"id":1,"result":1}\n' * 2)
        await trio.sleep(1)
        assert (ends.peer.late_replies, ends.peer.junk_lines) == (1, 1)
        assert ends.peer.last_junk is not None
        assert ends.peer.last_junk.reason == "a reply to no request (id 1)"


async def test_an_overlong_late_reply_does_not_fail_the_call_that_waits(
    autojump_clock: Any,
) -> None:
    async with pair(max_line=200) as ends, trio.open_nursery() as nursery:
        with pytest.raises(CallTimeout):
            await ends.call(timeout=1)
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends)
        await trio.testing.wait_all_tasks_blocked()
        await ends.say('{"id":1,"result":"' + "x" * 200 + '"}\n')
        await ends.answer(2, "mine")
        await outcome.done.wait()
        assert (outcome.result, outcome.error) == ("mine", None)
        assert ends.peer.late_replies == 1


async def test_three_timeouts_in_a_row_give_the_plugin_up(autojump_clock: Any) -> None:
    async with pair() as ends:
        for count in (1, 2, 3):
            assert ends.broken == []
            with pytest.raises(CallTimeout):
                await ends.call(timeout=1)
            assert ends.peer.timeouts_in_row == count
        assert ends.broken == ["was given up after 3 timeouts in a row"]


async def test_a_reply_in_time_starts_the_count_anew_and_a_late_one_does_not(
    autojump_clock: Any,
) -> None:
    async with pair() as ends:
        for _ in range(2):
            with pytest.raises(CallTimeout):
                await ends.call(timeout=1)
        for _ in range(2):
            await ends.answer((await ends.received())["id"])
        await trio.sleep(1)
        assert ends.peer.timeouts_in_row == 2
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Outcome().of, ends)
            request = await ends.received()
            error = {"code": 1, "message": "no"}
            await ends.say(json.dumps({"id": request["id"], "error": error}) + "\n")
        assert ends.peer.timeouts_in_row == 0
        assert ends.peer.late_replies == 2
        assert ends.broken == []


async def test_a_deadline_that_passes_in_the_queue_is_busy_and_does_not_count(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        first = Outcome()
        nursery.start_soon(lambda: first.of(ends, timeout=30))
        first_request = await ends.received()
        for _ in range(5):
            with pytest.raises(CallTimeout, match="is busy") as caught:
                await ends.call("other", timeout=1)
            assert caught.value.busy
        assert ends.peer.timeouts_in_row == 0
        await ends.answer(first_request["id"], "done")
        await first.done.wait()
        assert first.result == "done"
        assert ends.peer.queued == 0


async def test_a_silent_plugin_is_sent_the_next_call_after_a_timeout(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcomes = [Outcome() for _ in range(3)]
        for seconds, outcome in zip((1, 2, 3), outcomes, strict=True):
            nursery.start_soon(lambda s=seconds, o=outcome: o.of(ends, timeout=s))
            await trio.testing.wait_all_tasks_blocked()
        for outcome in outcomes:
            await outcome.done.wait()
            assert isinstance(outcome.error, CallTimeout)
            assert not outcome.error.busy
        assert len(ends.broken) == 1


async def test_progress_extends_the_deadline_up_to_its_cap(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcome = Outcome()
        heard: list[str] = []
        began = trio.current_time()
        nursery.start_soon(lambda: outcome.of(ends, timeout=10, cap=35, on_progress=heard.append))
        request = await ends.received()
        for step in range(6):
            await trio.sleep(8)
            if outcome.done.is_set():
                break
            ends.peer.extend(request["id"], f"step {step}")
        assert isinstance(outcome.error, CallTimeout)
        assert heard == ["step 0", "step 1", "step 2", "step 3"]
        assert trio.current_time() - began == pytest.approx(40)
        ends.peer.extend(True, "not an id")
        ends.peer.extend(request["id"], "too late")


async def test_a_cancelled_call_keeps_its_place_until_the_plugin_has_answered(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        with trio.move_on_after(1):
            await ends.call("cancelled", timeout=30)
        (abandoned,) = ends.abandoned
        request = await ends.received()
        assert abandoned.id == request["id"]
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends, "next")
        await trio.testing.wait_all_tasks_blocked()
        assert (ends.peer.in_flight, ends.peer.queued) == (1, 1)
        await ends.answer(request["id"])
        following = await ends.received()
        assert following["method"] == "next"
        await ends.answer(following["id"], "mine")
        await outcome.done.wait()
        assert outcome.result == "mine"
        assert ends.peer.late_replies == 1
        assert ends.peer.timeouts_in_row == 0


async def test_a_cancelled_call_does_not_return(autojump_clock: Any) -> None:
    async with pair() as ends:
        for _ in range(2):  # the first waits for the pipe, the second in the queue
            with trio.move_on_after(1) as scope:
                await ends.call(timeout=30)
                pytest.fail("the call returned")
            assert scope.cancelled_caught


async def test_who_still_waits_is_answered_at_once_when_the_reading_caller_is_done(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.concurrency = 2
        outcomes = [Outcome(), Outcome()]
        for outcome in outcomes:
            nursery.start_soon(outcome.of, ends)
            await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        for outcome in outcomes:
            await ends.answer((await ends.received())["id"])
            await outcome.done.wait()
        assert trio.current_time() == began


async def test_a_cancelled_caller_hears_of_it_however_quick_the_plugin_is(
    autojump_clock: Any,
) -> None:
    async with pair() as ends:
        for id in (1, 2):  # the answers are there before anybody looks
            await ends.answer(id)
            assert await ends.call() == "ok"
        await ends.answer(3)
        with trio.CancelScope() as scope:
            scope.cancel()
            await ends.call()
        assert scope.cancelled_caught


async def test_what_is_said_beside_calls_is_written_or_counted_as_unsent(
    autojump_clock: Any,
) -> None:
    async with pair() as ends:
        ends.peer.notify("note", '{"a":1}')
        said = await ends.received()
        assert (said["method"], said["params"], "id" in said) == ("note", {"a": 1}, False)
        ends.peer.respond(b'{"id":9,"result":1}\n')
        assert await ends.received() == {"id": 9, "result": 1}
        assert ends.peer.unsent == 0
        ends.peer.fail(lambda call: PluginDied("demo", "was stopped"))
        ends.peer.notify("note", "{}")
        ends.peer.respond(b"{}\n")
        assert ends.peer.unsent == 2


async def test_the_last_words_in_the_pipe_can_be_taken_without_waiting(
    autojump_clock: Any,
) -> None:
    async with pair() as ends:
        await ends.say('{"method": "last", "params": {}}\n')
        await ends.peer.drain()
        assert [note.method for note in ends.notifications] == ["last"]
        assert ends.peer.notifications == 1


async def test_the_last_words_are_taken_whole_however_slow_the_host_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with pair() as ends:
        seconds = itertools.count(step=10)
        monkeypatch.setattr(peer_module.time, "perf_counter", lambda: float(next(seconds)))
        text = "x" * 50_000  # several reads, and less than a pipe holds
        said = json.dumps({"method": "last", "params": {"text": text}}) + "\n"
        assert os.write(ends.far_out.fileno(), said.encode()) == len(said)
        await ends.peer.drain()
        assert [note.params for note in ends.notifications] == [{"text": text}]


class Brake(trio.abc.Instrument):
    """Cancels a scope when the tasks together have made too many steps."""

    def __init__(self, scope: trio.CancelScope) -> None:
        self.scope = scope
        self.steps = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.steps += 1
        if self.steps > 1000:
            self.scope.cancel()


async def test_a_call_after_the_end_of_output_waits_for_its_deadline_and_does_not_spin(
    autojump_clock: Any,
) -> None:
    async with pair() as ends:
        await ends.far_out.aclose()
        await trio.sleep(1)
        assert ends.broken == ["closed its standard output"]
        with trio.CancelScope() as scope:
            trio.lowlevel.add_instrument(brake := Brake(scope))
            with pytest.raises(CallTimeout):
                await ends.call(timeout=5)
            trio.lowlevel.remove_instrument(brake)
        assert not scope.cancelled_caught


async def test_a_call_cancelled_in_the_queue_is_never_sent(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        first = Outcome()
        nursery.start_soon(first.of, ends, "first")
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(1):
            await ends.call("cancelled")
        assert ends.abandoned == []
        await ends.answer((await ends.received())["id"])
        await first.done.wait()
        nursery.start_soon(Outcome().of, ends, "last")
        last = await ends.received()
        assert last["method"] == "last"
        await ends.answer(last["id"])


async def test_a_leader_that_is_cancelled_leaves_a_reader_to_the_others(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.concurrency = 2
        leader_scope = trio.CancelScope()

        async def lead() -> None:
            with leader_scope:
                await ends.call("leader")

        nursery.start_soon(lead)
        await trio.testing.wait_all_tasks_blocked()
        follower = Outcome()
        nursery.start_soon(follower.of, ends, "follower")
        await trio.testing.wait_all_tasks_blocked()
        leader_scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(2):
            request = await ends.received()
            await ends.answer(request["id"], request["method"])
        await follower.done.wait()
        assert follower.result == "follower"


BAD_REPLIES = [
    ('{"id": ID, "result": 1, "error": {}}', "both result and error"),
    ('{"id": ID}', "neither result nor error"),
    ('{"id": ID, "error": "boom"}', "error is not an object"),
    ('{"id": ID, "error": {"code": "x", "message": 1}}', "no integer code"),
    ('{"id": ID, "result": NaN}', "NaN"),
    ('{"jsonrpc": "1.0", "id": ID, "result": 1}', "another jsonrpc version"),
]


@pytest.mark.parametrize(("text", "reason"), BAD_REPLIES)
async def test_a_malformed_reply_ends_its_call_at_once(
    autojump_clock: Any, text: str, reason: str
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        began = trio.current_time()
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends)
        request = await ends.received()
        await ends.say(text.replace("ID", str(request["id"])) + "\n")
        await outcome.done.wait()
        assert isinstance(outcome.error, ProtocolError)
        assert reason in str(outcome.error)
        assert trio.current_time() == began


async def test_an_rpc_error_keeps_code_message_and_data(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends)
        id = (await ends.received())["id"]
        error = {"code": -5, "message": "no", "data": [1]}
        await ends.say(json.dumps({"id": id, "result": None, "error": error}) + "\n")
        await outcome.done.wait()
        assert isinstance(outcome.error, RemoteError)
        assert (outcome.error.code, outcome.error.remote_message) == (-5, "no")
        assert outcome.error.data == [1]


async def test_only_an_integer_id_answers_and_only_once(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends)
        id = (await ends.received())["id"]
        for wrong in ("true", "1.0", '"1"', "null", "[1]", "999", "-1"):
            await ends.say(f'{{"id": {wrong}, "result": "wrong"}}\n')
        await ends.say(f'{{"id": {id}, "method": "x"}}\n')
        await ends.answer(id, "right")
        await ends.answer(id, "again")
        await outcome.done.wait()
        await trio.sleep(1)
        assert outcome.result == "right"
        assert ends.peer.junk_lines == 9


async def test_an_overlong_reply_fails_its_call_and_not_the_session(autojump_clock: Any) -> None:
    async with pair(max_line=1000) as ends, trio.open_nursery() as nursery:
        for text in ('{"jsonrpc":"2.0","id":%d,"result":"', '{"result":"%.0s'):
            outcome = Outcome()
            nursery.start_soon(outcome.of, ends)
            request = await ends.received()
            await ends.say(text % request["id"] + "x" * 5000 + '"}\n')
            await outcome.done.wait()
            assert isinstance(outcome.error, FrameTooLarge)
            assert outcome.error.limit == 1000
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends)
        await ends.answer((await ends.received())["id"], "fine")
        await outcome.done.wait()
        assert outcome.result == "fine"


async def test_an_overlong_request_fails_before_anything_is_written(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.max_line_out = 1024
        with pytest.raises(FrameTooLarge, match="was not sent") as caught:
            await ends.peer.call("m", json.dumps("x" * 1024), timeout=1)
        assert caught.value.outgoing
        nursery.start_soon(Outcome().of, ends, "small")
        request = await ends.received()
        assert request["method"] == "small"
        await ends.answer(request["id"])


async def test_a_plugin_that_stops_reading_times_calls_out_and_no_frame_is_torn(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.concurrency = 10
        big = json.dumps("x" * 300_000)
        with pytest.raises(CallTimeout) as first:
            await ends.peer.call("first", big, timeout=1)
        assert not first.value.busy  # part of it is in the pipe
        with pytest.raises(CallTimeout) as second:
            await ends.peer.call("second", big, timeout=1)
        assert second.value.busy  # nothing of it was written
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends, "third")
        assert (await ends.received())["method"] == "first"
        third = await ends.received()
        assert third["method"] == "third"
        await ends.answer(third["id"])
        await outcome.done.wait()
        assert outcome.result == "ok"


async def test_the_end_of_output_is_reported_and_a_last_line_still_counts(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcome = Outcome()
        nursery.start_soon(outcome.of, ends)
        id = (await ends.received())["id"]
        await ends.say(f'{{"id": {id}, "result": "last words"}}')
        await ends.far_out.aclose()
        await outcome.done.wait()
        assert outcome.result == "last words"
        assert ends.broken == ["closed its standard output"]


async def test_after_the_end_every_call_fails_and_each_just_once(autojump_clock: Any) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.concurrency = 3
        outcomes = [Outcome() for _ in range(6)]
        for outcome in outcomes:
            nursery.start_soon(outcome.of, ends)
        await trio.testing.wait_all_tasks_blocked()
        ends.peer.fail(lambda call: PluginDied("demo", f"died, sent: {call.sent}"))
        ends.peer.fail(lambda call: PluginDied("demo", "died twice"))
        for outcome in outcomes:
            await outcome.done.wait()
        texts = [str(outcome.error) for outcome in outcomes]
        assert (
            sorted(texts)
            == ["plugin demo died, sent: False"] * 3 + ["plugin demo died, sent: True"] * 3
        )
        with pytest.raises(PluginDied):
            await ends.call()
        ends.peer.notify("x", "{}")


async def test_notifications_are_handed_on(autojump_clock: Any) -> None:
    async with pair() as ends:
        await ends.say('{"method": "tool/progress", "params": {"id": 1}}\n{"method": "x"}\n')
        await trio.sleep(1)
        assert [n.method for n in ends.notifications] == ["tool/progress", "x"]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_whatever_happens_each_call_ends_once_with_its_own_answer(data: st.DataObject) -> None:
    plan = data.draw(
        st.lists(st.sampled_from(["answer", "junk", "cancel", "silent", "error"]), max_size=12)
    )
    concurrency = data.draw(st.integers(1, 4))

    async def run() -> None:
        async with pair() as ends, trio.open_nursery() as nursery:
            ends.peer.concurrency = concurrency
            scopes = [trio.CancelScope() for _ in plan]
            outcomes = [Outcome() for _ in plan]

            async def one(index: int) -> None:
                with scopes[index]:
                    await outcomes[index].of(ends, f"m{index}", timeout=3)

            async def far() -> None:
                while True:
                    request = await ends.received()
                    index = int(request["method"][1:])
                    if plan[index] == "answer":
                        await ends.answer(request["id"], index)
                    elif plan[index] == "junk":
                        await ends.say("junk\n{}\n")
                        await ends.answer(request["id"], index)
                    elif plan[index] == "cancel":
                        scopes[index].cancel()
                        await ends.answer(request["id"], index)
                    elif plan[index] == "error":
                        error = {"code": index, "message": "no"}
                        await ends.say(json.dumps({"id": request["id"], "error": error}) + "\n")

            async with trio.open_nursery() as calls:
                nursery.start_soon(far)
                for index in range(len(plan)):
                    calls.start_soon(one, index)
            for index, (kind, outcome) in enumerate(zip(plan, outcomes, strict=True)):
                if isinstance(outcome.error, CallTimeout):
                    assert kind == "silent" or outcome.error.busy
                elif kind in ("answer", "junk"):
                    assert outcome.result == index
                elif kind == "error":
                    assert isinstance(outcome.error, RemoteError)
                    assert outcome.error.code == index
            await trio.sleep(10)  # answers to cancelled calls are read, or given up
            assert ends.peer.in_flight == ends.peer.queued == 0
            nursery.cancel_scope.cancel()

    trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))


async def test_calls_that_get_only_the_rest_of_their_deadline_do_not_count(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        outcomes = [Outcome() for _ in range(5)]
        for outcome in outcomes:
            nursery.start_soon(lambda o=outcome: o.of(ends, timeout=30))
            await trio.sleep(0.1)
        for outcome in outcomes:
            await outcome.done.wait()
            assert isinstance(outcome.error, CallTimeout)
        assert ends.peer.timeouts_in_row == 1
        assert ends.broken == []


async def test_a_plugin_that_reads_nothing_is_given_up_too(autojump_clock: Any) -> None:
    async with pair() as ends:
        big = json.dumps("x" * 300_000)
        for count in (1, 2, 3):
            assert ends.broken == []
            with pytest.raises(CallTimeout) as caught:
                await ends.peer.call("m", big, timeout=1)
            assert caught.value.busy == (count > 1)  # the rest of the first is in the way
        assert ends.broken == ["was given up after 3 timeouts in a row"]


async def test_a_closed_input_is_reported_and_the_call_counts_as_not_sent(
    autojump_clock: Any,
) -> None:
    async with pair() as ends, trio.open_nursery() as nursery:
        await ends.far_in.aclose()
        calls: list[Call] = []
        nursery.start_soon(Outcome().of, ends)
        await trio.testing.wait_all_tasks_blocked()
        assert ends.broken == ["closed its standard input"]

        def death(call: Call) -> PluginDied:
            calls.append(call)
            return PluginDied("demo", "is gone")

        ends.peer.fail(death)
        assert [call.sent for call in calls] == [False]


async def test_progress_that_its_caller_fails_at_ends_that_call_alone(autojump_clock: Any) -> None:
    def fail(message: str) -> None:
        raise ZeroDivisionError(message)

    async with pair() as ends, trio.open_nursery() as nursery:
        ends.peer.concurrency = 2
        one, other = Outcome(), Outcome()
        nursery.start_soon(lambda: one.of(ends, on_progress=fail))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(other.of, ends)
        ids = [(await ends.received())["id"] for _ in range(2)]
        ends.peer.extend(ids[0], "step")
        await one.done.wait()
        assert isinstance(one.error, ZeroDivisionError)
        assert [call.id for call in ends.abandoned] == ids[:1]
        for id in ids:
            await ends.answer(id)
        await other.done.wait()
        assert other.result == "ok"
        assert (ends.peer.late_replies, ends.peer.junk_lines) == (1, 0)


@pytest.mark.parametrize("leading", [True, False])
async def test_an_answer_that_came_in_time_counts_when_the_host_stood_still(
    autojump_clock: Any, leading: bool
) -> None:
    for _ in range(20):  # which task is first after a standstill is left to chance
        async with pair() as ends, trio.open_nursery() as nursery:
            ends.peer.concurrency = 2
            outcomes = [Outcome() for _ in range(1 if leading else 2)]
            for outcome in outcomes:
                nursery.start_soon(outcome.of, ends)
            requests = [await ends.received() for _ in outcomes]
            await trio.testing.wait_all_tasks_blocked()
            for request in requests:
                said = json.dumps({"id": request["id"], "result": "mine" * 5000}) + "\n"
                os.write(ends.far_out.fileno(), said.encode())
            autojump_clock.jump(60)
            for outcome in outcomes:
                await outcome.done.wait()
            assert [o.error for o in outcomes] == [None] * len(outcomes)
            assert [o.result for o in outcomes] == ["mine" * 5000] * len(outcomes)
            assert ends.peer.timeouts_in_row == 0


async def test_progress_that_came_in_time_counts_when_the_host_stood_still(
    autojump_clock: Any,
) -> None:
    for _ in range(20):
        async with pair() as ends, trio.open_nursery() as nursery:
            ends.peer._on_notification = lambda message: ends.peer.extend(message.params["id"], "")
            outcome = Outcome()
            nursery.start_soon(lambda made=outcome, o=ends: made.of(o, timeout=5, cap=600))
            request = await ends.received()
            await trio.testing.wait_all_tasks_blocked()
            said = b'{"method": "p", "params": {"id": %d}}\n' % request["id"]
            os.write(ends.far_out.fileno(), said)
            autojump_clock.jump(6)
            await trio.sleep(4)
            await ends.answer(request["id"], "mine")
            await outcome.done.wait()
            assert (outcome.result, outcome.error) == ("mine", None)
