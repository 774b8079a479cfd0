"""Which events a call is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tinyhost_sdk import HandlerError

from .events import (
    NO_NAMESPACE,
    NO_RESOURCE,
    UNKNOWN_USER,
    Event,
    FullEvent,
    acting_user,
    full_resource_name,
    resource_name,
    user_name,
)
from .moments import read_moment, utc

Check = Callable[[Any], bool]


class Query:
    """What is asked of every event.

    all_stages: whether events of earlier stages count as well. full: whether FullEvent is
    needed. text: the filters in words, "" for none.
    """

    def __init__(self, args: Mapping[str, Any]) -> None:
        """Raises HandlerError for a time that is none, and for a span without any time in it."""
        self.all_stages: bool = args.get("all_stages", False)
        self.full = bool(args.get("group"))
        words = {
            name: args[name]
            for name in (*_CHECKS, "since", "until")
            if args.get(name)  # 0 and "" are no filters
        }
        self.text = ", ".join(f"{name}={value}" for name, value in words.items())
        self._checks = [_CHECKS[name](value) for name, value in words.items() if name in _CHECKS]
        since, until = _moment(words, "since"), _moment(words, "until")
        if since and until and since >= until:
            raise HandlerError(
                f"since={words['since']!s:.80} is not before until={words['until']!s:.80},"
                " so no event can match"
            )
        if since or until:
            self._checks.append(_between(since, until))

    def __call__(self, events: list[Any]) -> list[Any]:
        """Those that fit."""
        for check in self._checks:
            events = [event for event in events if check(event)]
        return events


def _moment(words: Mapping[str, Any], name: str) -> str:
    if name not in words:
        return ""
    moment = read_moment(words[name])
    if not moment:
        raise HandlerError(
            f'{name} must be a time such as "2026-01-02T10:00:00Z", not {words[name]!r:.80}'
        )
    return moment


def _between(since: str, until: str) -> Check:
    def check(event: Event) -> bool:
        moment = utc(event.time)
        return bool(moment) and moment >= since and not (until and moment >= until)

    return check


def _user(wanted: str) -> Check:
    if wanted == UNKNOWN_USER:
        return lambda event: user_name(event) == UNKNOWN_USER
    part = wanted.lower()

    def check(event: Event) -> bool:
        # What a report shows, so that it can be asked for; and who a login was made as.
        return part in acting_user(event).lower() or part in event.user.username.lower()

    return check


def _group(wanted: str) -> Check:
    def check(event: FullEvent) -> bool:
        return wanted in event.user.groups

    return check


def _verb(wanted: str) -> Check:
    verb = wanted.lower()
    return lambda event: event.verb.lower() == verb


def _resource(wanted: str) -> Check:
    name = wanted.lower()
    if name == NO_RESOURCE:
        return lambda event: not event.target.resource

    def plain(event: Event) -> bool:
        return event.target.resource.lower() == name

    def with_group_or_subresource(event: Event) -> bool:
        target = event.target
        return name in (
            resource_name(target).lower(),
            full_resource_name(target).lower(),
            f"{target.resource}/{target.subresource}".lower(),
        )

    return with_group_or_subresource if "." in name or "/" in name else plain


def _namespace(wanted: str) -> Check:
    name = "" if wanted == NO_NAMESPACE else wanted.lower()
    return lambda event: event.target.namespace.lower() == name


def _status_code(wanted: int) -> Check:
    return lambda event: event.status.code == wanted


_CHECKS: dict[str, Callable[[Any], Check]] = {
    "user": _user,
    "group": _group,
    "verb": _verb,
    "resource": _resource,
    "namespace": _namespace,
    "status_code": _status_code,
}
