"""GitHub, also on a server of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from .forge import GitHubLike, Page, Repo, has_next, issues_path, list_of, read_issue

HEADERS = {"accept": "application/vnd.github+json"}

# Pages that are read in search of one with an issue on it: all of a page may be pull requests.
_MOST_PAGES = 5


class GitHub(GitHubLike):
    """Implements Forge."""

    def issues(
        self, repo: Repo, state: str, labels: Sequence[str], page: int, per_page: int
    ) -> Page:
        pulls = 0
        for number in range(page, page + _MOST_PAGES):
            found = self._page(repo, state, labels, number, per_page)
            pulls += found.pulls
            if found.issues or not found.next:
                break
        return found._replace(pulls=pulls)

    def _page(
        self, repo: Repo, state: str, labels: Sequence[str], page: int, per_page: int
    ) -> Page:
        query: dict[str, str | int] = {"state": state, "page": page, "per_page": per_page}
        if labels:
            query["labels"] = ",".join(labels)
        answer = self._client.get(issues_path(repo), query)
        values = list_of(answer)
        # The list has pull requests, too: to GitHub they are issues with one more member.
        issues = [
            read_issue(value, answer)
            for value in values
            if not (isinstance(value, dict) and value.get("pull_request"))
        ]
        following = page + 1 if has_next(answer) else 0
        return Page(issues, page, following, pulls=len(values) - len(issues))
