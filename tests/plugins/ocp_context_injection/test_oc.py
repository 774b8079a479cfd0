"""The runner of oc and kubectl, with scripts in their place."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ocp_context_injection.oc import (
    Cancelled,
    Failed,
    Limits,
    MissingProgram,
    Oc,
    OcError,
    check_value,
    find,
)

TOKEN = "sha256~s3cret-t0ken-value"
Make = Callable[..., Oc]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH that has an oc or a kubectl, empty at first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cat", "sleep", "touch"):
        (folder / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def script(folder: Path, body: str, name: str = "oc") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def oc(programs: Path, tmp_path: Path) -> Make:
    """oc(body, ...): a runner of a script with this body."""

    def make(body: str, **options: Any) -> Oc:
        program = script(programs, body)
        return Oc(program, str(tmp_path / "kubeconfig"), str(tmp_path / "folder"), **options)

    return make


# --- which program


def test_oc_goes_before_kubectl_and_kubectl_before_nothing(programs: Path) -> None:
    with pytest.raises(MissingProgram, match=r"neither oc nor kubectl on PATH; install one"):
        find()
    kubectl = script(programs, "", "kubectl")
    assert find() == kubectl
    assert find() != script(programs, "") == find()


def test_a_program_that_is_named_is_the_only_one_looked_for(programs: Path) -> None:
    script(programs, "")
    other = script(programs, "", "oc-4.18")
    assert find("oc-4.18") == find(other) == other
    with pytest.raises(MissingProgram, match=r"oc-4\.19 is not installed or not on PATH"):
        find("oc-4.19")


# --- what a command is


def test_values_and_flags_arrive_as_they_are_and_the_bounds_go_with_them(
    oc: Make, tmp_path: Path
) -> None:
    body = 'printf "%s\\n" "$@" "$KUBECONFIG" "$HOME" "$KUBERC"; cat'
    said = oc(body).run("get", values=["pods", "a b;$(x)"], flags={"selector": "-x", "tail": 5})
    assert said.splitlines() == [
        *("get", "pods", "a b;$(x)", "--selector=-x", "--tail=5"),
        *(f"--cache-dir={tmp_path / 'folder'}", "--request-timeout=20s"),
        *(str(tmp_path / "kubeconfig"), str(tmp_path / "folder"), "off"),
    ]


@pytest.mark.parametrize("value", ["", "-o", "--all", "a\nb", "a\0b", "\x1b[1m"])
def test_a_value_that_could_be_an_option_is_refused_before_anything_starts(
    oc: Make, tmp_path: Path, value: str
) -> None:
    with pytest.raises(OcError, match="cannot be given to oc"):
        oc(f"touch {tmp_path}/started").run("get", values=["pods", value])
    assert not (tmp_path / "started").exists()


@given(st.text())
def test_a_value_passes_when_it_is_one_line_and_no_option(value: str) -> None:
    if value and not value.startswith("-") and value.isprintable():
        assert check_value(value) == value
        return
    with pytest.raises(OcError, match="cannot be given to oc") as caught:
        check_value(value)
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


def test_a_path_of_the_api_is_asked_for_with_its_query_escaped(oc: Make) -> None:
    body = 'printf \'{"asked": "%s %s"}\' "$1" "$2"'
    answer = oc(body).raw("/api/v1/nodes", {"limit": 5, "labelSelector": "!a.b/c"})
    assert answer == {"asked": "get --raw=/api/v1/nodes?limit=5&labelSelector=%21a.b%2Fc"}
    with pytest.raises(ValueError, match="is not a path"):
        oc(body).raw("nodes")


# --- what comes back


def test_warnings_on_standard_error_are_no_part_of_the_answer(oc: Make) -> None:
    runner = oc('echo "Warning: old API" >&2; echo \'{"a": 1}\'; echo more >&2')
    assert runner.run("whoami") == '{"a": 1}\n'
    assert runner.json("version") == {"a": 1}


def test_what_is_not_json_is_an_error_with_its_size(oc: Make) -> None:
    with pytest.raises(OcError, match="oc get /x printed 6 characters that are not JSON"):
        oc("echo hello").raw("/x")


def test_a_failure_tells_the_last_words_that_are_not_a_log_line(oc: Make) -> None:
    body = (
        'echo "E1130 11:22:33.4 7 memcache.go:265] couldn\'t get groups" >&2\n'
        'echo "error: You must be logged in" >&2\n'
        'echo "E1130 11:22:33.5 7 memcache.go:265] again" >&2; echo output; exit 3'
    )
    with pytest.raises(Failed) as caught:
        oc(body).run("get", values=["pods"])
    failed = caught.value
    assert str(failed) == "oc get pods failed with exit status 3: error: You must be logged in"
    assert (failed.status, failed.is_not_found) == (3, False)
    with pytest.raises(Failed, match="failed with exit status 1: it did not say why"):
        oc("exit 1").run("whoami")
    with pytest.raises(Failed) as caught:
        oc('echo "Error from server (NotFound): no x" >&2; exit 1').raw("/x")
    assert caught.value.is_not_found


def test_a_failure_tells_the_error_and_not_the_advice_after_it(oc: Make) -> None:
    for line in (
        "Unable to connect to the server: getting credentials: exec: executable x not found",
        "The connection to the server 127.0.0.1:1 was refused",
        "Error from server (Forbidden): no",
    ):
        runner = oc(f"echo 'Warning: old' >&2; echo '{line}' >&2; echo 'see https://x' >&2; exit 1")
        with pytest.raises(Failed) as caught:
            runner.raw("/x")
        assert caught.value.said == line
        assert caught.value.is_forbidden is ("Forbidden" in line)


def test_tokens_for_others_are_not_in_its_environment(
    oc: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OCP_API_TOKEN", "OCP_OFFLINE_TOKEN", "OTHER"):
        monkeypatch.setenv(name, TOKEN)
    said = oc('echo "$OCP_API_TOKEN,$OCP_OFFLINE_TOKEN,$OTHER"').run("whoami")
    assert said == f",,{TOKEN}\n"


def test_a_secret_is_in_no_error(oc: Make) -> None:
    runner = oc(f'echo "error: {TOKEN} was refused by {TOKEN}" >&2; exit 1', secrets=[TOKEN])
    with pytest.raises(Failed, match=r"\[secret\] was refused by \[secret\]") as caught:
        runner.run("get", values=[f"x{TOKEN}"])
    assert TOKEN not in str(caught.value) + caught.value.said


def test_a_program_that_cannot_be_started_is_told_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "oc"
    broken.write_text("not a program")
    broken.chmod(0o755)
    for program in (str(broken), str(tmp_path / "none")):
        with pytest.raises(OcError, match="whoami cannot be started: "):
            Oc(program, "", str(tmp_path)).run("whoami")


# --- bounds


def test_a_command_that_hangs_is_ended_with_what_it_has_started(oc: Make, tmp_path: Path) -> None:
    child = tmp_path / "child"

    def is_cancelled() -> bool:
        """Not; but it waits for the child, so that there is one when the time is over."""
        while not (child.exists() and child.read_text().endswith("\n")):
            time.sleep(0.01)
        return False

    runner = oc(
        f"sleep 600 & echo $! > {child}; wait", limits=Limits(seconds=0.5), cancelled=is_cancelled
    )
    with pytest.raises(OcError, match=r"oc whoami: no answer within 0.5 s"):
        runner.run("whoami")
    pid = int(child.read_text())
    for _ in range(200):
        if not _runs(pid):
            break
        time.sleep(0.02)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_child_that_keeps_the_pipe_does_not_keep_the_answer(oc: Make, tmp_path: Path) -> None:
    end = tmp_path / "end"
    runner = oc(f"(while [ ! -e {end} ]; do sleep 0.05; done) & echo done")
    try:
        assert runner.run("whoami") == "done\n"
    finally:
        end.touch()


def test_an_answer_given_at_the_very_end_is_whole(oc: Make, monkeypatch: Any) -> None:
    # Each look at whether it has ended waits until it has, as if it ended just then.
    poll = subprocess.Popen.poll

    def late(process: subprocess.Popen[bytes]) -> int | None:
        if process.returncode is None:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return poll(process)

    runner = oc("sleep 0.2; echo done; echo said >&2; exit 1")
    monkeypatch.setattr(subprocess.Popen, "poll", late)
    with pytest.raises(Failed) as caught:
        runner.run("get")
    assert caught.value.said == "said"


def test_an_answer_that_is_too_large_ends_the_command(oc: Make) -> None:
    body = "while :; do echo 0123456789012345678901234567890123456789; done"
    runner = oc(body, limits=Limits(output=100_000))
    with pytest.raises(OcError, match="oc get: the answer exceeds 100000 bytes"):
        runner.run("get")


def test_much_on_standard_error_is_read_and_its_end_is_kept(oc: Make) -> None:
    line = "x" * 99
    runner = oc(f"i=0; while [ $i -lt 3000 ]; do echo {line} >&2; i=$((i+1)); done; exit 1")
    with pytest.raises(Failed) as caught:
        runner.run("get")
    assert caught.value.said == line


def test_a_cancel_ends_the_command(oc: Make) -> None:
    flag = threading.Event()
    timer = threading.Timer(0.2, flag.set)
    timer.start()
    with pytest.raises(Cancelled, match="oc get was cancelled"):
        oc("exec sleep 600", cancelled=flag.is_set).run("get")
    timer.join()


def test_after_the_deadline_nothing_is_started(oc: Make, tmp_path: Path) -> None:
    runner = oc(f"touch {tmp_path}/started", deadline=time.monotonic())
    with pytest.raises(OcError, match="oc get was not asked: there was no time left"):
        runner.run("get")
    assert not (tmp_path / "started").exists()
