from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import trio

from tinyhost import command as command_module
from tinyhost.command import KEPT, SHELL, Outcome
from tinyhost.command import run as run_program
from tinyhost.errors import LoadError
from tinyhost.process import Process

ENV = {"PATH": os.environ["PATH"]}


async def run(command: str, directory: Path, *, stdin: bytes = b"", timeout: float = 20) -> Outcome:
    with trio.fail_after(30):
        return await run_program(
            (SHELL, "-c", command),
            owner="test",
            env=ENV,
            directory=str(directory),
            stdin=stdin,
            timeout=timeout,
        )


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def gone(pid: int) -> None:
    with trio.fail_after(10):
        while alive(pid):
            await trio.sleep(0.01)


async def test_status_and_both_streams_come_back(tmp_path: Path) -> None:
    outcome = await run("cat; echo no >&2; pwd; exit 3", tmp_path, stdin=b"data\n")
    assert outcome.stdout.decode() == f"data\n{tmp_path}\n"
    assert outcome.stderr == b"no\n"
    assert (outcome.returncode, outcome.ok, outcome.timed_out) == (3, False, False)
    assert outcome.status == "exited with status 3"


async def test_a_command_that_reads_nothing_is_not_waited_for_by_the_writer(tmp_path: Path) -> None:
    assert (await run("exit 0", tmp_path, stdin=b"x" * 1_000_000)).ok


async def test_much_input_arrives_whole(tmp_path: Path) -> None:
    outcome = await run("wc -c", tmp_path, stdin=b"x" * 3_000_000)
    assert outcome.stdout.strip() == b"3000000"


async def test_the_first_of_stdout_and_the_last_of_stderr_are_kept(tmp_path: Path) -> None:
    command = "echo first; head -c 300000 /dev/zero; (head -c 300000 /dev/zero; echo last) >&2"
    outcome = await run(command, tmp_path)
    assert outcome.ok
    assert (len(outcome.stdout), outcome.stdout_cut) == (KEPT, True)
    assert len(outcome.stderr) == KEPT
    assert outcome.stdout.startswith(b"first\n")
    assert outcome.stderr.endswith(b"last\n")


async def test_output_of_exactly_the_limit_is_not_cut(tmp_path: Path) -> None:
    outcome = await run(f"head -c {KEPT} /dev/zero", tmp_path)
    assert (len(outcome.stdout), outcome.stdout_cut) == (KEPT, False)


async def test_the_whole_group_ends_at_the_timeout(tmp_path: Path) -> None:
    command = "sleep 600 & echo $! > child; wait"
    began = time.monotonic()
    outcome = await run(command, tmp_path, timeout=0.3)
    assert outcome.timed_out
    assert outcome.returncode == -signal.SIGTERM
    assert time.monotonic() - began < 20
    await gone(int((tmp_path / "child").read_text()))


async def test_a_command_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    outcome = await run("trap '' TERM; sleep 600; sleep 600", tmp_path, timeout=0.3)
    assert outcome.timed_out
    assert outcome.returncode == -signal.SIGKILL


async def test_a_process_left_in_the_group_ends_with_the_command_and_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "DRAIN", 600)
    outcome = await run("sleep 600 & echo $! > child; echo done", tmp_path)
    assert outcome.ok
    assert outcome.stdout == b"done\n"
    await gone(int((tmp_path / "child").read_text()))


async def test_a_process_outside_the_group_that_holds_the_output_is_not_waited_for(
    tmp_path: Path,
) -> None:
    command = "setsid sh -c 'echo $$ > child; exec sleep 600' & while ! test -s child; do :; done"
    outcome = await run(command + "; echo done", tmp_path)
    escaped = int((tmp_path / "child").read_text())
    try:
        assert outcome.ok
        assert outcome.stdout == b"done\n"
        assert alive(escaped)
    finally:
        os.kill(escaped, signal.SIGKILL)


async def test_output_is_whole_when_the_time_to_read_it_passes_before_the_first_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stand_still(process: Process) -> None:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it is the point

    monkeypatch.setattr(command_module, "DRAIN", 0)
    monkeypatch.setattr(Process, "wait", stand_still)
    outcome = await run("echo decided; echo why >&2", tmp_path)
    assert (outcome.stdout, outcome.stderr) == (b"decided\n", b"why\n")


async def test_cancelling_ends_the_group(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, "sleep 600 & echo $! > child; echo $$ > leader; wait", tmp_path)
        with trio.fail_after(10):
            while not (tmp_path / "leader").exists() or not (tmp_path / "leader").read_text():
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    assert not alive(int((tmp_path / "leader").read_text()))
    await gone(int((tmp_path / "child").read_text()))


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    await run("echo x; cat", tmp_path, stdin=b"y")
    await run("sleep 600", tmp_path, timeout=0.05)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_a_missing_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(LoadError) as caught:
        await run("true", tmp_path / "gone")
    assert caught.value.reason == f"its working directory {tmp_path}/gone does not exist"
