"""Runs a check under atheris, a coverage-guided fuzzer, which has to be installed.

    python tests/fuzz/fuzz_wire.py -max_total_time=60

Each fuzz_*.py has `check(data)`, which raises when something is wrong, and SEEDS to start
from. All of libFuzzer's options work. What makes a check fail is written to crash-*.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path


def main(check: Callable[[bytes], None], seeds: Sequence[bytes]) -> None:
    """Fuzz until told to stop; the process ends here."""
    import atheris

    atheris.instrument_all()
    with tempfile.TemporaryDirectory(prefix="tinyhost-fuzz-") as corpus:
        for number, seed in enumerate(seeds):
            (Path(corpus) / str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], check)
        atheris.Fuzz()
