"""Certificates in texts, decoded."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tinyhost_sdk import HandlerError

if TYPE_CHECKING:
    from cryptography import x509

_BEGIN = rb"-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----"
_PEM = re.compile(_BEGIN + rb"([A-Za-z0-9+/=\s]{1,100000})-----END")
# What `oc adm inspect` writes in place of a value of a Secret.
_REPLACED = re.compile(rb"\d{1,12} bytes long")


@dataclass(frozen=True, slots=True)
class Certificate:
    """subject and issuer: common names, or what else there is. The times are in UTC."""

    subject: str
    issuer: str
    begins: datetime
    ends: datetime
    is_ca: bool


def pem_blocks(data: bytes) -> Iterator[bytes]:
    """The content of each certificate in a text, in DER; what is no base64 is left out."""
    for found in _PEM.finditer(data):
        try:
            yield base64.b64decode(b"".join(found[1].split()), validate=True)
        except binascii.Error:
            yield b""


def beginnings(data: bytes) -> int:
    """How many certificates begin in a text, also those that do not end."""
    return len(re.findall(_BEGIN, data))


def secret_value(value: str) -> bytes | None:
    """The content of a Secret's value: base64, or a text as it is. None when it was replaced."""
    try:
        data = base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        data = value.encode("utf-8", "replace")
    return None if _REPLACED.fullmatch(data.strip()) else data


def fingerprint(der: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(der).hexdigest()


def decode(der: bytes) -> Certificate | None:
    """Read a certificate; None when it is none. Raises HandlerError without the library for it."""
    try:
        from cryptography import x509
    except ImportError:
        raise HandlerError(
            'the Python package "cryptography" is not installed; install it to read certificates'
        ) from None
    import warnings

    try:
        # Old roots have serial numbers and the like that the library only warns about.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = x509.load_der_x509_certificate(der)
            return Certificate(
                _name(found.subject) or _other_name(found) or "no name",
                _name(found.issuer) or "no name",
                found.not_valid_before_utc,
                found.not_valid_after_utc,
                _is_ca(found),
            )
    except Exception:  # the library lets errors of several kinds out of malformed certificates
        return None


def _name(name: x509.Name) -> str:
    from cryptography.x509.oid import NameOID

    for oid in (
        *(NameOID.COMMON_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME, NameOID.ORGANIZATION_NAME),
    ):
        for attribute in name.get_attributes_for_oid(oid):
            return str(attribute.value)
    return ""


def _other_name(found: x509.Certificate) -> str:
    """The first alternative name: certificates for servers may have no other."""
    from cryptography import x509

    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return ""
    return next((str(name.value) for name in names), "")


def _is_ca(found: x509.Certificate) -> bool:
    from cryptography import x509

    try:
        return bool(found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (ValueError, x509.ExtensionNotFound):
        return False
