"""Ctrl+C between any two lines of the host leaves no plugin behind, and never hangs it."""

from __future__ import annotations

from pathlib import Path

TRIALS = 60


def test_an_interrupt_at_any_line_leaves_no_process(tmp_path: Path) -> None:
    from bench.soak import interrupts

    done = interrupts.run(tmp_path, trials=TRIALS, seed=11)
    assert done["left"] == []
    assert done["interrupted"] > TRIALS // 2
