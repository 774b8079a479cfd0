"""GitLab."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping, Sequence

from .._shared.http import Client, Response, path
from .forge import (
    Issue,
    Page,
    Repo,
    date_of,
    has_next,
    is_number,
    list_of,
    not_an_issue,
    object_of,
    text_of,
    total_of,
)

_STATES = {"open": "opened", "closed": "closed", "all": "all"}
_EVENTS = {"open": "reopen", "closed": "close"}


class GitLab:
    """Implements Forge. web: the URL that the projects' pages are under."""

    def __init__(self, client: Client, web: str) -> None:
        self._client = client
        self._web = web

    def issues(
        self, repo: Repo, state: str, labels: Sequence[str], page: int, per_page: int
    ) -> Page:
        query: dict[str, str | int] = {"state": _STATES[state], "page": page, "per_page": per_page}
        if labels:
            query["labels"] = ",".join(labels)
        answer = self._client.get(_path(repo), query)
        issues = [_issue(value, answer) for value in list_of(answer)]
        # The total is left out for lists of more than 10,000.
        is_more = has_next(answer) or answer.headers.get("x-next-page", "").isdecimal()
        return Page(issues, page, page + 1 if is_more else 0, total_of(answer, "x-total"))

    def create(self, repo: Repo, title: str, body: str, labels: Sequence[str]) -> Issue:
        value = {"title": title}
        if body:
            value["description"] = body
        if labels:
            for label in labels:
                if "," in label:
                    raise ValueError(f'the label "{label}" has a comma, which GitLab splits it at')
            value["labels"] = ",".join(labels)
        answer = self._client.request("POST", _path(repo), json=value)
        return _issue(object_of(answer), answer)

    def update(self, repo: Repo, number: int, changes: Mapping[str, str]) -> Issue:
        value = {}
        if "title" in changes:
            value["title"] = changes["title"]
        if "body" in changes:
            value["description"] = changes["body"]
        if "state" in changes:
            value["state_event"] = _EVENTS[changes["state"]]
        answer = self._client.request("PUT", _path(repo, number), json=value)
        return _issue(object_of(answer), answer)

    def comment(self, repo: Repo, number: int, body: str) -> str:
        answer = self._client.request("POST", _path(repo, number, "notes"), json={"body": body})
        note = object_of(answer).get("id")
        page = f"{self._web}/{urllib.parse.quote(str(repo))}/-/issues/{number}"
        # A comment of quick actions only, such as "/close", is carried out and not kept.
        return f"{page}#note_{note}" if is_number(note) else page


def _path(repo: Repo, *rest: str | int) -> str:
    path(*repo.owner.split("/"), repo.name)  # refuses names that cannot be
    if "/" in repo.name:
        raise ValueError(f'{repo.name:.80} has a "/"; the groups belong to the owner')
    return path("projects", str(repo), "issues", *rest)


def _issue(value: object, answer: Response) -> Issue:
    if not isinstance(value, dict) or not is_number(value.get("iid")):
        raise not_an_issue(answer)
    labels = value.get("labels")
    return Issue(
        value["iid"],
        text_of(value.get("title")),
        "open" if value.get("state") == "opened" else "closed",
        tuple(filter(None, map(text_of, labels))) if isinstance(labels, list) else (),
        date_of(value.get("created_at")),
        text_of(value.get("web_url")),
    )
