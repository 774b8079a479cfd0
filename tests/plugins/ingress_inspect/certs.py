"""Certificates made for the tests."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# When the must-gathers of the tests were gathered.
GATHERED = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


@cache
def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def certificate(days: int = 300, *names: str, start: int = -100) -> str:
    """PEM. days, start: when it ends and begins, from the time of gathering."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0] if names else "test")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ingress-operator")]))
        .public_key(_key().public_key())
        .serial_number(7)
        .not_valid_before(GATHERED + timedelta(days=start))
        .not_valid_after(GATHERED + timedelta(days=days, hours=1))
    )
    if names:
        hosts = x509.SubjectAlternativeName([x509.DNSName(host) for host in names])
        made = made.add_extension(hosts, critical=False)
    signed = made.sign(_key(), hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM).decode()


def with_key(pem: str) -> str:
    """A certificate and its key, as HAProxy wants them in a file."""
    key = _key().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return pem + key.decode()


def in_secret(text: str) -> str:
    """As it is in the data of a Secret."""
    return base64.b64encode(text.encode()).decode()
