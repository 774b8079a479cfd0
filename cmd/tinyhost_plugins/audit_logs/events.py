"""An audit event: the fields that are read, how they are shown, and what they tell.

Decoding builds only these fields, which is what makes it fast. The shapes are those of
audit.k8s.io/v1.
"""

from __future__ import annotations

import msgspec

LAST_STAGES = frozenset(("ResponseComplete", "Panic", ""))
UNKNOWN_USER = "(no user)"
NO_RESOURCE = "(non-resource)"
NO_NAMESPACE = "(cluster-scoped)"
NO_VALUE = "(unknown)"
SERVICE_ACCOUNT = "system:serviceaccount:"

_REFUSED_LOGINS = ("deny", "error")
_DELETING = ("delete", "deletecollection")
_TOKENS = ("oauthaccesstokens", "oauthauthorizetokens", "useroauthaccesstokens")
_TOKEN_SHOWN = 10
_WRITING = ("create", "update", "patch")
_RBAC_GROUPS = ("rbac.authorization.k8s.io", "authorization.openshift.io")
_RBAC = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")


# gc=False: none of these can be part of a cycle, and there are many.
class User(msgspec.Struct, gc=False, frozen=True):
    username: str = ""


class Member(User, gc=False, frozen=True):
    """A user with groups."""

    groups: list[str] = []


class Object(msgspec.Struct, gc=False, frozen=True):
    """What a request is about."""

    resource: str = ""
    namespace: str = ""
    name: str = ""
    api_group: str = msgspec.field(default="", name="apiGroup")
    subresource: str = ""


class Status(msgspec.Struct, gc=False, frozen=True):
    code: int = 0


class Annotations(msgspec.Struct, gc=False, frozen=True):
    """What OpenShift's OAuth server notes about a login."""

    decision: str = msgspec.field(default="", name="authentication.openshift.io/decision")
    username: str = msgspec.field(default="", name="authentication.openshift.io/username")


class Event(msgspec.Struct, gc=False):
    """What nearly every question needs. An event without a verb is none."""

    verb: str = ""
    stage: str = ""
    user: User = User()
    target: Object = msgspec.field(default=Object(), name="objectRef")
    status: Status = msgspec.field(default=Status(), name="responseStatus")
    time: str = msgspec.field(default="", name="requestReceivedTimestamp")
    impersonated: User = msgspec.field(default=User(), name="impersonatedUser")
    annotations: Annotations = Annotations()


class FullEvent(Event, gc=False):
    """All that is read."""

    user: Member = Member()
    uri: str = msgspec.field(default="", name="requestURI")
    user_agent: str = msgspec.field(default="", name="userAgent")
    source_ips: list[str] = msgspec.field(default_factory=list, name="sourceIPs")


def resource_name(target: Object) -> str:
    """resource.group, as kubectl writes it."""
    name = target.resource or NO_RESOURCE
    return f"{name}.{target.api_group}" if target.api_group else name


def full_resource_name(target: Object) -> str:
    """resource.group/subresource."""
    name = resource_name(target)
    return f"{name}/{target.subresource}" if target.subresource else name


def object_name(target: Object) -> str:
    """The name of what a request is about; "" without one.

    Names of OAuth tokens are cut: in old clusters, they were the tokens.
    """
    if target.resource in _TOKENS and target.name:
        return f"{target.name[:_TOKEN_SHOWN]}…"
    return target.name


def user_name(event: Event) -> str:
    """Who made the request; at the OAuth server, who wants to log in."""
    login = event.annotations.username
    return f"{login} (login)" if login else event.user.username or UNKNOWN_USER


def acting_user(event: Event) -> str:
    """Who made the request, and as whom."""
    user = user_name(event)
    other = event.impersonated.username
    return f"{user} as {other}" if other else user


def succeeded(event: Event) -> bool:
    """Whether it did what was asked; an event that has no status did."""
    return event.status.code < 400


def failed_authentication(event: Event) -> bool:
    """Whether somebody was not let in, or not allowed."""
    if event.status.code in (401, 403):
        return True
    # Without a name it is a browser that is sent to the page where one logs in.
    login = event.annotations
    return bool(login.username) and login.decision in _REFUSED_LOGINS


def deletes(event: Event) -> bool:
    """Whether it asks for something to be deleted."""
    return event.verb in _DELETING


def escalation(event: Event) -> str:
    """How the request may give more rights than its user has; "" where it cannot."""
    target = event.target
    if event.impersonated.username:
        return f"acts as {event.impersonated.username}"
    if event.verb not in _WRITING:
        return ""
    if target.resource in _RBAC and target.api_group in _RBAC_GROUPS:
        return f"{event.verb} {target.resource}"
    if target.resource == "serviceaccounts" and target.subresource == "token":
        return f"token of {target.namespace}/{target.name}"
    return ""
