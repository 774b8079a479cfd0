"""The options."""

from __future__ import annotations

import pytest

from tinyhost_plugins._shared.options import OptionError
from tinyhost_plugins.ingress_inspect.options import RANGES, Options


def test_every_option_has_its_default_and_takes_its_least_and_its_most() -> None:
    usual = Options()
    for key, (least, default, most) in RANGES.items():
        name = "".join("_" + sign.lower() if sign.isupper() else sign for sign in key)
        assert getattr(usual, name) == default
        assert getattr(Options({key: None}), name) == default
        assert [getattr(Options({key: n}), name) for n in (least, most)] == [least, most]
        for wrong in (least - 1, most + 1, "7", True, 1.5):
            with pytest.raises(OptionError, match=f'option "{key}" has to be a whole number from'):
                Options({key: wrong})


def test_an_option_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(OptionError, match='there is no option "maxRow"; there are certificateDays'):
        Options({"maxRow": 1})
