"""How sizes and the like are written, and how long calls are kept within their time."""

from __future__ import annotations

import pytest

from tinyhost_plugins.etcd_diag import text
from tinyhost_plugins.etcd_diag.pace import Pace
from tinyhost_plugins.etcd_diag.survey import Top
from tinyhost_sdk import HandlerError, ToolContext


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        *((0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB")),
        *((1024**2 - 1, "1.0 MiB"), (5 * 1024**2, "5.0 MiB"), (2 << 30, "2.0 GiB")),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_sizes_have_one_decimal(count: int, shown: str) -> None:
    assert text.size(count) == shown


def test_counts_have_their_noun() -> None:
    assert text.counted(1, "key") == "1 key"
    assert text.counted(1234, "key") == "1,234 keys"
    assert text.counted(0, "entry", "entries") == "0 entries"


def test_the_top_keeps_the_greatest_and_orders_equals_by_key() -> None:
    top = Top(3)
    for number in range(100):
        top.add(number % 10, b"k%02d" % number)
    assert top.entries() == [(9, b"k09"), (9, b"k19"), (9, b"k29")]


def test_work_that_takes_too_long_ends_with_what_to_set() -> None:
    with pytest.raises(HandlerError, match='reading took longer than 0 seconds; the option "sec'):
        Pace(ToolContext(), 0).tick("reading")
