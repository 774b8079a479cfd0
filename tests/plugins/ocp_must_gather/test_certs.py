"""Certificates of Secrets and ConfigMaps."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins._shared.must_gather import open_must_gather
from tinyhost_plugins._shared.pace import Pace
from tinyhost_plugins.ocp_must_gather.certificates import decode, pem_blocks, secret_value
from tinyhost_plugins.ocp_must_gather.certs import read_certificates
from tinyhost_plugins.ocp_must_gather.plugin import build
from tinyhost_plugins.ocp_must_gather.report import Ask as Asked
from tinyhost_sdk import ToolContext, testing

from .conftest import b64

Files = dict[str, Any]
Ask = Callable[..., list[str]]
Call = Callable[..., list[str]]
Certificate = Callable[..., str]


def secret(pem: str, key: str = "tls.crt") -> Files:
    return {
        "timestamp": "2026-03-01 12:00:00 +0000 UTC",
        "namespaces/shop/core/secrets/s.yaml": {
            "metadata": {"name": "s"},
            "data": {key: base64.b64encode(pem.encode()).decode()},
        },
    }


def test_certificates_are_counted_once_and_sorted_by_their_end(call: Call) -> None:
    assert call("mg_certs") == [
        "4 certificates: 1 expired, 1 expiring within 30 days, 2 OK",
        "As of 2026-03-01 (when it was gathered). A certificate is counted once.",
        "",
        "STATUS DAYS ENDS CA SUBJECT SOURCE",
        "EXPIRED -5 2026-02-24 no old.shop shop/old/tls.crt",
        "EXPIRING 10 2026-03-11 no web.shop shop/serving/tls.crt",
        "OK 500 2027-07-14 no san.bank bank/san/tls.crt",
        "OK 3000 2034-05-18 yes root-ca shop/serving/tls.crt +2 more",
        "1 value of Secrets cannot be looked at: only tls.crt, ca.crt and service-ca.crt are gathered",
    ]


def test_expired_only_leaves_out_what_is_all_right(call: Call) -> None:
    said = call("mg_certs", expired_only=True)
    assert [entry.split(" ")[0] for entry in said[4:6]] == ["EXPIRED", "EXPIRING"]
    assert not any(entry.startswith("OK") for entry in said)


@pytest.mark.parametrize(("days", "expiring"), [(0, 1), (5, 0), (501, 2)])
def test_days_says_what_is_soon(call: Call, days: int, expiring: int) -> None:
    assert f"1 expired, {expiring} expiring within " in call("mg_certs", days=days)[0]


@pytest.mark.parametrize("days", [-1, 100_000])
def test_days_out_of_range_are_refused(
    cluster: Files, write: Callable[..., Path], days: int
) -> None:
    with testing.drive(build()) as driver:
        result = driver.call_tool("mg_certs", {"path": str(write(cluster)), "days": days})
    assert (result.content, result.is_error) == (
        f"days has to be from 0 to 36500, not {days}",
        True,
    )


def test_nothing_is_expired_said_in_words(ask: Ask, certificate: Certificate) -> None:
    said = ask(secret(certificate("a", 100)), "mg_certs", expired_only=True)
    assert said[-1] == "None has expired or expires soon."


def test_one_that_is_not_valid_yet_is_told(ask: Ask, certificate: Certificate) -> None:
    said = ask(secret(certificate("a", 100, begins=5)), "mg_certs", expired_only=True)
    assert said[0].endswith("0 OK, 1 not yet valid")
    assert said[4].startswith("NOT YET VALID 100 ")


def test_without_a_time_of_gathering_now_counts(ask: Ask, certificate: Certificate) -> None:
    ends = (datetime.now(UTC) - datetime(2026, 3, 1, 12, tzinfo=UTC)) + timedelta(days=10.5)
    files = secret(certificate("a", ends / timedelta(days=1)))
    del files["timestamp"]
    said = ask({**files, "timestamp": "unknown"}, "mg_certs")
    assert said[0].startswith("1 certificate: 0 expired, 1 expiring")
    assert "now; it does not say when it was made" in said[1]


def test_a_secret_with_plain_pem_and_keys_of_other_names_are_read(
    ask: Ask, certificate: Certificate
) -> None:
    files = secret("x", "other.pem")
    data = files["namespaces/shop/core/secrets/s.yaml"]["data"]
    data |= {"ca.pem": certificate("plain", 100), "number": 7}
    assert ask(files, "mg_certs")[4].startswith("OK 100 2026-06-09 no plain shop/s/ca.pem")


def test_what_cannot_be_decoded_is_named(ask: Ask) -> None:
    bad = "-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n"
    said = ask(secret(bad + bad.replace("TUlJ", "TUl=")), "mg_certs")
    assert said[-1] == "Not readable as certificates: shop/s/tls.crt"


@pytest.mark.parametrize(("kind", "encode"), [("secrets", b64), ("configmaps", str)])
def test_the_time_is_looked_at_between_values_and_between_certificates(
    write: Callable[..., Path],
    certificate: Certificate,
    kind: str,
    encode: Callable[[str], str],
) -> None:
    class Tired(Pace):
        """The time is over at the given look."""

        def __init__(self, looks: int) -> None:
            super().__init__(ToolContext(), 60)
            self.looks = looks

        def is_over(self, what: str) -> bool:
            self.looks -= 1
            if self.looks < 0:
                self.stopped = what
            return self.looks < 0

    pems = [certificate(f"c{number}", 100 + number) for number in range(4)]
    data = {"a": encode(pems[0] + pems[1]), "b": encode(pems[2]), "c": encode(pems[3])}
    path = write({f"namespaces/shop/core/{kind}.yaml": {"metadata": {"name": "x"}, "data": data}})
    # One look for the object, one for each of its values, one for each certificate.
    for looks, seen in ((0, 0), (2, 0), (3, 1), (4, 2), (5, 2), (6, 3), (8, 4)):
        found = read_certificates(Asked(open_must_gather(path), Tired(looks), 10))
        assert len(found.places) == seen


@pytest.mark.parametrize("end", ["", "\n***\n-----END CERTIFICATE-----\n"])
def test_one_that_is_cut_off_or_damaged_is_named(
    ask: Ask, certificate: Certificate, end: str
) -> None:
    whole = certificate("a", 100)
    said = ask(secret(whole + whole.partition("\n-----END")[0] + end), "mg_certs")
    assert said[0].startswith("1 certificate: ")
    assert said[-1] == "Not readable as certificates: shop/s/tls.crt"


def test_a_replaced_value_is_told_from_a_certificate() -> None:
    assert secret_value(base64.b64encode(b"1704 bytes long").decode()) is None
    assert secret_value("no base64!") == b"no base64!"
    assert secret_value(base64.b64encode(b"abc").decode()) == b"abc"


@given(st.binary(max_size=200))
def test_any_bytes_are_no_certificate(data: bytes) -> None:
    assert decode(data) is None
    text = (
        b"-----BEGIN CERTIFICATE-----\n" + base64.b64encode(data) + b"\n-----END CERTIFICATE-----"
    )
    assert list(pem_blocks(text)) in ([data], [])
