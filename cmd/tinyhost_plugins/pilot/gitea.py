"""Gitea, and Forgejo, whose API is the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.http import StatusError, path
from .forge import (
    GitHubLike,
    Missing,
    Page,
    Repo,
    has_next,
    is_number,
    issues_path,
    list_of,
    read_issue,
    text_of,
    total_of,
)

_LABELS_ON_PAGE = 50  # what servers give at most, unless they are set up otherwise
_MOST_LABEL_PAGES = 40
_MOST_NAMED = 30  # labels that an error names
_TOTAL = "x-total-count"


class Gitea(GitHubLike):
    """Implements Forge."""

    def issues(
        self, repo: Repo, state: str, labels: Sequence[str], page: int, per_page: int
    ) -> Page:
        query: dict[str, str | int] = {"type": "issues", "state": state}
        query.update({"page": page, "limit": per_page})
        if labels:
            # Labels that do not exist are ignored by the server, and then all issues match.
            self.label_values(repo, labels)
            query["labels"] = ",".join(labels)
        answer = self._client.get(issues_path(repo), query)
        issues = [read_issue(value, answer) for value in list_of(answer)]
        following = page + 1 if has_next(answer) else 0
        return Page(issues, page, following, total_of(answer, _TOTAL))

    def label_values(self, repo: Repo, labels: Sequence[str]) -> Sequence[object]:
        """The ids of labels. Raises Missing for those that do not exist."""
        issues_path(repo)  # refuses names that cannot be
        known = self._labels(path("repos", repo.owner, repo.name, "labels"))
        if not all(label in known for label in labels):
            known = {**self._labels_of_organization(repo.owner), **known}
        missing = [f'"{label}"' for label in labels if label not in known]
        if missing:
            names = sorted(known)
            more = "" if len(names) <= _MOST_NAMED else f" and {len(names) - _MOST_NAMED} more"
            there = f"it has {', '.join(names[:_MOST_NAMED])}{more}" if names else "it has none"
            raise Missing(f"{repo} has no label {', '.join(missing)}; {there}.")
        return [known[label] for label in labels]

    def _labels(self, where: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for page in range(1, _MOST_LABEL_PAGES + 1):
            answer = self._client.get(where, {"page": page, "limit": _LABELS_ON_PAGE})
            values = list_of(answer)
            found.update(_named(values))
            if not values or not has_next(answer):
                break
        return found

    def _labels_of_organization(self, owner: str) -> dict[str, int]:
        try:
            return self._labels(path("orgs", owner, "labels"))
        except StatusError as error:
            # The owner is a person, or the organization's labels are not for this user.
            if error.status in (403, 404):
                return {}
            raise


def _named(values: Sequence[Any]) -> dict[str, int]:
    return {
        text_of(value.get("name")): value["id"]
        for value in values
        if isinstance(value, dict) and is_number(value.get("id"))
    }
