"""What is sent to each forge, and what its answers become."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

Pilot = Any
At = Callable[[str], Pilot]

KINDS = ("github", "gitlab", "gitea")
PATHS = {
    "github": "/repos/o/r/issues",
    "gitlab": "/api/v4/projects/group%2Fsub%2Fr/issues",
    "gitea": "/api/v1/repos/o/r/issues",
}
BASES = {"github": "", "gitlab": "/api/v4", "gitea": "/api/v1"}
NAMES = {"github": "GitHub", "gitlab": "GitLab", "gitea": "Gitea"}


def failure(status: int, body: Any = None, **headers: str) -> Any:
    return (status, body, {name.replace("_", "-"): text for name, text in headers.items()})


def fail(pilot: Pilot, *failures: tuple[int, Any, dict[str, str]]) -> None:
    make = type(pilot.server).failure
    pilot.server.failures += [make(*parts) for parts in failures]


# --- all of them


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_has_a_heading_numbers_labels_dates_and_where_it_is_from(at: At, kind: str) -> None:
    pilot = at(kind)
    pilot.server.add("First", labels=["bug", "p1"])
    pilot.server.add("Done", state="closed")
    pilot.server.add("Second \x1b[31m\nline")
    repo = f"{pilot.repo['owner']}/r"
    text = pilot.does("issues_list")
    assert text.split("\n")[:-2] == [
        f"## Issues for {repo} (open)",
        "",
        "1. **#1** First — open | Labels: bug, p1 | Created: 2026-01-02",
        "2. **#3** Second \\x1b[31m\\nline — open | Labels: none | Created: 2026-01-04",
        "",
    ]
    total = "" if kind == "github" else ", 2 in all"
    where = f"{NAMES[kind]} at {pilot.server.url}{BASES[kind]}"
    assert text.split("\n")[-2:] == [
        f"Page 1{total}, the last one.",
        f'{where}, because the option "provider" says so.',
    ]
    (sent,) = pilot.server.sent
    assert sent.path == PATHS[kind]
    size = "limit" if kind == "gitea" else "per_page"
    assert (sent.query["page"], sent.query[size]) == ("1", "20")


@pytest.mark.parametrize("kind", KINDS)
def test_pages_follow_each_other_though_links_lead_elsewhere(at: At, kind: str) -> None:
    pilot = at(kind)
    for number in range(1, 6):
        pilot.server.add(f"Issue {number}")
    first = pilot.does("issues_list", per_page=2)
    assert "**#2**" in first
    assert "**#3**" not in first
    assert "more with page=2." in first
    last = pilot.does("issues_list", per_page=2, page=3)
    assert "1. **#5** Issue 5" in last
    assert "Page 3" in last
    assert "the last one." in last
    assert [sent.query["page"] for sent in pilot.server.sent] == ["1", "3"]


@pytest.mark.parametrize("kind", KINDS)
def test_states_and_labels_filter_the_list(at: At, kind: str) -> None:
    pilot = at(kind)
    pilot.server.add("One", labels=["bug"], state="closed")
    pilot.server.add("Two", labels=["bug", "good first issue"])
    pilot.server.add("Three")
    both = pilot.does("issues_list", labels=" bug, good first issue ,")
    assert both.startswith(f"## Issues for {pilot.repo['owner']}/r (open, bug, good first issue)\n")
    assert "Two" in both
    assert "Three" not in both
    closed = pilot.does("issues_list", state="closed")
    assert "One — closed" in closed
    assert "Two" not in closed
    assert pilot.does("issues_list", state="all").count("**#") == 3


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_list_is_one_sentence(at: At, kind: str) -> None:
    pilot = at(kind)
    text = pilot.does("issues_list", state="closed")
    assert text.startswith(f"No issues found for {pilot.repo['owner']}/r (closed)\n")


@pytest.mark.parametrize("kind", KINDS)
def test_an_issue_is_opened_with_body_and_labels(at: At, kind: str) -> None:
    pilot = at(kind)
    text = pilot.does("issue_create", title=" A title ", body="Text\n", labels=["bug", "p1", "bug"])
    lines = text.split("\n")
    assert lines[0] == "Created issue #1: A title"
    assert lines[1].startswith("URL: https://")
    assert len(lines) == 3
    (issue,) = pilot.server.issues
    assert (issue["title"], issue["body"], issue["labels"]) == ("A title", "Text\n", ["bug", "p1"])
    sent = pilot.server.sent[-1]
    assert (sent.method, sent.path) == ("POST", PATHS[kind])
    assert sent.headers["content-type"] == "application/json"


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_the_forge_dropped_silently_are_told(at: At, kind: str) -> None:
    pilot = at(kind)
    pilot.server.may_label = False
    text = pilot.does("issue_create", title="x", labels=["bug"])
    assert "\nLabels not set: bug. The user of the token may not set them here.\n" in text


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_sends_only_what_is_given_and_can_clear_a_body(at: At, kind: str) -> None:
    pilot = at(kind)
    pilot.server.add("Old", body="text")
    text = pilot.does("issue_update", issue_number=1, state="closed")
    assert text.startswith("Updated issue #1: Old\nState: closed\nURL: ")
    assert pilot.server.issues[0]["body"] == "text"
    pilot.does("issue_update", issue_number=1.0, title="New", body="", state="open")
    issue = pilot.server.issues[0]
    assert (issue["title"], issue["body"], issue["state"]) == ("New", "", "open")
    first, second = (sent.value for sent in pilot.server.sent)
    gitlab = kind == "gitlab"
    assert first == ({"state_event": "close"} if gitlab else {"state": "closed"})
    assert second == (
        {"title": "New", "description": "", "state_event": "reopen"}
        if gitlab
        else {"title": "New", "body": "", "state": "open"}
    )
    assert {sent.method for sent in pilot.server.sent} == {"PUT" if gitlab else "PATCH"}
    assert {sent.path for sent in pilot.server.sent} == {PATHS[kind] + "/1"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_comment_is_added_and_its_address_told(at: At, kind: str) -> None:
    pilot = at(kind)
    pilot.server.add("x")
    text = pilot.does("issue_comment", issue_number=1, body="Done\n")
    url = {
        "gitlab": f"{pilot.server.url}/group/sub/r/-/issues/1#note_302",
    }.get(kind, "https://github.com/o/r/issues/1#issuecomment-77")
    assert text.startswith(f"Comment added to issue #1\nURL: {url}\n")
    (sent,) = pilot.server.sent
    assert sent.path == PATHS[kind] + ("/1/notes" if kind == "gitlab" else "/1/comments")
    assert sent.value == {"body": "Done\n"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("owner", "repo"),
    [("o", ".."), (".", "r"), ("o", "a/b"), ("o\n", "r\x00"), ("o/..", "r"), ("o//x", "r")],
)
def test_names_that_would_change_the_request_are_refused(
    at: At, kind: str, owner: str, repo: str
) -> None:
    pilot = at(kind)
    pilot.fails("issues_list", owner=owner, repo=repo)
    pilot.fails("issue_create", owner=owner, repo=repo, title="x", labels=["bug"])
    assert pilot.server.sent == []


def test_what_is_left_is_escaped(at: At) -> None:
    pilot = at("github")
    pilot.fails("issues_list", owner="a?b#c", repo="d e%2F", labels="x&y=z,é")
    (sent,) = pilot.server.sent
    assert sent.path == "/repos/a%3Fb%23c/d%20e%252F/issues"
    assert sent.query["labels"] == "x&y=z,é"


# --- one of them


def test_pull_requests_of_github_are_left_out_and_counted(at: At) -> None:
    pilot = at("github")
    for number in range(1, 7):
        pilot.server.add(f"T{number}", pull=number != 5)
    text = pilot.does("issues_list", per_page=2)
    assert "1. **#5** T5" in text
    assert "T4" not in text
    assert "Page 3, 5 pull requests left out, the last one." in text
    assert [sent.query["page"] for sent in pilot.server.sent] == ["1", "2", "3"]
    assert {sent.headers["accept"] for sent in pilot.server.sent} == {"application/vnd.github+json"}


def test_the_search_for_a_page_with_issues_on_it_ends(at: At) -> None:
    pilot = at("github")
    for number in range(20):
        pilot.server.add(f"T{number}", pull=True)
    text = pilot.does("issues_list", per_page=1)
    assert text.startswith("No issues found for o/r (open) on page 5\n")
    assert "Page 5, 5 pull requests left out, more with page=6." in text


def test_pull_requests_of_gitea_are_not_asked_for(at: At) -> None:
    pilot = at("gitea")
    pilot.server.add("Pull", pull=True)
    pilot.server.add("Issue")
    assert "1. **#2** Issue" in pilot.does("issues_list")
    assert pilot.server.sent[0].query["type"] == "issues"


def test_labels_of_gitea_are_found_on_all_pages_and_sent_as_numbers(at: At) -> None:
    pilot = at("gitea")
    pilot.server.labels = [f"l{number}" for number in range(1, 121)]
    pilot.does("issue_create", title="x", labels=["l120", "l1"])
    assert pilot.server.issues[0]["labels"] == ["l120", "l1"]
    asked = [(sent.path, sent.query["page"]) for sent in pilot.server.sent[:-1]]
    assert asked == [("/api/v1/repos/o/r/labels", page) for page in "123"]


def test_labels_of_the_organization_count_at_gitea(at: At) -> None:
    pilot = at("gitea")
    pilot.server.organization = ["kind/bug"]
    pilot.does("issue_create", title="x", labels=["kind/bug", "p1"])
    assert pilot.server.issues[0]["labels"] == ["kind/bug", "p1"]


@pytest.mark.parametrize("tool", ["issue_create", "issues_list"])
def test_a_label_that_gitea_does_not_have_is_named_and_nothing_is_done(at: At, tool: str) -> None:
    pilot = at("gitea")
    pilot.server.add("x")
    create = tool == "issue_create"
    args = {"title": "x", "labels": ["bug", "a", "b"]} if create else {"labels": "bug,a,b"}
    text = pilot.fails(tool, **args)
    assert text.startswith('o/r has no label "a", "b"; it has bug, good first issue, p1.\n')
    assert all("labels" in sent.path for sent in pilot.server.sent)


def test_a_label_with_a_comma_would_be_two_at_gitlab(at: At) -> None:
    pilot = at("gitlab")
    assert "has a comma" in pilot.fails("issue_create", title="x", labels=["a,b"])
    assert pilot.server.sent == []


def test_a_comment_of_quick_actions_has_the_address_of_the_issue(at: At) -> None:
    pilot = at("gitlab")
    pilot.server.add("x")
    text = pilot.does("issue_comment", issue_number=1, body="/close")
    assert f"URL: {pilot.server.url}/group/sub/r/-/issues/1\n" in text


# --- failures


@pytest.mark.parametrize("kind", KINDS)
def test_a_repository_or_an_issue_that_is_not_there_is_named(at: At, kind: str) -> None:
    pilot = at(kind)
    text = pilot.fails("issues_list", repo="other")
    assert text.startswith(f"{NAMES[kind]} has no {pilot.repo['owner']}/other, or does not show it")
    text = pilot.fails("issue_comment", issue_number=9, body="x")
    assert text.startswith(f"{NAMES[kind]} has no issue #9 of {pilot.repo['owner']}/r, or")
    assert f"{NAMES[kind]} says: " in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_token_names_its_variable(
    at: At, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"{kind.upper()}_TOKEN"
    monkeypatch.setenv(variable, "wrong-token-0")
    text = at(kind).fails("issues_list")
    assert text.startswith(f"{NAMES[kind]} does not accept the token: check {variable}.")
    assert "wrong-token-0" not in text


def test_refusals_are_told_apart(at: At) -> None:
    pilot = at("github")
    forbidden = {"message": "Resource not accessible by personal access token"}
    secondary = {"message": "You have exceeded a secondary rate limit."}
    spent = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(time.time()) + 3599)}
    fail(
        pilot,
        failure(403, forbidden),
        failure(403, secondary),
        failure(403, {"message": "API rate limit exceeded"}, **spent),
        failure(410, {"message": "Issues has been disabled in this repository."}),
        failure(422, {"message": "Validation Failed", "errors": [{"field": "title"}]}),
        failure(500, b"<html>"),
    )
    texts = [pilot.fails("issue_create", title="x") for _ in range(6)]
    assert "does not allow this to the user of the token in GITHUB_TOKEN" in texts[0]
    assert forbidden["message"] in texts[0]
    assert "had too many requests: wait a minute or more" in texts[1]
    assert "HTTP 403 Forbidden: API rate limit exceeded" in texts[2]
    assert re.search(r"the server asks to wait 3[45]\d\d s", texts[2])
    assert "HTTP 410 Gone: Issues has been disabled" in texts[3]
    assert "HTTP 422 Unprocessable" in texts[4]
    assert "Validation Failed; field: title" in texts[4]
    assert "HTTP 500 Internal Server Error" in texts[5]
    assert [("look before you try again" in text) for text in texts] == [False] * 5 + [True]
    assert len(pilot.server.sent) == 6


def test_a_limited_request_is_sent_again_after_the_wait(at: At) -> None:
    pilot = at("gitlab")
    pilot.options["tries"] = 3
    fail(pilot, failure(429, b"Retry later", Retry_After="0"), failure(429, None, Retry_After="0"))
    assert pilot.does("issue_create", title="x").startswith("Created issue #1: x\n")
    assert [sent.value for sent in pilot.server.sent] == [{"title": "x"}] * 3
    assert len(pilot.server.issues) == 1


def test_an_update_is_sent_again_when_the_server_was_unavailable_and_a_comment_is_not(
    at: At,
) -> None:
    pilot = at("gitea")
    pilot.options["tries"] = 2
    pilot.server.add("x")
    fail(pilot, failure(503))
    pilot.does("issue_update", issue_number=1, title="y")
    fail(pilot, failure(503))
    assert "look before you try again" in pilot.fails("issue_comment", issue_number=1, body="x")
    fail(pilot, failure(503), failure(503))
    assert "look before" not in pilot.fails("issue_update", issue_number=1, title="y")
    assert [sent.method for sent in pilot.server.sent] == [
        "PATCH",
        "PATCH",
        "POST",
        "PATCH",
        "PATCH",
    ]


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b'{"number": 0, "iid": 0}', b"null"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_without_an_issue_is_an_error_that_says_to_look(
    at: At, kind: str, body: bytes
) -> None:
    pilot = at(kind)
    fail(pilot, failure(201, body))
    text = pilot.fails("issue_create", title="x")
    assert "answered with" in text
    assert "look before you try again" in text


@pytest.mark.parametrize("body", [b"{}", b"[1]", b'[{"title": "x"}]', b"[", b'"x"'])
@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_something_else_is_an_error(at: At, kind: str, body: bytes) -> None:
    pilot = at(kind)
    fail(pilot, failure(200, body))
    assert "answered with" in pilot.fails("issues_list")


def test_an_empty_list_may_be_null(at: At) -> None:
    pilot = at("gitea")
    fail(pilot, failure(200, b"null"))
    assert pilot.does("issues_list").startswith("No issues found")


def test_odd_members_do_not_matter(at: At) -> None:
    pilot = at("github")
    odd = {"number": 3, "title": None, "labels": ["a", {"name": "b"}, {"name": None}, 5, None]}
    fail(pilot, failure(200, [odd, {"number": 4, "labels": "x", "state": 7, "created_at": 5}]))
    text = pilot.does("issues_list")
    assert "1. **#3**  — open | Labels: a, b\n" in text
    assert "2. **#4**  — open | Labels: none\n" in text


def test_an_answer_over_the_limit_is_refused(at: At) -> None:
    pilot = at("github")
    pilot.options["maxResponseBytes"] = 65536
    fail(pilot, failure(200, json.dumps(["x" * 65536]).encode()))
    text = pilot.fails("issues_list")
    assert "the answer exceeds 65536 bytes; a smaller per_page helps" in text


def test_a_long_list_is_cut_and_says_how_to_see_the_rest(at: At) -> None:
    pilot = at("github")
    for _ in range(100):
        pilot.server.add("€" * 300, labels=["€" * 300])
    text = pilot.does("issues_list", per_page=100)
    shown = text.count("**#")
    assert 20 < shown < 100
    assert f"\n{100 - shown} more on this page; ask for a smaller per_page.\n" in text
    assert len(text.encode()) < 30_000


def test_a_token_is_not_sent_without_encryption(at: At) -> None:
    pilot = at("gitea")
    pilot.options["giteaUrl"] = "http://gitea.example:3000"
    text = pilot.fails("issues_list")
    assert "http://gitea.example:3000/api/v1 has no encryption" in text


def test_a_moved_repository_is_followed_for_a_list_and_told_for_an_issue(at: At) -> None:
    pilot = at("github")
    pilot.server.add("x")
    moved = failure(301, {"message": "Moved"}, Location="/repos/o/r/issues?page=1&per_page=20")
    fail(pilot, moved)
    assert "**#1** x" in pilot.does("issues_list", repo="old")
    fail(pilot, moved)
    text = pilot.fails("issue_create", repo="old", title="x")
    assert f"it has moved to {pilot.server.url}/repos/o/r/issues; use that" in text


def test_a_forge_that_is_not_there_is_told(at: At) -> None:
    pilot = at("gitea")
    pilot.options["giteaUrl"] = "http://127.0.0.1:1"
    text = pilot.fails("issue_create", title="x")
    assert text.startswith("Gitea: POST http://127.0.0.1:1/api/v1/repos/o/r/issues: no connection")
    assert "look before" not in text
    assert "giteaUrl" not in text


def test_where_a_forge_is_can_be_set_when_nothing_is_at_the_usual_place(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot = at("gitea")
    del pilot.options["giteaUrl"]
    # Whatever is at this machine's port 3000, the request does not get there.
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: [])
    lines = pilot.fails("issues_list").split("\n")
    assert lines[0].startswith("Gitea: GET http://localhost:3000/api/v1/repos/o/r/issues: no conn")
    assert lines[1].startswith('Set the option "giteaUrl" or the variable GITEA_URL if it is')
    assert lines[2].startswith("Gitea at http://localhost:3000/api/v1, because ")


def test_a_next_page_is_known_by_either_header(at: At) -> None:
    pilot = at("gitlab")
    fail(pilot, failure(200, [], X_Next_Page="4"), failure(200, [], X_Next_Page=""))
    assert "Page 3, more with page=4." in pilot.does("issues_list", page=3)
    assert "Page 4, the last one." in pilot.does("issues_list", page=4)


@pytest.mark.parametrize(
    ("link", "is_more"),
    [
        ('<https://x/?page=2>; rel="next", <https://x/?page=9>; rel="last"', True),
        ('<https://x/?page=1>; rel="prev",<https://x/?page=3>; rel="next"', True),
        ("<https://x/?page=2>;rel=next", True),
        ('<https://x/?page=1>; rel="prev"', False),
        ('<https://x/next>; rel="nextish"', False),
        ("<" * 60000, False),
        ("next", False),
    ],
)
def test_a_link_to_the_next_page_is_found(at: At, link: str, is_more: bool) -> None:
    pilot = at("github")
    fail(pilot, failure(200, [], Link=link), *([failure(200, [])] if is_more else []))
    pilot.does("issues_list")
    assert len(pilot.server.sent) == (2 if is_more else 1)
