"""The certificates of Secrets and the CA bundles of ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .._shared.must_gather import Resource
from .._shared.texts import counted, line
from .certificates import (
    Certificate,
    beginnings,
    decode,
    fingerprint,
    pem_blocks,
    secret_value,
)
from .report import Ask, Report, nothing

DAYS = 30
_MOST_DAYS = 36_500
_MARK = "-----BEGIN "
OK, EXPIRING, EXPIRED, EARLY = "OK", "EXPIRING", "EXPIRED", "NOT YET VALID"


@dataclass(slots=True)
class Place:
    """A certificate and where it is: one certificate may be in many places.

    is_in_secret: whether one of them is a Secret, so that it is somebody's own.
    """

    certificate: Certificate
    is_in_secret: bool
    sources: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Found:
    """moment: the time that counts: that of gathering, or now when it is not known.

    faults: places of what looks like a certificate and cannot be read. replaced: values of
    Secrets that were left out when they were gathered. places: by the soonest end.
    """

    moment: datetime
    is_gathered: bool
    places: list[Place] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    replaced: int = 0

    def days(self, place: Place) -> int:
        """Whole days that are left, rounded down: -1 on the day after the end."""
        return (place.certificate.ends - self.moment).days

    def status(self, place: Place, days: int) -> str:
        """OK, EXPIRING within these days, EXPIRED, or NOT YET VALID."""
        if place.certificate.ends < self.moment:
            return EXPIRED
        if place.certificate.begins > self.moment:
            return EARLY
        return EXPIRING if self.days(place) < days else OK


def read_certificates(ask: Ask) -> Found:
    """Every certificate once, with the places where it is."""
    gathered = ask.mg.gathered()
    found = Found(gathered or datetime.now(UTC), gathered is not None)
    known: dict[str, Place | None] = {}
    # Those of Secrets come first.
    for is_secret, resource, key, data in _values(ask, found):
        source = f"{resource.namespace}/{resource.name}/{key}"
        blocks = list(pem_blocks(data))
        if len(blocks) < beginnings(data):
            found.faults.append(source)
        for der in ask.pace.each(blocks, "reading certificates"):
            name = fingerprint(der)
            if name not in known:
                certificate = decode(der)
                known[name] = Place(certificate, is_secret) if certificate else None
            place = known[name]
            if place is None:
                found.faults.append(source)
            elif source not in place.sources[-1:]:
                place.sources.append(source)
    places = [place for place in known.values() if place is not None]
    found.places = sorted(
        places, key=lambda p: (p.certificate.ends, p.certificate.subject, p.sources)
    )
    return found


def _values(ask: Ask, found: Found) -> Iterator[tuple[bool, Resource, str, bytes]]:
    """Values that may hold certificates, and whether of a Secret: these first, which tell more."""
    secrets = ask.mg.everywhere("core", "secrets")
    for resource in ask.pace.each(secrets, "reading secrets"):
        # One Secret may have any number of values, and one value any number of certificates.
        for key, value in ask.pace.each(_data(resource), "reading secrets"):
            data = secret_value(value) if isinstance(value, str) else b""
            if data is None:
                found.replaced += 1
            elif _MARK.encode() in data:
                yield True, resource, key, data
    maps = ask.mg.everywhere("core", "configmaps")
    for resource in ask.pace.each(maps, "reading config maps"):
        for key, value in ask.pace.each(_data(resource), "reading config maps"):
            if isinstance(value, str) and _MARK in value:
                yield False, resource, key, value.encode("utf-8", "replace")


def _data(resource: Resource) -> Iterable[tuple[str, object]]:
    return (resource.mapping("data") or {}).items()


def headline(found: Found, days: int) -> str:
    """ "12 certificates: 1 expired, 2 expiring within 30 days, 9 OK"."""
    states = [found.status(place, days) for place in found.places]
    early = states.count(EARLY)
    return (
        f"{counted(len(states), 'certificate')}: {states.count(EXPIRED)} expired,"
        f" {states.count(EXPIRING)} expiring within {counted(days, 'day')},"
        f" {states.count(OK)} OK" + (f", {early} not yet valid" if early else "")
    )


def answer(ask: Ask, expired_only: bool, days: int) -> str:
    """mg_certs. days: from 1, or 0 for the usual."""
    days = days or DAYS
    found = read_certificates(ask)
    if not found.places:
        report = Report(ask, nothing(ask, "certificates in Secrets or ConfigMaps"))
        _notes(report, found)
        return report.text()
    report = Report(ask, headline(found, days))
    when = "when it was gathered" if found.is_gathered else "now; it does not say when it was made"
    report.add(f"As of {found.moment:%Y-%m-%d} ({when}). A certificate is counted once.")
    rows = [
        (found.status(place, days), place)
        for place in found.places
        if not expired_only or found.status(place, days) != OK
    ]
    if rows:
        report.add("")
        report.table(
            ("STATUS", "DAYS", "ENDS", "CA", "SUBJECT", "SOURCE"),
            (_row(state, found.days(place), place) for state, place in rows),
        )
    elif expired_only:
        report.add("None has expired or expires soon.")
    _notes(report, found)
    return report.text()


def _row(state: str, days: int, place: Place) -> tuple[object, ...]:
    certificate, more = place.certificate, len(place.sources) - 1
    source = place.sources[0] + (f" +{more} more" if more else "")
    if len(source) > Report.widest and more:
        # The number of places would be cut off first.
        source = f"+{more} more: {place.sources[0]}"
    ends, is_ca = f"{certificate.ends:%Y-%m-%d}", "yes" if certificate.is_ca else "no"
    return state, days, ends, is_ca, certificate.subject, source


def _notes(report: Report, found: Found) -> None:
    if found.faults:
        places = sorted(set(found.faults))
        report.add(
            f"Not readable as certificates: {line(', '.join(places[:5]), 500)}"
            + (f" and {len(places) - 5} more" if len(places) > 5 else "")
        )
    if found.replaced:
        report.add(
            f"{counted(found.replaced, 'value')} of Secrets cannot be looked at: only tls.crt, ca.crt"
            " and service-ca.crt are gathered"
        )


def check_days(days: int) -> str:
    """What is wrong with the parameter, "" for nothing."""
    return "" if 0 <= days <= _MOST_DAYS else f"days has to be from 0 to {_MOST_DAYS}, not {days}"
