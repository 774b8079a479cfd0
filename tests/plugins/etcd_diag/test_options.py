"""The options: what is taken, and what is refused with a clear text."""

from __future__ import annotations

import pytest

from tinyhost_plugins.etcd_diag.options import MIB, OptionError, read_options


def test_every_option_is_taken() -> None:
    options = read_options(
        {
            "etcdctl": "/opt/etcdctl",
            "maxKeys": 5000,
            "maxLogMiB": 2,
            "maxSnapshotMiB": 3,
            "prefixes": ["/mine/"],
            "seconds": 9,
        }
    )
    assert (options.etcdctl, options.max_keys, options.seconds) == ("/opt/etcdctl", 5000, 9)
    assert (options.max_logs, options.max_snapshot) == (2 * MIB, 3 * MIB)
    assert options.prefixes == ("/registry/", "/kubernetes.io/", "/openshift.io/", "/mine/")


def test_a_snapshot_may_have_2_gib_by_default() -> None:
    assert read_options({}).max_snapshot == 2 << 30


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"maxKey": 1}, 'there is no option "maxKey"'),
        ({"maxKeys": 1}, '"maxKeys" has to be a whole number from 1000'),
        ({"maxKeys": True}, '"maxKeys" has to be'),
        ({"maxLogMiB": "3"}, '"maxLogMiB" has to be'),
        ({"maxSnapshotMiB": 1 << 40}, '"maxSnapshotMiB" has to be'),
        ({"seconds": 0.5}, '"seconds" has to be'),
        ({"etcdctl": ""}, '"etcdctl" has to be'),
        ({"prefixes": "/registry/"}, '"prefixes" has to be a list'),
        ({"prefixes": ["registry"]}, '"prefixes" has to be a list'),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], text: str) -> None:
    with pytest.raises(OptionError, match=text):
        read_options(options)
