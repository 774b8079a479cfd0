"""Run the checks, one after the other, each in a process of its own, within a bound."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

import trio

from ..guardian import Guardian
from ..redaction import redact
from .case import Case, Known
from .drivers import DRIVERS, Driver
from .model import Check, Failed, Finding, Outcome, Report, Skipped, Verdict
from .offers import find_ping
from .table import CHECKS, HANDSHAKE, MANIFEST
from .target import Target

LIMIT = 20.0  # seconds for the whole run, beside the starts
_MOST = 60.0  # seconds, however slowly it starts
_ONE = 15.0  # seconds for one check

OnFinding = Callable[[Finding], None]
OnCheck = Callable[[Check], None]


def _ignore(_: object) -> None:
    pass


async def run_checks(
    target: Target,
    *,
    limit: float | None = None,
    checks: Sequence[Check] = CHECKS,
    on_check: OnCheck = _ignore,
    on_finding: OnFinding = _ignore,
) -> Report:
    """Check a plugin, and end all that was started for it.

    limit: seconds for the whole run; None is 20, and more for a plugin that starts slowly.
    on_check is called when a check begins, on_finding when it is done. Raises LoadError when the
    plugin's files are not those that the person agreed to, and OSError when no guardian can be had.
    """
    if target.launch.verify is not None:
        await target.launch.verify()
    run = _Run(target, limit)
    findings: list[Finding] = []
    try:
        for check in checks:
            if target.dialect not in check.dialects:
                continue
            on_check(check)
            finding = await run.check(check)
            findings.append(finding)
            on_finding(finding)
    finally:
        await run.guardian.close()
    starts = run.known.starts
    return Report(
        plugin=target.name,
        dialect=target.dialect,
        command=target.launch.command,
        findings=findings,
        start_s=statistics.median(starts) if starts else None,
        incomplete=run.timed_out,
    )


class _Run:
    """What goes on from check to check."""

    def __init__(self, target: Target, limit: float | None) -> None:
        self.guardian = Guardian()
        self.known = Known()
        self.timed_out = False
        self._target = target
        self._driver: Driver = DRIVERS[target.dialect]
        self._began = trio.current_time()
        self._limit = limit
        self._stop = ""  # why no further check makes sense

    @property
    def _deadline(self) -> float:
        if self._limit is not None:
            return self._began + self._limit
        slowest = max(self.known.starts, default=0.0)
        return self._began + min(_MOST, LIMIT + slowest * len(CHECKS))

    async def check(self, check: Check) -> Finding:
        began = trio.current_time()
        if not self._stop and began >= self._deadline:
            self.timed_out = True
            self._stop = f"the {self._deadline - self._began:.0f} s for the whole run are over"
        if self._stop:
            return Finding(check=check, outcome=Outcome.SKIPPED, text=self._stop)
        if check.id == "unknown-method":
            await self._find_ping()
        case, text, verdict = await self._run(check)
        outcome = Outcome.OK
        if verdict is not None:
            outcome, text = check.outcome_of(verdict, self._target.dialect), verdict.text
        [text] = self._clean([text])
        if check in (HANDSHAKE, MANIFEST) and outcome is Outcome.FAILED:
            self._stop = f"the {check.id} failed"
        shown = case.session if outcome in (Outcome.FAILED, Outcome.WARNING) else None
        return Finding(
            check=check,
            outcome=outcome,
            text=text,
            sent=self._clean(shown.sent) if shown else (),
            received=self._clean(shown.received) if shown else (),
            seconds=trio.current_time() - began,
        )

    def _clean(self, lines: Sequence[str]) -> Sequence[str]:
        """Without the secrets that the plugin was given."""
        return tuple(redact(line, self._target.launch.secrets) for line in lines)

    async def _run(self, check: Check) -> tuple[Case, str, Verdict | None]:
        """Run one check to its end; what it started has ended, too, when this returns."""
        before = list(self.known.strays)
        text, verdict = "", None
        case: Case | None = None
        try:
            async with trio.open_nursery() as nursery:
                case = Case(
                    self._target, self._driver, self.known, self.guardian, nursery, self._deadline
                )
                try:
                    text = await self._bounded(check, case)
                except Verdict as found:
                    verdict = found
                await case.wind_up()
                nursery.cancel_scope.cancel()
        finally:
            if case is not None:
                await case.close()
        if check.provokes:
            self.known.strays[:] = before
        return case, text, verdict

    async def _bounded(self, check: Check, case: Case) -> str:
        now = trio.current_time()
        seconds = max(0.1, min(_ONE, self._deadline - now))
        with trio.move_on_after(seconds):
            return await check.run(case)
        if seconds < _ONE:
            self.timed_out = True
            raise Skipped("the time for the whole run is over; give it more with --timeout")
        raise Failed(f"it was not done within {seconds:g} s")

    async def _find_ping(self) -> None:
        """Find a harmless request that the plugin answers, to try other things with."""
        for candidate in self._driver.harmless():
            if trio.current_time() >= self._deadline:
                return
            if await self._answers(candidate):
                self.known.ping = candidate
                return

    async def _answers(self, candidate: tuple[str, str]) -> bool:
        found = False

        async def run(case: Case) -> str:
            nonlocal found
            found = await find_ping(case, candidate)
            return ""

        await self._run(
            Check(id="ping", title="", rule="", fix="", run=run, provokes=True),
        )
        return found
