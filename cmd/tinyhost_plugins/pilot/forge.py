"""What a forge can do, and what is the same at all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .._shared.http import Client, HttpError, Response, path

_NEXT = re.compile(r'<[^<>]{0,4096}>\s{0,8};\s{0,8}rel="?next"?(?![\w-])')


class Repo(NamedTuple):
    """owner: at GitLab several names with "/" between them."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class Issue(NamedTuple):
    """state: "open" or "closed". created: a date, YYYY-MM-DD, "" for none."""

    number: int
    title: str
    state: str
    labels: tuple[str, ...]
    created: str
    url: str


class Page(NamedTuple):
    """A page of a list. number: its number; next: of the one after it, 0 for none.
    total: issues on all pages, -1 when the forge does not say. pulls: pull requests that were
    on it, and are left out.
    """

    issues: Sequence[Issue]
    number: int
    next: int
    total: int = -1
    pulls: int = 0


class Missing(ValueError):
    """Labels that a repository does not have; the text names them."""


class Forge(Protocol):
    """The API of one forge. All methods raise HttpError, and ValueError for what the forge
    cannot take; changes has some of "title", "body" and "state".
    """

    def issues(
        self, repo: Repo, state: str, labels: Sequence[str], page: int, per_page: int
    ) -> Page: ...

    def create(self, repo: Repo, title: str, body: str, labels: Sequence[str]) -> Issue: ...

    def update(self, repo: Repo, number: int, changes: Mapping[str, str]) -> Issue: ...

    def comment(self, repo: Repo, number: int, body: str) -> str:
        """Add a comment; its URL, "" for none."""
        ...


class GitHubLike:
    """Creating, changing and commenting, which GitHub and Gitea do the same way."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(self, repo: Repo, title: str, body: str, labels: Sequence[str]) -> Issue:
        value: dict[str, object] = {"title": title}
        if body:
            value["body"] = body
        if labels:
            value["labels"] = self.label_values(repo, labels)
        return issue_of(self._client.request("POST", issues_path(repo), json=value))

    def update(self, repo: Repo, number: int, changes: Mapping[str, str]) -> Issue:
        # Setting the same values a second time changes nothing more.
        answer = self._client.request(
            "PATCH", issues_path(repo, number), json=dict(changes), repeatable=True
        )
        return issue_of(answer)

    def comment(self, repo: Repo, number: int, body: str) -> str:
        answer = self._client.request(
            "POST", issues_path(repo, number, "comments"), json={"body": body}
        )
        return text_of(object_of(answer).get("html_url"))

    def label_values(self, _repo: Repo, labels: Sequence[str]) -> Sequence[object]:
        """What stands for labels in a request."""
        return labels


def issues_path(repo: Repo, *rest: str | int) -> str:
    """The path of a repository's issues. Raises ValueError for names that cannot be."""
    for name in repo:
        if "/" in name:
            raise ValueError(f'{name:.80} has a "/"; give the owner and the repository apart')
    return path("repos", repo.owner, repo.name, "issues", *rest)


def issue_of(answer: Response) -> Issue:
    """The issue in an answer of GitHub or Gitea. Raises HttpError."""
    return read_issue(object_of(answer), answer)


def read_issue(value: Any, answer: Response) -> Issue:
    """The issue in a value as GitHub and Gitea write it. Raises HttpError."""
    labels = value.get("labels") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not is_number(value.get("number")):
        raise not_an_issue(answer)
    return Issue(
        value["number"],
        text_of(value.get("title")),
        text_of(value.get("state")) or "open",
        tuple(filter(None, map(_label_name, labels))) if isinstance(labels, list) else (),
        date_of(value.get("created_at")),
        text_of(value.get("html_url")),
    )


def not_an_issue(answer: Response) -> HttpError:
    return HttpError(f"{answer.url} answered with something that is not an issue", unsure=True)


def object_of(answer: Response) -> dict[str, Any]:
    """The JSON object in an answer. Raises HttpError."""
    value = answer.json()
    if not isinstance(value, dict):
        raise HttpError(f"{answer.url} answered with JSON that is not an object", unsure=True)
    return value


def list_of(answer: Response) -> list[Any]:
    """The JSON list in an answer, which is null when empty at some. Raises HttpError."""
    value = answer.json()
    if value is not None and not isinstance(value, list):
        raise HttpError(f"{answer.url} answered with JSON that is not a list")
    return value or []


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def date_of(value: object) -> str:
    return text_of(value).partition("T")[0]


def is_number(value: object) -> bool:
    return type(value) is int and value > 0


def has_next(answer: Response) -> bool:
    """Whether there is a page after this one, by the header Link. The URL in it is not used:
    it may be of another server than the one that the token is for.
    """
    return _NEXT.search(answer.headers.get("link", "")) is not None


def total_of(answer: Response, header: str) -> int:
    value = answer.headers.get(header, "")
    return int(value[:12]) if value.isdecimal() else -1


def _label_name(label: object) -> str:
    return text_of(label.get("name")) if isinstance(label, dict) else text_of(label)
