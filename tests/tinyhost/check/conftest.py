"""Plugins to check: right ones, and such with one fault."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import pytest

from tinyhost.check.engine import run_checks
from tinyhost.check.model import Report
from tinyhost.check.target import Target, find_target
from tinyhost.config import Config
from tinyhost.model import PluginSettings, Timeouts
from tinyhost.resolve import Resolver

PEERS = Path(__file__).parents[2] / "peers"
# Long, as the machine may be busy, but for what the fault lets pass.
TIMEOUTS = Timeouts(handshake=20, hook=20, tool=20, stop=20)
QUICK = {
    "never answers": attrs.evolve(TIMEOUTS, handshake=1),
    "slow start": attrs.evolve(TIMEOUTS, handshake=1.8),
    "hook that is not answered": attrs.evolve(TIMEOUTS, hook=0.7),
    "stays": attrs.evolve(TIMEOUTS, stop=0.7),
}
CALL = {"wait": '{"n": 0}'}


@pytest.fixture
def faulty(tmp_path: Path) -> Callable[..., Target]:
    """faulty(fault): a plugin with one of the faults of peers/nearly.py; "" is none."""

    def make(fault: str, calls: Mapping[str, str] = CALL) -> Target:
        program = tmp_path / "nearly"
        program.write_text(
            f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(PEERS)!r})\n"
            f"import nearly\nnearly.main({fault!r})\n"
        )
        program.chmod(0o755)
        return target(program, calls, QUICK.get(fault, TIMEOUTS))

    return make


def target(
    where: Path,
    calls: Mapping[str, str] | None = None,
    timeouts: Timeouts | None = None,
    dialect: str | None = None,
) -> Target:
    """What a path leads to, with the settings given."""
    return find_target(
        str(where),
        config=Config(file="", exists=False),
        resolver=Resolver("/nonexistent", ""),
        directory=str(where.parent),
        environ=os.environ,
        dialect=dialect,
        settings=PluginSettings(timeouts=timeouts or Timeouts()),
        calls=calls,
    )


def not_ok(report: Report) -> dict[str, str]:
    """The ids of the checks that failed or warned, with the outcome."""
    return {
        found.check.id: str(found.outcome)
        for found in report.findings
        if found.outcome in ("failed", "warning")
    }


async def outcomes(target: Target) -> dict[str, str]:
    """Run all checks; what was not ok."""
    return not_ok(await run_checks(target))
