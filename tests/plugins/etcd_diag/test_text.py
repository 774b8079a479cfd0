"""What the tools share: the greatest of many, and how long a call may take."""

from __future__ import annotations

import pytest

from tinyhost_plugins.etcd_diag.pace import Pace
from tinyhost_plugins.etcd_diag.survey import Top
from tinyhost_sdk import HandlerError, ToolContext


def test_the_top_keeps_the_greatest_and_orders_equals_by_key() -> None:
    top = Top(3)
    for number in range(100):
        top.add(number % 10, b"k%02d" % number)
    assert top.entries() == [(9, b"k09"), (9, b"k19"), (9, b"k29")]


def test_work_that_takes_too_long_ends_with_what_to_set() -> None:
    with pytest.raises(HandlerError, match='reading took longer than 0 seconds; the option "sec'):
        Pace(ToolContext(), 0).tick("reading")
