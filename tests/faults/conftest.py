"""Makes the modules beside this one, and the misbehaving plugin, importable."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "peers"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from runner import Bench, leftovers  # noqa: E402


@pytest.fixture
def bench(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A bench that is clean again when the test has ended."""
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp))
    monkeypatch.setattr(tempfile, "tempdir", None)
    bench = Bench(home, tmp)
    monkeypatch.setattr(os, "killpg", bench.killpg)
    yield bench
    assert list(leftovers(bench)) == []
