"""One request on its way to a plugin, and the task that waits for its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio


class Call:
    """One request on its way: waiting, sent, or done with an answer or an error."""

    __slots__ = (
        "abandoned",
        "cap",
        "deadline",
        "done",
        "error",
        "frame",
        "given",
        "hook",
        "id",
        "method",
        "on_progress",
        "result",
        "sent",
        "task",
        "timeout",
    )

    def __init__(
        self, id: int, method: str, frame: bytes, timeout: float, cap: float, hook: bool
    ) -> None:
        now = trio.current_time()
        self.id = id
        self.method = method
        self.frame = frame
        self.timeout = timeout
        self.given = now  # when it was its turn to be sent
        self.deadline = now + timeout
        self.cap = now + max(cap, timeout)
        self.hook = hook
        self.sent = False  # the plugin may have seen it
        self.done = False
        self.abandoned = False  # sent, but its caller was cancelled
        self.result: Any = None
        self.error: Exception | None = None
        self.task: trio.lowlevel.Task | None = None
        self.on_progress: Callable[[str], None] | None = None

    def finish(self, result: Any, error: Exception | None = None) -> None:
        """Store the outcome and wake the caller, unless it is awake and reading."""
        self.done = True
        self.result = result
        self.error = error
        if self.task is not None:
            task, self.task = self.task, None
            trio.lowlevel.reschedule(task)

    async def park(self) -> None:
        """Wait to be finished, or to be woken for another look."""
        self.task = trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self.task = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)
