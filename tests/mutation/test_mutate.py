"""The mutation driver makes changes that matter, and tells a noticed one from one that is not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).with_name("mutate.py")

MODULE = """\
LIMIT = 3


def over(n: int) -> bool:
    if n > LIMIT and n != 7:
        return True
    return False
"""


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module
    spec.loader.exec_module(module)
    return module


def test_every_mutant_is_a_change_that_still_parses(mutate: ModuleType) -> None:
    source = MODULE.encode()
    changed = {mutant.apply(source) for mutant in mutate.Finder(source).mutants}
    assert len(changed) == len(mutate.Finder(source).mutants) > 8
    assert source not in changed
    for text in changed:
        compile(text, "module", "exec")
    assert any(b"n >=  LIMIT" in text or b"n >= LIMIT" in text for text in changed)
    assert any(b"(3 + 1)" in text for text in changed)


def test_a_change_that_no_test_notices_is_reported(tmp_path: Path) -> None:
    """In a copy of the layout: the driver works on the tree it stands in."""
    (tmp_path / "tests" / "mutation").mkdir(parents=True)
    driver = tmp_path / "tests" / "mutation" / "mutate.py"
    driver.write_bytes(FILE.read_bytes())
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\naddopts = --import-mode=importlib\n")
    (tmp_path / "small.py").write_text(MODULE)
    test = tmp_path / "tests" / "test_small.py"
    test.write_text("from small import over\ndef test(): assert over(4) and not over(7)\n")
    done = subprocess.run(
        [sys.executable, str(driver), "small.py", "tests/test_small.py"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *survivors, score = done.stdout.splitlines()
    assert "small.py:5: ' > ' -> ' >= '" in survivors
    assert "small.py:5: ' != ' -> ' == '" not in survivors
    assert f"{int(score.split()[3]) - len(survivors)} of" in score
