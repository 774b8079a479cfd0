"""The certificates that routers present."""

from __future__ import annotations

import base64
import binascii
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .._shared.must_gather import MustGather
from .._shared.texts import line
from .controllers import Controller
from .routes import Route

if TYPE_CHECKING:
    from cryptography import x509

_NAMESPACE = "openshift-ingress"
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_LONGEST = 64 * 1024
_SECONDS_OF_DAY = 86_400
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Certificate:
    """use: whose it is. names: those it is for. fault: why it could not be read, or ""."""

    use: str
    subject: str = ""
    issuer: str = ""
    names: tuple[str, ...] = ()
    start: datetime = _UNKNOWN
    end: datetime = _UNKNOWN
    fault: str = ""

    def days_left(self, now: datetime) -> int:
        """Whole days, less than 0 once it has ended."""
        return int((self.end - now).total_seconds() // _SECONDS_OF_DAY)

    def covers(self, host: str) -> bool:
        """Whether a host is among its names."""
        host = host.lower()
        above = host.partition(".")[2]
        return host in self.names or (bool(above) and f"*.{above}" in self.names)


def read_certificates(
    mg: MustGather, controllers: list[Controller], routes: list[Route]
) -> Iterator[Certificate]:
    """The default certificate of each controller, then those of routes that bring their own."""
    secrets = {
        raw.name: raw.text("data", "tls.crt")
        for raw in mg.namespaced(_NAMESPACE, "core", "secrets")
    }
    for controller in controllers:
        use = f"default of {controller.name}, Secret {controller.secret}"
        if controller.secret not in secrets:
            yield Certificate(use, fault="the Secret has not been gathered")
            continue
        yield decode(use, _from_base64(secrets[controller.secret] or ""))
    for route in routes:
        if route.certificate:
            yield decode(f"route {route.namespace}/{route.name}", route.certificate)


def _from_base64(value: str) -> str:
    try:
        return base64.b64decode(value).decode("ascii")
    except (binascii.Error, ValueError):
        return ""


def decode(use: str, text: str) -> Certificate:
    """The first certificate of a PEM text, which is the router's own; those after it sign it."""
    # This library takes long to import, and most calls need none of it.
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    begin = text.find(_BEGIN)
    end = text.find(_END, begin)
    if begin < 0 or end < 0 or end - begin > _LONGEST:
        return Certificate(use, fault="it has no certificate in PEM form")
    try:
        # It may warn of what is unusual about a certificate, which is none of its owner's business.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read(use, text[begin : end + len(_END)])
    except (
        *(ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion),
        *(x509.DuplicateExtension, x509.UnsupportedGeneralNameType),
    ) as error:
        return Certificate(use, fault=line(f"it cannot be read: {error}"))


def _read(use: str, pem: str) -> Certificate:
    from cryptography import x509

    found = x509.load_pem_x509_certificate(pem.encode())
    return Certificate(
        use,
        subject=line(found.subject.rfc4514_string(), 200),
        issuer=line(found.issuer.rfc4514_string(), 200),
        names=tuple(_names(found)),
        start=found.not_valid_before_utc,
        end=found.not_valid_after_utc,
    )


def _names(found: x509.Certificate) -> list[str]:
    from cryptography import x509

    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [name.lower() for name in names.get_values_for_type(x509.DNSName)]
