"""What holds for a whole run: order, bounds, what is kept from sight, and what is left behind."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
import trio

from tinyhost.check.engine import run_checks
from tinyhost.check.model import Outcome
from tinyhost.check.table import CHECKS
from tinyhost.check.target import Target
from tinyhost.errors import LoadError
from tinyhost.process_tree import HOST_VARIABLE

from .conftest import target

ROOT = Path(__file__).parents[3]


async def test_after_a_failed_handshake_nothing_else_is_tried(
    faulty: Callable[..., Target],
) -> None:
    report = await run_checks(faulty("dies at once"))
    first, *others = report.findings
    assert "exited with status 4" in first.text
    assert "no configuration" in first.text
    assert {found.outcome for found in others} == {Outcome.SKIPPED}
    assert {found.text for found in others} == {"the handshake failed"}
    assert report.start_s is None
    assert not report.passed


async def test_a_program_that_is_not_there_fails_the_handshake(tmp_path: Path) -> None:
    program = tmp_path / "gone"
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    report = await run_checks(target(program))
    assert report.findings[0].outcome is Outcome.FAILED
    assert "/nonexistent/interpreter, which does not exist" in report.findings[0].text


async def test_when_the_time_is_over_the_rest_is_skipped_and_nothing_has_passed(
    faulty: Callable[..., Target],
) -> None:
    report = await run_checks(faulty(""), limit=0.5)
    assert report.incomplete
    assert not report.passed
    assert report.counts[Outcome.FAILED] == 0
    assert report.findings[0].outcome is Outcome.OK
    assert report.findings[-1].outcome is Outcome.SKIPPED
    assert len(report.findings) == len(CHECKS)


async def test_a_plugin_that_answers_nothing_after_the_handshake_is_done_with_in_time(
    add_mute: Path,
) -> None:
    report = await run_checks(target(add_mute), limit=4)
    outcomes = {found.check.id: found.outcome for found in report.findings}
    assert outcomes["handshake"] is Outcome.OK
    assert not report.passed
    assert len(outcomes) == len(CHECKS)


@pytest.fixture
def add_mute(tmp_path: Path) -> Path:
    program = tmp_path / "mute"
    program.write_text(
        f"#!{sys.executable} -IS\nimport os, time\nos.read(0, 65536)\n"
        'os.write(1, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')\ntime.sleep(60)\n'
    )
    program.chmod(0o755)
    return program


async def test_what_failed_is_shown_with_the_lines_that_led_to_it(
    faulty: Callable[..., Target],
) -> None:
    report = await run_checks(faulty("result for an unknown method"))
    [found] = [found for found in report.findings if found.outcome is Outcome.FAILED]
    assert json.loads(found.sent[1])["method"] == "tinyhost/no-such-method"
    assert json.loads(found.received[1])["result"] == {}
    assert found.value()["link"] == "docs/protocol.md#errors"


async def test_what_a_plugin_floods_is_cut(tmp_path: Path) -> None:
    program = tmp_path / "flood"
    program.write_text(
        f"#!{sys.executable} -IS\nimport os\nos.read(0, 65536)\n"
        'os.write(1, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')\n'
        "try:\n    while True: os.write(1, b'y' * 500 + b'\\n')\nexcept OSError: pass\n"
    )
    program.chmod(0o755)
    report = await run_checks(target(program), limit=3)
    assert not report.passed
    for found in report.findings:
        assert len(found.text) < 2000
        assert len(found.received) < 20
        assert all(len(line) < 400 for line in found.received)


async def test_secrets_of_the_plugin_are_not_in_the_report(
    faulty: Callable[..., Target],
) -> None:
    secret = "correct-horse-battery"
    checked = faulty("prints in a hook")
    launch = attrs.evolve(checked.launch, options={"token": secret}, secrets=(secret,))
    report = await run_checks(attrs.evolve(checked, launch=launch))
    assert report.counts[Outcome.FAILED] == 1
    text = json.dumps(report.value())
    assert secret not in text
    assert "[redacted]" in text


async def test_a_cancelled_run_leaves_no_process(
    faulty: Callable[..., Target], tmp_path: Path
) -> None:
    began = trio.Event()
    async with trio.open_nursery() as nursery:

        async def run() -> None:
            await run_checks(faulty("stays"), on_finding=lambda _: began.set())

        nursery.start_soon(run)
        await began.wait()
        nursery.cancel_scope.cancel()
    assert not _processes_of(tmp_path / "nearly")


def _processes_of(program: Path) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(program) in words:
            found.append(folder.name)
    return found


async def test_each_process_carries_the_marks_of_a_host(tmp_path: Path) -> None:
    program = tmp_path / "marked"
    seen = tmp_path / "seen"
    program.write_text(f'#!/bin/sh\necho "${HOST_VARIABLE}" >> {seen}\n')
    program.chmod(0o755)
    await run_checks(target(program))
    assert re.fullmatch(r"[0-9a-f]{32}\n", seen.read_text())


async def test_files_that_the_person_has_not_agreed_to_are_not_started(
    faulty: Callable[..., Target],
) -> None:
    async def refuse() -> None:
        raise LoadError("nearly", "resolve", "its files have changed")

    checked = faulty("")
    launch = attrs.evolve(checked.launch, verify=refuse)
    with pytest.raises(LoadError, match="its files have changed"):
        await run_checks(attrs.evolve(checked, launch=launch))


def test_every_check_links_to_a_section_that_there_is() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()
    sections = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", page, re.M)
    }
    assert {check.anchor for check in CHECKS} <= sections


def test_every_check_says_its_rule_and_the_way_out() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.rule.endswith(".")
        assert check.fix.endswith(".")
        assert not check.title.endswith(".")
