"""The launcher by itself. What it keeps a plugin from is in test_sandbox.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tinyhost import landlock
from tinyhost.sandbox import landlock_problem


def launch(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", landlock.__file__, *words]
    return subprocess.run(command, capture_output=True, text=True)


SYSTEM = [word for path in ("/usr", "/bin", "/lib", "/lib64") for word in ("--read", path)]


def test_the_program_takes_the_launchers_place() -> None:
    done = launch(*SYSTEM, "--", "/bin/sh", "-c", "echo $0 $1; exit 7", "name", "one")
    assert (done.stdout, done.stderr, done.returncode) == ("name one\n", "", 7)


def test_a_program_is_not_run_when_a_rule_cannot_be_made() -> None:
    done = launch(*SYSTEM, "--read", "/nowhere", "--", "/bin/echo", "ran")
    assert done.returncode == landlock.FAILED
    assert done.stdout == ""
    assert done.stderr.startswith("tinyhost: the sandbox could not be set up by Landlock")
    assert "/nowhere" in done.stderr


def test_a_program_out_of_reach_is_named(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    done = launch(*SYSTEM, "--", str(program))
    assert done.returncode == landlock.FAILED
    assert f"{program} could not be started in the sandbox: Permission denied" in done.stderr


def test_rules_hold_for_what_the_program_starts() -> None:
    script = "(cat /etc/passwd); sh -c 'cat /etc/passwd'"
    done = launch(*SYSTEM, "--", "/bin/sh", "-c", script)
    assert done.stderr.count("Permission denied") == 2
    assert done.stdout == ""


def test_capabilities_and_new_privileges_are_gone() -> None:
    done = launch(
        *SYSTEM,
        "--read",
        "/proc",
        "--",
        "/bin/grep",
        "-E",
        "CapEff|NoNewPrivs",
        "/proc/self/status",
    )
    assert done.stdout.split() == ["CapEff:", "0" * 16, "NoNewPrivs:", "1"]


@pytest.mark.parametrize(
    ("version", "network", "problem"),
    [
        (0, True, "has no Landlock"),
        (1, True, "cannot keep files from being cut off"),
        (2, False, "cannot keep files from being cut off"),
        (3, False, "cannot take the network away"),
        (3, True, ""),
        (4, False, ""),
        (landlock.abi(), False, ""),
    ],
)
def test_an_old_landlock_is_refused(version: int, network: bool, problem: str) -> None:
    found = landlock_problem(version, network=network)
    assert problem in found
    assert bool(found) == bool(problem)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_jumps_forwards_and_ends_with_a_verdict(machine: str) -> None:
    for network in (True, False):
        program = landlock.socket_filter(machine, network=network)
        steps = [program[at : at + 8] for at in range(0, len(program), 8)]
        assert len(program) % 8 == 0
        for number, step in enumerate(steps):
            assert number + 1 + max(step[2], step[3]) < len(steps) or step[0] == 0x06
        assert steps[-1][0] == 0x06


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(landlock.LandlockError, match="no filter of system calls is known for vax"):
        landlock.socket_filter("vax", network=False)
