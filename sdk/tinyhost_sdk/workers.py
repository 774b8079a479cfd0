"""Several requests at a time: a reader that never waits for a handler, and threads.

Imported only by plugins that ask for it, as threading makes the start slower.
"""

import os
import select
import threading
from queue import SimpleQueue

from . import wire
from .run import HostGone, Pipes, answer, status_at_end
from .session import Session, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .plugin import Plugin

# For requests that are open when the host closes its end: first to finish by themselves,
# then to finish as they have been cancelled. Hosts wait about 3 s for the process to end.
_TO_FINISH = 1.0
_TO_GIVE_UP = 1.0


class Workers:
    """Threads that answer requests; they are started as they are needed.

    stopped_by: what a handler raised to end the process, or that the host is gone.
    """

    def __init__(self, session: Session, pipes: Pipes, count: int) -> None:
        self.stopped_by: BaseException | None = None
        self._session = session
        self._pipes = pipes
        self._count = count
        self._started = 0
        self._open = 0
        self._changed = threading.Condition()
        self._queue: SimpleQueue[wire.Request] = SimpleQueue()
        self.wake_fd, self._wake = os.pipe()

    def submit(self, request: wire.Request) -> None:
        """Have a request answered by the next thread that is free."""
        self._session.expect(request)
        with self._changed:
            self._open += 1
            more = self._started < min(self._open, self._count)
            self._started += more
        self._queue.put(request)
        if more:
            name = f"tinyhost-{self._started}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until all requests are answered. Returns whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)

    def _work(self) -> None:
        while True:
            request = self._queue.get()
            try:
                answer(self._session, self._pipes, request)
            except BaseException as error:
                # SystemExit, KeyboardInterrupt or HostGone: the main thread ends the process.
                self.stopped_by = error
                os.write(self._wake, b"!")
            finally:
                with self._changed:
                    self._open -= 1
                    self._changed.notify_all()


def side_by_side(plugin: "Plugin", pipes: Pipes) -> "tuple[Session, Callable[[], int]]":
    """A session, and the function that serves it with plugin.concurrency threads."""
    session = Session(plugin, pipes.notify, threading.Event)
    workers = Workers(session, pipes, plugin.concurrency)

    def serve() -> int:
        try:
            status = _read(plugin, session, pipes, workers)
        except HostGone:
            session.cancel_all()
            status = 1
        if not workers.wait(_TO_FINISH):
            session.cancel_all()
            workers.wait(_TO_GIVE_UP)
        if workers.stopped_by is not None:
            raise workers.stopped_by
        return status

    return session, serve


def _read(plugin: "Plugin", session: Session, pipes: Pipes, workers: Workers) -> int:
    receiver = wire.Receiver(rules(plugin))
    while True:
        readable, _, _ = select.select([pipes.read_fd, workers.wake_fd], [], [])
        if workers.wake_fd in readable and workers.stopped_by is not None:
            raise workers.stopped_by
        data = pipes.read()
        for message in receiver.feed(data) if data else receiver.feed_eof():
            if session.initialized and isinstance(message, wire.Request):
                workers.submit(message)
            else:
                answer(session, pipes, message)
            if session.exit_code is not None:
                return session.exit_code
        if not data:
            return status_at_end(session)
