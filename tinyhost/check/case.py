"""What a check works with: fresh processes of the plugin, and what is known of it so far."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterator

import attrs
import trio

from tinyhost_sdk import wire

from .. import codec
from ..dialects.base import Dialect
from ..errors import CallTimeout, LoadError, PluginDied, PluginError, RemoteError
from ..guardian import Guardian
from ..model import CallContext, Manifest, Timeouts, ToolResult, ToolSpec
from ..process import Process, spawn
from .drivers import Driver
from .model import Failed, Skipped
from .raw_link import RawLink
from .session import NoAnswer, Session
from .target import Target

_ANSWER = 3.0  # seconds in which a small request has to be answered
_LET_GO = 1.0  # seconds that an ended check waits for its process to leave


@attrs.define
class Known:
    """What one check finds out for those that follow.

    ping: a harmless request that the plugin answers; None if there is none. lingers: it does
    not end when its input does. broken: why its manifest is refused. starts: seconds that each start took. strays: what it said on
    its output that is no message.
    """

    manifest: Manifest | None = None
    ping: tuple[str, str] | None = None
    lingers: bool = False
    broken: str = ""
    starts: list[float] = attrs.field(factory=list)
    strays: list[str] = attrs.field(factory=list)


class Case:
    """One run of one check. Its background tasks run in `nursery`."""

    def __init__(
        self,
        target: Target,
        driver: Driver,
        known: Known,
        guardian: Guardian,
        nursery: trio.Nursery,
        deadline: float,
    ) -> None:
        self.target = target
        self.driver = driver
        self.known = known
        self.deadline = deadline
        self.session: Session | None = None
        self.dialect: Dialect
        self.link: RawLink
        self._spawned = 0.0
        self._guardian = guardian
        self._nursery = nursery

    @property
    def manifest(self) -> Manifest:
        """What the plugin offers, as the first start told."""
        assert self.known.manifest is not None
        return self.known.manifest

    @property
    def max_line(self) -> int:
        """Bytes of the longest line that the plugin has to read, newline included."""
        return self.manifest.max_line or self.driver.max_line

    @property
    def timeouts(self) -> Timeouts:
        """The plugin's deadlines, as configured."""
        return self.target.launch.settings.timeouts

    @property
    def patience(self) -> float:
        """Seconds in which a small request has to be answered."""
        return min(_ANSWER, self.timeouts.hook)

    def params(self, value: object) -> str:
        """Params as JSON text."""
        return codec.dumps(value)

    def spawn_task(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run something beside the check, until it ends."""
        self._nursery.start_soon(task)

    # --- starting

    def spawn(self) -> Session:
        """Start the process and say nothing to it. Raises Failed."""
        launch = self.target.launch
        dialect = launch.dialect()
        rules = dialect.conduct(launch.settings.max_line).rules
        link = RawLink(
            self.target.name,
            dialect,
            directory=launch.directory,
            options=launch.options,
            timeouts=launch.settings.timeouts,
            nursery=self._nursery,
        )

        def take(message: wire.Notification | wire.Request) -> bool:
            if isinstance(message, wire.Request):
                return dialect.requested(link, message)
            dialect.notified(link, message)
            return True

        self._spawned = trio.current_time()
        mark = f"check-{secrets.token_hex(8)}"
        session = Session(self._process(mark), rules, mark, take)
        link.session = session
        self.session, self.dialect, self.link = session, dialect, link
        self._nursery.start_soon(session.run_reader)
        self._nursery.start_soon(session.run_stderr)
        return session

    def _process(self, mark: str) -> Process:
        launch = self.target.launch
        self._guardian.start()
        try:
            process = spawn(
                self.target.name,
                launch.command,
                env={**launch.env, **self._guardian.marks(mark)},
                directory=launch.directory,
                wrapping=launch.wrapping,
            )
        except LoadError as error:
            raise Failed(f"it cannot be started: {error.reason}") from error
        self._guardian.watch(process.pid)
        return process

    async def start(self) -> Session:
        """Start the process and shake hands. Raises Failed."""
        session = self.spawn()
        with reported():
            await self.shake_hands()
        return session

    async def shake_hands(self) -> Manifest:
        """Do the handshake of its wire. Raises PluginError and ValueError."""
        manifest = await self.dialect.handshake(self.link)
        self.known.starts.append(trio.current_time() - self._spawned)
        self.link.handshake_done()
        self.link.patience = max(0.1, self.deadline - trio.current_time())
        return manifest

    # --- talking

    def request(self, method: str, params: str, id: int | None = None) -> tuple[int, bytes]:
        """A request line of the plugin's wire and its id; nothing is sent."""
        assert self.session is not None
        return self.session.request(method, self.link.enveloped(params), id)

    async def ask(
        self, method: str, params: str, *, id: int | None = None, seconds: float | None = None
    ) -> wire.Response:
        """Send a request and wait for the answer, result or error. Raises Failed."""
        assert self.session is not None
        id, frame = self.request(method, params, id)
        return await self.send(frame, id, f"{method} (id {id})", seconds=seconds)

    async def send(
        self,
        frame: bytes,
        id: int,
        what: str,
        *,
        seconds: float | None = None,
        pause: float | None = None,
    ) -> wire.Response:
        """Send bytes, and wait for the answer to the request of that id in them."""
        await self.write(frame, seconds=seconds, pause=pause)
        return await self.receive(id, what, seconds=seconds)

    async def write(
        self, data: bytes, *, seconds: float | None = None, pause: float | None = None
    ) -> None:
        """Send bytes as they are; see Session.write. Raises Failed."""
        assert self.session is not None
        try:
            await self.session.write(data, seconds=seconds or self.patience, pause=pause)
        except NoAnswer as error:
            raise Failed(str(error)) from error

    async def receive(self, id: int, what: str, *, seconds: float | None = None) -> wire.Response:
        """Wait for the answer to a request that was sent. Raises Failed."""
        assert self.session is not None
        try:
            return await self.session.answer(id, what, seconds or self.patience)
        except NoAnswer as error:
            raise Failed(str(error)) from error

    def ping_frame(self) -> tuple[int, bytes]:
        """A harmless request that the plugin is known to answer, not sent yet."""
        assert self.session is not None
        return self.request(*self.known_ping())

    async def ping(self, *, id: int | None = None, seconds: float | None = None) -> wire.Response:
        """Have that answered. Raises Failed."""
        return await self.ask(*self.known_ping(), id=id, seconds=seconds)

    def known_ping(self) -> tuple[str, str]:
        """The method and params of a harmless request. Raises Skipped."""
        if self.known.ping is None:
            raise Skipped("it answers no harmless request, so there is nothing to try this with")
        return self.known.ping

    async def still_answers(self, after: str) -> None:
        """Have a harmless request answered after something. Raises Failed."""
        try:
            await self.ping()
        except Failed as error:
            raise Failed(f"after {after}: {error.text}") from error

    async def ask_politely(self) -> None:
        """Ask something if there is something to ask; whether it is answered is not the point."""
        with contextlib.suppress(Failed, Skipped):
            await self.ping()

    async def call_tool(self, tool: ToolSpec, args: str) -> ToolResult:
        """Call a tool that the person has named. Raises PluginError and ValueError."""
        context = CallContext(session_id="ses_check", directory=self.link.directory)
        return await self.dialect.call_tool(self.link, tool, args, context, lambda _text: None)

    # --- the end

    async def wind_up(self) -> None:
        """Let the process end by itself if it can, and kill what is left."""
        session = self.session
        if session is None:
            return
        session.reading.set()
        session.close_input()
        if not self.known.lingers and not await session.exited(_LET_GO):
            self.known.lingers = True
        await session.drain()
        self.known.strays += session.strays

    async def close(self) -> None:
        """Kill what is left. The background tasks must have ended."""
        session = self.session
        if session is None:
            return
        with trio.CancelScope(shield=True):
            self._guardian.release(session.process.pid)
            session.close()
            await self._guardian.sweep(session.mark)


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Turn the errors of a dialect into Failed, in words about the plugin."""
    try:
        yield
    except CallTimeout as error:
        raise Failed(f"no answer to {error.method} within {error.seconds:.3g} s") from error
    except PluginDied as error:
        raise Failed(error.status) from error
    except RemoteError as error:
        text = (
            f"it answered {error.method} with the error {error.code}: {error.remote_message:.300}"
        )
        raise Failed(text) from error
    except (PluginError, ValueError, TypeError) as error:
        raise Failed(f"{error}") from error
