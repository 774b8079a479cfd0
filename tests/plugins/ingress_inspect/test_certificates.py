"""Certificates that are damaged."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ingress_inspect.certificates import decode

from . import certs

PEM = certs.certificate(90, "*.apps.example.com", "www.example.com")
DER = base64.b64decode("".join(PEM.split("\n")[1:-2]))


def test_a_wildcard_is_for_one_name_below_it() -> None:
    found = decode("test", PEM)
    hosts = ("x.apps.example.com", "X.Apps.example.com", "www.example.com")
    assert all(found.covers(host) for host in hosts)
    others = ("apps.example.com", "a.x.apps.example.com", "example.com", "", "com")
    assert not any(found.covers(host) for host in others)
    assert found.days_left(certs.GATHERED) == 90


@given(
    st.lists(st.tuples(st.integers(0, len(DER) - 1), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_no_damage_to_a_certificate_makes_it_fail(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DER)
    for place, value in changes:
        data[place] = value
    text = base64.encodebytes(bytes(data)).decode()
    found = decode("test", f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n")
    assert found.fault or found.end


@given(st.text(max_size=50))
def test_no_text_makes_it_fail(text: str) -> None:
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    for made in (text, begin + text, end + text + begin, f"{begin}\n{text}\n{end}"):
        assert decode("test", made).fault
