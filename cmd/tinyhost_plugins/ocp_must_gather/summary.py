"""What a must-gather has in it, said after it was loaded."""

from __future__ import annotations

from .._shared.texts import counted, line
from . import version
from .report import Ask, Report
from .sessions import Loaded

_MOST_NAMES = 20


def answer(ask: Ask, loaded: Loaded) -> str:
    """mg_use."""
    mg = ask.mg
    found = version.read_version(ask)
    what = version.headline(found) if found else "no ClusterVersion in it"
    report = Report(ask, f"Loaded {line(loaded.given.name, 100) or mg.root}: {what}")
    report.add(f"Root: {mg.root}")
    gathered = mg.gathered()
    if gathered:
        report.add(f"Gathered: {gathered:%Y-%m-%d %H:%M} UTC")
    report.add(f"Present: {', '.join(mg.parts)}")
    report.add(f"Missing: {', '.join(mg.missing) or 'nothing'}")
    names = mg.namespaces
    shown = f": {line(', '.join(names), 2000)}" if 0 < len(names) <= _MOST_NAMES else ""
    report.add(f"{counted(len(names), 'namespace')}{shown}")
    if loaded.unpacked is not None:
        _about_archive(report, loaded)
    if mg.others:
        count = len(mg.others) + 1
        report.section(f"It has the folders of {count} images; only the fullest one is asked:")
        report.add(f"  {mg.root} (asked)")
        report.list([f"  {other}" for other in mg.others])
        report.add("Call mg_use with one of these folders to ask that one.")
    return report.text()


def _about_archive(report: Report, loaded: Loaded) -> None:
    unpacked = loaded.unpacked
    assert unpacked is not None
    text = "Unpacked to a temporary folder, which is removed at the end of the session"
    if unpacked.left_out:
        text += f"; {counted(unpacked.left_out, 'file')} of audit_logs and insights-data left out"
    report.add(text)
    if unpacked.skipped:
        links = counted(unpacked.skipped, "entry", "entries")
        report.add(f"Skipped: {links} of the archive (links, devices, or paths that lead out)")
