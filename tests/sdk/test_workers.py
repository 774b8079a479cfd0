"""Several calls at a time, in real processes."""

import pytest

PLUGIN = """
import threading, time
plugin = Plugin("p", concurrency=3)
together = threading.Barrier(3)

@plugin.tool
def meet() -> str:
    together.wait(15)
    return "met"

@plugin.tool
def wait_for_cancel(context) -> str:
    context.progress("waiting")
    return "cancelled" if context.wait(15) and context.cancelled else "not cancelled"

@plugin.tool
def nap(seconds: float) -> str:
    print("napping")
    time.sleep(seconds)
    return "rested"

@plugin.tool
def chatter(size: int, context) -> str:
    for _ in range(20):
        context.progress("p" * size)
    return "r" * size

@plugin.hook("permission.ask")
def guard(event):
    together.wait(15)
    return True

@plugin.hook("dispose")
def bye():
    print("disposed")

run(plugin)
"""


def test_calls_and_hooks_run_at_the_same_time(start):
    child = start(PLUGIN)
    assert child.manifest["protocol"]["concurrency"] == 3
    first, second = child.start_tool("meet"), child.start_tool("meet")
    third = child.send("hook/invoke", {"name": "permission.ask", "input": {}})
    replies = {reply["id"]: reply["result"] for reply in (child.receive() for _ in range(3))}
    assert replies == {
        first: {"content": "met"},
        second: {"content": "met"},
        third: {"output": {"allowed": True}},
    }
    assert child.end() == 0
    assert child.log == "disposed\n"


def test_more_calls_than_threads_are_all_answered(start):
    child = start(PLUGIN)
    ids = [child.start_tool("nap", {"seconds": 0}) for _ in range(40)]
    assert sorted(child.receive()["id"] for _ in ids) == ids
    assert child.end() == 0


def test_a_cancel_reaches_the_running_call_and_no_other(start):
    child = start(PLUGIN)
    first, second = child.start_tool("wait_for_cancel"), child.start_tool("wait_for_cancel")
    waiting = [child.receive() for _ in range(2)]
    assert {message["method"] for message in waiting} == {"tool/progress"}
    assert {message["params"]["id"] for message in waiting} == {first, second}
    for id in (second, first):
        child.notify("tool/cancel", {"id": id})
        reply = child.receive()
        assert (reply["id"], reply["result"]) == (id, {"content": "cancelled"})


def test_a_call_cancelled_while_it_waits_for_a_thread_does_not_start(start):
    child = start(PLUGIN)
    running = [child.start_tool("wait_for_cancel") for _ in range(3)]
    for _ in running:
        assert child.receive()["method"] == "tool/progress"
    queued = child.start_tool("nap", {"seconds": 0})
    for id in (queued, *running):
        child.notify("tool/cancel", {"id": id})
    replies = {reply["id"]: reply["result"] for reply in (child.receive() for _ in range(4))}
    assert replies[queued] == {"content": "cancelled before it started", "isError": True}
    assert "napping" not in child.log


def test_lines_of_several_threads_never_mix(start):
    child = start(PLUGIN)
    size = 200_000  # more than a pipe takes at once
    ids = {child.start_tool("chatter", {"size": size}) for _ in range(3)}
    while ids:
        message = child.receive()  # would fail on a line that is not JSON
        if "result" in message:
            assert message["result"] == {"content": "r" * size}
            ids.remove(message["id"])
        else:
            assert message["params"]["message"] == "p" * size


def test_calls_that_run_when_the_input_ends_may_finish(start):
    child = start(PLUGIN)
    id = child.start_tool("nap", {"seconds": 0.2})
    child.wait_for_log("napping")
    child.close_stdin()
    assert child.receive() == {"jsonrpc": "2.0", "id": id, "result": {"content": "rested"}}
    assert child.wait() == 0
    assert child.log == "napping\ndisposed\n"


def test_calls_that_go_on_when_the_input_ends_are_cancelled(start):
    child = start(PLUGIN)
    child.start_tool("wait_for_cancel")
    assert child.receive()["method"] == "tool/progress"
    child.close_stdin()
    assert child.receive()["result"] == {"content": "cancelled"}
    assert child.wait() == 0


def test_a_call_that_never_ends_does_not_keep_the_process(start):
    child = start(PLUGIN)
    child.start_tool("nap", {"seconds": 600})
    child.wait_for_log("napping")
    assert child.end() == 0
    assert child.log == "napping\ndisposed\n"


@pytest.mark.parametrize("concurrency", [1, 3])
def test_input_that_ends_during_a_call_still_gets_the_reply(start, concurrency):
    child = start(PLUGIN.replace("concurrency=3", f"concurrency={concurrency}"))
    child.start_tool("nap", {"seconds": 0.1})
    child.close_stdin()
    assert child.receive()["result"] == {"content": "rested"}
    assert child.wait() == 0


def test_progress_works_one_call_at_a_time_too(start):
    child = start(PLUGIN.replace("concurrency=3", "concurrency=1"))
    id = child.start_tool("chatter", {"size": 3})
    for _ in range(20):
        expected = {"id": id, "message": "ppp"}
        assert child.receive() == {
            "jsonrpc": "2.0",
            "method": "tool/progress",
            "params": expected,
        }
    assert child.receive()["result"] == {"content": "rrr"}
