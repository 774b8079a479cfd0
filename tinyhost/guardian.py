"""A process that outlives the host by an instant and takes its plugins along.

However the host ends, by SIGKILL too, the kernel closes its end of the guardian's pipe. The
guardian then kills the groups it was told of, and after them whatever carries the host's
id. Parent-death signals are no way to do this: they are bound to the thread that started
the child. The guardian is a shell script because a shell starts in a millisecond; it needs
the host's Python only when there is something to clean up.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import trio

from . import process_tree

_SCRIPT = """
groups=" "
while read -r what group; do
    case $what in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
    end) exit 0 ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
exec "$1" -I -S "$2" "$3"
"""
_PATIENCE = 1.0  # seconds that an unneeded guardian gets to end


class Guardian:
    """Started before the first plugin, so that none is unguarded for a moment."""

    def __init__(self) -> None:
        self.host_id = secrets.token_hex(16)
        self._lost: set[str] = set()
        self._sweeping = trio.Lock()
        # Of its own: the program around the host may have filled trio's with slow work.
        self._threads = trio.CapacityLimiter(1)
        self._pipe = -1
        self._process: subprocess.Popen[bytes] | None = None

    def marks(self, plugin_id: str) -> dict[str, str]:
        """The variables that a plugin's process, and all that it starts, are known by."""
        return {
            process_tree.HOST_VARIABLE: self.host_id,
            process_tree.PLUGIN_VARIABLE: plugin_id,
        }

    async def sweep(self, plugin_id: str) -> None:
        """Kill what an ended plugin left outside its group. One look serves many plugins."""
        self._lost.add(plugin_id)
        async with self._sweeping:
            if plugin_id in self._lost:
                lost, self._lost = self._lost, set()
                await trio.to_thread.run_sync(
                    process_tree.kill_marked,
                    process_tree.PLUGIN_VARIABLE,
                    lost,
                    limiter=self._threads,
                )

    def watch(self, group: int) -> None:
        """Kill this process group when the host is gone. Raises OSError."""
        self.start()
        self._tell(f"+ {group}\n")

    def release(self, group: int) -> None:
        """The group has ended; its number may soon be somebody else's."""
        self._tell(f"- {group}\n")

    def start(self) -> None:
        """Start it if it does not run. Raises OSError."""
        if self._process is not None:
            return
        read_end, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)
        try:
            self._process = subprocess.Popen(
                [
                    *("/bin/sh", "-c", _SCRIPT, "tinyhost-guardian"),
                    *(sys.executable, process_tree.__file__, self.host_id),
                ],
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        except BaseException:
            self._close_pipe()
            raise
        finally:
            os.close(read_end)

    def _tell(self, line: str) -> None:
        try:
            os.write(self._pipe, line.encode())
        except OSError:
            # Somebody killed the guardian, or stopped it until its pipe was full. The next
            # plugin gets a new one, which does not know the groups from before, but finds
            # their processes by the host's id.
            process, self._process = self._process, None
            if process is not None:
                process.kill()  # before its pipe ends, which tells it to kill the plugins
                process.wait()
            self._close_pipe()

    def _close_pipe(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    async def sweep_all(self) -> None:
        """Kill all that carries the host's id: whatever went wrong, nothing is left."""
        if self._process is not None:
            ids = {self.host_id}
            await trio.to_thread.run_sync(
                process_tree.kill_marked, process_tree.HOST_VARIABLE, ids, limiter=self._threads
            )

    async def close(self) -> None:
        """End the guardian: all groups have been seen to."""
        process, self._process = self._process, None
        if process is None:
            return
        self._tell("end\n")
        self._close_pipe()
        with trio.CancelScope(shield=True):
            with trio.move_on_after(_PATIENCE):
                await _wait(process.pid)
            process.kill()
            process.wait()


async def _wait(pid: int) -> None:
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return
    try:
        await trio.lowlevel.wait_readable(fd)
    finally:
        os.close(fd)
