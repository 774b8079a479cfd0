"""Every check finds its fault, and no other check does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tinyhost.check.engine import run_checks
from tinyhost.check.model import Outcome
from tinyhost.check.table import CHECKS
from tinyhost.check.target import Target

from .conftest import PEERS, QUICK, TIMEOUTS, outcomes, target

sys.path.insert(0, str(Path(__file__).parents[2] / "peers"))
import nearly

# fault of peers/nearly.py: the check that finds it, and what it counts as
FOUND_BY = {
    "never answers": ("handshake", "failed"),
    "dies at once": ("handshake", "failed"),
    "refuses to start": ("handshake", "failed"),
    "bad tool name": ("manifest", "failed"),
    "manifest of a wrong type": ("manifest", "failed"),
    "no version": ("identity", "warning"),
    "no description": ("tool-descriptions", "warning"),
    "schema that does not compile": ("tool-schemas", "failed"),
    "schema that requires what it does not describe": ("tool-schemas", "warning"),
    "misspelt hook": ("hook-names", "warning"),
    "hook in snake case": ("hook-names", "warning"),
    "result for an unknown method": ("unknown-method", "failed"),
    "other code for an unknown method": ("unknown-method", "failed"),
    "no answer to an unknown method": ("unknown-method", "failed"),
    "dies of an unknown method": ("unknown-method", "failed"),
    "result for an unknown tool": ("unknown-tool", "failed"),
    "dies of wrong params": ("wrong-params", "failed"),
    "no answer to wrong params": ("wrong-params", "failed"),
    "answers notifications": ("notifications", "failed"),
    "ids of 32 bits": ("ids", "failed"),
    "ids as floats": ("ids", "failed"),
    "dies of malformed lines": ("malformed-lines", "failed"),
    "no carriage returns": ("crlf", "failed"),
    "one request for each read": ("one-write", "failed"),
    "no patience for half a line": ("slow-writer", "failed"),
    "drops answers when the pipe is full": ("slow-reader", "failed"),
    "buffer smaller than announced": ("big-lines", "failed"),
    "dies of a big line": ("big-lines", "failed"),
    "mixes up requests side by side": ("concurrency", "failed"),
    "opinion of a wrong type": ("hooks", "failed"),
    "hook that fails": ("hooks", "failed"),
    "hook that is not answered": ("hooks", "failed"),
    "dies of odd arguments": ("odd-arguments", "failed"),
    "content that is no text": ("call", "failed"),
    "tool that fails": ("call", "warning"),
    "progress of no call": ("progress", "failed"),
    "progress without a text": ("progress", "failed"),
    "dies of a cancelled call": ("cancel", "failed"),
    "dies of a cancelled nothing": ("cancel-nothing", "failed"),
    "dispose that fails": ("goodbye", "failed"),
    "dispose that fails when it is repeated": ("dispose-twice", "warning"),
    "disposes twice": ("dispose-twice", "warning"),
    "stays": ("end-of-file", "failed"),
    "another exit status": ("exit-status", "warning"),
    "leaves a child": ("children", "warning"),
    "banner": ("output", "failed"),
    "prints in a hook": ("output", "failed"),
    "prints at the end": ("output", "failed"),
    "asks the host": ("output", "failed"),
    "answers twice": ("output", "failed"),
    "slow start": ("start-time", "warning"),
}


def test_every_fault_and_every_check_is_in_the_table() -> None:
    assert set(FOUND_BY) == set(nearly.FAULTS) - {""}
    assert {check for check, _ in FOUND_BY.values()} == {check.id for check in CHECKS}


@pytest.mark.parametrize("fault", FOUND_BY)
async def test_a_fault_is_found_by_one_check(fault: str, faulty: Callable[..., Target]) -> None:
    calls = {"wait": '{"n": 1}'} if "cancelled call" in fault else {"wait": '{"n": 0}'}
    check, outcome = FOUND_BY[fault]
    assert await outcomes(faulty(fault, calls)) == {check: outcome}


async def test_a_plugin_that_forgot_to_declare_what_it_has_is_warned_of(tmp_path: Path) -> None:
    program = tmp_path / "nothing"
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(PEERS)!r})\nimport nearly\n"
        "class Nothing(nearly.Plugin):\n"
        "    def manifest(self):\n"
        "        return {'id': 'nothing', 'version': '1', 'protocol': self.protocol}\n"
        "Nothing().main()\n"
    )
    program.chmod(0o755)
    assert await outcomes(target(program, timeouts=TIMEOUTS)) == {"manifest": "warning"}


async def test_an_answer_that_is_kept_in_a_buffer_leads_to_the_way_out(tmp_path: Path) -> None:
    program = tmp_path / "buffered"
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys\nfor line in sys.stdin:\n"
        """    print('{"jsonrpc": "2.0", "id": 1, "result": {}}')\n"""
    )
    program.chmod(0o755)
    report = await run_checks(target(program, timeouts=QUICK["never answers"]))
    [failed] = [found for found in report.findings if found.outcome is Outcome.FAILED]
    assert failed.check.id == "handshake"
    assert failed.check.fix.startswith("Flush its output after each line")


async def test_a_tool_that_is_not_offered_is_told_once(faulty: Callable[..., Target]) -> None:
    assert await outcomes(faulty("", {"wiat": "{}"})) == {"call": "failed"}


async def test_a_plugin_without_faults_passes_every_check(
    faulty: Callable[..., Target],
) -> None:
    report = await run_checks(faulty(""))
    assert {found.outcome for found in report.findings} == {Outcome.OK}
    assert [found.check for found in report.findings] == list(CHECKS)
    assert report.passed
