"""One namespace or all of them."""

from __future__ import annotations

from collections.abc import Iterator

from tinyhost_sdk import HandlerError

from .._shared.must_gather import Resource
from .._shared.texts import line
from .report import Ask

_FEW = 10


def in_namespaces(ask: Ask, namespace: str, group: str, plural: str) -> Iterator[Resource]:
    """The objects of one namespace, or of all for "". Raises HandlerError for one that is not there."""
    if not namespace:
        return ask.mg.everywhere(group, plural)
    check(ask, namespace)
    return ask.mg.namespaced(namespace, group, plural)


def check(ask: Ask, namespace: str) -> None:
    """Raises HandlerError for a namespace that the must-gather does not have."""
    if namespace in ask.mg.namespaces:
        return
    known = ask.mg.namespaces
    if not known:
        raise HandlerError("there are no namespaces in this must-gather")
    alike = [name for name in known if namespace.casefold() in name or name in namespace]
    shown = line(", ".join((alike or known)[:_FEW]), 1000)
    raise HandlerError(
        f"there is no namespace {line(namespace, 80)} in this must-gather;"
        f" of its {len(known)} {'these are alike' if alike else 'the first are'}: {shown}"
    )
