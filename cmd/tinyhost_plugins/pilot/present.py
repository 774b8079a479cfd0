"""The texts that tools answer with."""

from __future__ import annotations

from collections.abc import Sequence

from .._shared.table import cell
from .choice import Choice
from .forge import Issue, Page, Repo

_LONGEST_TITLE = 200  # characters, as those below
_LONGEST_LABELS = 160
_LONGEST_URL = 400
_MOST_BYTES = 28_000  # of a list; a page of usual issues has about a tenth of that


def listed(repo: Repo, state: str, labels: Sequence[str], page: Page, choice: Choice) -> str:
    """A page of issues."""
    where = f"{repo} ({', '.join((state, *labels))})"
    lines = [_line(number, issue) for number, issue in enumerate(page.issues, 1)]
    shown, size = 0, 0
    while shown < len(lines) and size + len(lines[shown].encode()) <= _MOST_BYTES:
        size += len(lines[shown].encode()) + 1
        shown += 1
    notes = [_position(page), source(choice)]
    if shown < len(lines):
        notes.insert(0, f"{len(lines) - shown} more on this page; ask for a smaller per_page.")
    text = "\n".join(filter(None, notes))
    if not lines:
        on_page = f" on page {page.number}" if page.number > 1 or page.next else ""
        return f"No issues found for {where}{on_page}\n{text}"
    return "\n".join((f"## Issues for {where}", "", *lines[:shown], "", text))


def created(issue: Issue, asked: Sequence[str], choice: Choice) -> str:
    """An issue that was opened with the labels that were asked for, or without some."""
    got = {label.lower() for label in issue.labels}
    lost = [label for label in asked if label.lower() not in got]
    note = f"Labels not set: {', '.join(lost)}. The user of the token may not set them here."
    lines = [f"Created issue {_name(issue)}", _url(issue.url), note if lost else "", source(choice)]
    return "\n".join(filter(None, lines))


def updated(issue: Issue, choice: Choice) -> str:
    lines = [f"Updated issue {_name(issue)}", f"State: {issue.state}", _url(issue.url)]
    return "\n".join(filter(None, [*lines, source(choice)]))


def commented(number: int, url: str, choice: Choice) -> str:
    lines = [f"Comment added to issue #{number}", _url(url), source(choice)]
    return "\n".join(filter(None, lines))


def source(choice: Choice) -> str:
    """Which forge it was, and why that one."""
    return f"{choice.name} at {choice.base}, because {choice.why}."


def _line(number: int, issue: Issue) -> str:
    labels = cell(", ".join(issue.labels), _LONGEST_LABELS) or "none"
    return f"{number}. **#{issue.number}** {_title(issue)} — {issue.state} | Labels: {labels}" + (
        f" | Created: {cell(issue.created)}" if issue.created else ""
    )


def _position(page: Page) -> str:
    parts = [f"Page {page.number}"]
    if page.total >= 0:
        parts.append(f"{page.total} in all")
    if page.pulls:
        parts.append(f"{page.pulls} pull request{'s' if page.pulls > 1 else ''} left out")
    parts.append(f"more with page={page.next}" if page.next else "the last one")
    return ", ".join(parts) + "."


def _name(issue: Issue) -> str:
    return f"#{issue.number}: {_title(issue)}"


def _title(issue: Issue) -> str:
    return cell(issue.title, _LONGEST_TITLE)


def _url(url: str) -> str:
    return f"URL: {cell(url, _LONGEST_URL)}" if url else ""
