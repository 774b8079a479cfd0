"""The fuzzers' checks hold for their own seeds and for what hypothesis makes of these."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("fuzz_*.py"))


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutations(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Pieces of the seeds, with anything between them."""
    piece = st.sampled_from(seeds).flatmap(
        lambda seed: st.tuples(st.integers(0, len(seed)), st.integers(0, len(seed))).map(
            lambda ends: seed[min(ends) : max(ends)]
        )
    )
    return st.lists(st.one_of(piece, st.binary(max_size=4)), max_size=6).map(b"".join)


def test_there_is_a_fuzzer_for_each_thing_that_reads_strange_text() -> None:
    assert {"fuzz_wire", "fuzz_jsonc", "fuzz_manifest", "fuzz_judge"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_check_holds_for_its_seeds_and_mixtures_of_them(name: str) -> None:
    module = load(name)
    check: Callable[[bytes], None] = module.check
    for seed in module.SEEDS:
        check(seed)

    @settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
    @given(mutations(module.SEEDS))
    def run(data: bytes) -> None:
        check(data)

    run()


def test_a_check_of_the_wire_sees_that_cuts_change_what_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = load("fuzz_wire")
    feed = module.wire.Receiver.feed
    monkeypatch.setattr(module.wire.Receiver, "feed", lambda self, data: feed(self, data[:9]))
    with pytest.raises(AssertionError):
        module.check(module.SEEDS[0])
