"""`python -m bench`: measure, print a table, write JSON."""

from __future__ import annotations

import argparse
import gc
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import trio

from . import attach_rows, audit_logs, go_rows, hook_rows, mcp_rows, report, startup_rows, tool_rows
from .harness import Missing, Row
from .workspace import ROOT, Workspace

Measure = Callable[[Workspace, bool], Awaitable[list[Row]]]

GROUPS: dict[str, Measure] = {
    "hook": hook_rows.measure,
    "flight": tool_rows.measure_in_flight,
    "payload": tool_rows.measure_payloads,
    "load": startup_rows.measure_load,
    "sdk": startup_rows.measure_sdk,
    "help": startup_rows.measure_help,
    "run": startup_rows.measure_run,
    "attach": attach_rows.measure,
    "mcp": mcp_rows.measure,
    "go": go_rows.measure,
    "audit": audit_logs.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0; 1 when a row could not be measured, or with --check missed its goal."""
    options = _parse(arguments)
    now = datetime.now(UTC)
    about = report.machine()
    # What the imports left behind is never looked at again.
    gc.collect()
    gc.freeze()
    groups = [name for name in GROUPS if not options.only or name in options.only]
    with Workspace() as workspace:
        rows = trio.run(measure, workspace, {name: GROUPS[name] for name in groups}, options.quick)
    result = report.to_json(rows, about, started=now.isoformat("T", "seconds"), quick=options.quick)
    text = json.dumps(result, indent=2)
    file = options.output or ROOT / "bench" / "results" / f"{now:%Y%m%dT%H%M%SZ}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")
    if options.json:
        print(text)
    else:
        print(report.table(rows), *(f"note: {note}" for note in result["warnings"]), sep="\n")
        print(f"written to {file}")
    return status(rows, options.check)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="few short rounds: shows that all works, no more")
    add("--only", action="append", choices=GROUPS, help="measure this group; may be repeated")
    add("--check", action="store_true", help="exit with status 1 when a goal is missed")
    add("--json", action="store_true", help="print the JSON in place of the table")
    add("--output", type=Path, metavar="FILE", help="where to write the JSON")
    return parser.parse_args(arguments)


async def measure(workspace: Workspace, groups: dict[str, Measure], quick: bool) -> list[Row]:
    """All rows of the groups. One that fails is a row that says why; the others go on."""
    rows: list[Row] = []
    for name, group in groups.items():
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            rows += await group(workspace, quick)
        except Missing as missing:
            rows.append(Row(name=name, error=str(missing)))
        except Exception as error:
            traceback.print_exc()
            rows.append(Row(name=name, error=f"{type(error).__name__}: {error}"))
    return rows


def status(rows: Iterable[Row], check: bool) -> int:
    """The exit status of the whole run."""
    return int(any(row.error or (check and row.met is False) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
