"""Outputs that are too large for the wire."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from tinyhost import spill


def test_a_long_output_is_shortened_and_kept_whole_for_its_owner_alone(tmp_path: Path) -> None:
    text = "a" * spill.OUTPUT_MAX + "middle" + "z" * spill.OUTPUT_MAX
    fitted = spill.fit(text, tmp_path, "../bash")
    assert fitted.startswith("aaa")
    assert fitted.endswith("zzz")
    assert "middle" not in fitted
    found = re.search(r"the whole, as the tool put it out, is in (\S+\.txt)\]", fitted)
    assert found
    kept = Path(found[1])
    assert kept.parent == tmp_path / "outputs"
    assert kept.read_text() == text
    assert kept.stat().st_mode & 0o777 == 0o600


def test_old_outputs_go_and_one_that_another_host_took_away_harms_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir(mode=0o700)
    earlier = time.time() - 3600
    for number in range(spill._KEEP_FILES):
        (folder / f"{number}.txt").touch()
        os.utime(folder / f"{number}.txt", (earlier, earlier + number))
    (folder / "gone.txt").symlink_to("nowhere")
    os.utime(folder / "gone.txt", (1, 1), follow_symlinks=False)
    fitted = spill.fit("x" * (spill.OUTPUT_MAX + 1), tmp_path, "bash")
    assert "the whole, as the tool put it out, is in" in fitted
    assert not (folder / "gone.txt").is_symlink()
    assert not (folder / "0.txt").exists()
    assert len(list(folder.iterdir())) == spill._KEEP_FILES
