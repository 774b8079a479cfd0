"""Forges on this machine, with answers shaped as the public API documents say."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from local_server import LocalServer, QuietHandler, running

from tinyhost_plugins.pilot.plugin import build
from tinyhost_sdk import ToolResult, testing

TOKENS = {"github": "ghp_0123456789", "gitlab": "glpat-0123456789", "gitea": "0123456789abcdef"}


class Sent(NamedTuple):
    method: str
    path: str  # still escaped, without the query
    query: dict[str, str]
    headers: dict[str, str]
    value: Any


class Failure(NamedTuple):
    status: int
    body: Any = None  # bytes are sent as they are
    headers: dict[str, str] = {}  # noqa: RUF012


class ForgeServer(LocalServer):
    """A forge of one kind that holds the repository o/r, or group/sub/r at GitLab.

    sent: all requests. failures: answers to give before the real ones. labels: names that
    exist; `organization` those of the owner. may_label: whether labels are taken.
    """

    failure = Failure

    def __init__(self, kind: str) -> None:
        super().__init__(Handler)
        self.kind = kind
        self.sent: list[Sent] = []
        self.failures: list[Failure] = []
        self.issues: list[dict[str, Any]] = []
        self.labels = ["bug", "good first issue", "p1"]
        self.organization: list[str] | None = None
        self.may_label = True

    def add(self, title: str, **more: Any) -> None:
        """Put an issue into the repository: state, labels, body, pull."""
        number = len(self.issues) + 1
        issue = {"number": number, "title": title, "body": "", "state": "open", "labels": []}
        created = {"pull": False, "created": f"2026-01-{number % 28 + 1:02}T10:00:00Z"}
        self.issues.append({**issue, **created, **more})


class Handler(QuietHandler):
    server: ForgeServer

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        fields = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        sent = Sent(self.command, path, fields, headers, json.loads(body) if body else None)
        self.server.sent.append(sent)
        if self.server.failures:
            failure = self.server.failures.pop(0)
            self.reply(failure.status, failure.body, failure.headers)
        else:
            self.reply(*API[self.server.kind](self.server, sent).answer())

    def reply(self, status: int, value: Any, headers: dict[str, str]) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json; charset=utf-8", **headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815


Answer = tuple[int, Any, dict[str, str]]


class Api:
    """Answers one request as GitHub does; the others differ in what they override."""

    root = "/repos/o/r/"
    edited = 200
    size_parameter = "per_page"
    largest_page = 100

    def __init__(self, server: ForgeServer, sent: Sent) -> None:
        self.server, self.sent = server, sent

    def answer(self) -> Answer:
        if not self.is_known():
            return 401, self.message("Bad credentials"), {}
        if not self.sent.path.startswith(self.root):
            return self.elsewhere()
        rest = self.sent.path.removeprefix(self.root).split("/")
        if rest == ["issues"]:
            return self.list_issues() if self.sent.method == "GET" else self.create()
        if rest == ["labels"]:
            return self.labels(self.server.labels, 1)
        if rest[0] != "issues" or not rest[1].isdecimal():
            return self.elsewhere()
        if int(rest[1]) > len(self.server.issues):
            return 404, self.message("Not Found"), {}
        issue = self.server.issues[int(rest[1]) - 1]
        return self.comment(issue) if len(rest) > 2 else self.edit(issue)

    def is_known(self) -> bool:
        return self.sent.headers.get("authorization") == f"Bearer {TOKENS['github']}"

    def elsewhere(self) -> Answer:
        return 404, self.message("Not Found"), {}

    def message(self, text: str) -> dict[str, str]:
        return {"message": text, "documentation_url": "https://docs.github.com/rest"}

    def labels(self, names: list[str], first: int) -> Answer:
        page = self.page([{"id": n, "name": name} for n, name in enumerate(names, first)])
        return 200, page[0], page[1]

    def page(self, values: list[Any]) -> tuple[list[Any], dict[str, str]]:
        size = min(int(self.sent.query.get(self.size_parameter, 30)), self.largest_page)
        number = int(self.sent.query.get("page", 1))
        last = max(-(-len(values) // size), 1)
        links = [("next", number + 1), ("last", last)] if number < last else []
        links += [("first", 1), ("prev", number - 1)] if number > 1 else []
        # As behind a proxy: servers write the address that they take for their own.
        link = ", ".join(f'<https://elsewhere.example/x?page={n}>; rel="{r}"' for r, n in links)
        chosen = values[(number - 1) * size : number * size]
        return chosen, {**({"Link": link} if link else {}), **self.totals(len(values))}

    def totals(self, _count: int) -> dict[str, str]:
        return {}

    def matching(self) -> list[dict[str, Any]]:
        state = self.sent.query.get("state", "open")
        wanted = set(filter(None, self.sent.query.get("labels", "").split(",")))
        return [
            issue
            for issue in self.server.issues
            if state in ("all", issue["state"]) and wanted <= set(issue["labels"])
        ]

    def list_issues(self) -> Answer:
        values, headers = self.page([self.shown(issue) for issue in self.matching()])
        return 200, values, headers

    def create(self) -> Answer:
        value = self.sent.value
        labels = value.get("labels", []) if self.server.may_label else []
        self.server.add(value["title"], body=value.get("body", ""), labels=labels)
        return 201, self.shown(self.server.issues[-1]), {}

    def edit(self, issue: dict[str, Any]) -> Answer:
        issue.update(self.sent.value)
        return self.edited, self.shown(issue), {}

    def comment(self, issue: dict[str, Any]) -> Answer:
        url = f"https://github.com/o/r/issues/{issue['number']}#issuecomment-77"
        value = {"id": 77, "body": self.sent.value["body"], "html_url": url}
        return 201, {**value, "created_at": "2026-02-03T10:00:00Z"}, {}

    def shown(self, issue: dict[str, Any]) -> dict[str, Any]:
        value = {
            "id": 1000 + issue["number"],
            "number": issue["number"],
            "title": issue["title"],
            "body": issue["body"] or None,
            "state": issue["state"],
            "user": {"login": "ada", "id": 1},
            "labels": [{"id": 1, "name": name, "color": "00aabb"} for name in issue["labels"]],
            "created_at": issue["created"],
            "updated_at": issue["created"],
            "html_url": f"https://github.com/o/r/issues/{issue['number']}",
        }
        if issue["pull"]:
            value["pull_request"] = {"url": "https://api.github.com/repos/o/r/pulls/1"}
        return value


class GiteaApi(Api):
    root = "/api/v1/repos/o/r/"
    edited = 201
    size_parameter = "limit"
    largest_page = 50

    def is_known(self) -> bool:
        return self.sent.headers.get("authorization") == f"token {TOKENS['gitea']}"

    def message(self, text: str) -> dict[str, str]:
        return {"message": text, "url": "https://gitea.example/api/swagger"}

    def totals(self, count: int) -> dict[str, str]:
        return {"X-Total-Count": str(count)}

    def elsewhere(self) -> Answer:
        if self.sent.path == "/api/v1/orgs/o/labels" and self.server.organization is not None:
            return self.labels(self.server.organization, 1000)
        return 404, self.message("The target couldn't be found."), {}

    def matching(self) -> list[dict[str, Any]]:
        # Labels that do not exist are dropped from the filter, as the real one does.
        known = {*self.server.labels, *(self.server.organization or ())}
        asked = [name for name in self.sent.query.get("labels", "").split(",") if name in known]
        self.sent.query["labels"] = ",".join(asked)
        found = super().matching()
        if self.sent.query.get("type") == "issues":
            found = [issue for issue in found if not issue["pull"]]
        return found

    def create(self) -> Answer:
        names = dict(enumerate(self.server.labels, 1))
        names.update(enumerate(self.server.organization or (), 1000))
        self.sent.value["labels"] = [names[id] for id in self.sent.value.get("labels", [])]
        return super().create()


class GitLabApi(Api):
    root = "/api/v4/projects/group%2Fsub%2Fr/"

    def is_known(self) -> bool:
        return self.sent.headers.get("private-token") == TOKENS["gitlab"]

    def message(self, text: str) -> dict[str, str]:
        return {"message": text}

    def elsewhere(self) -> Answer:
        return 404, self.message("404 Project Not Found"), {}

    def totals(self, count: int) -> dict[str, str]:
        return {"X-Total": str(count), "X-Next-Page": ""}

    def matching(self) -> list[dict[str, Any]]:
        state = self.sent.query.get("state", "all")
        self.sent.query["state"] = {"opened": "open"}.get(state, state)
        return super().matching()

    def create(self) -> Answer:
        value = self.sent.value
        labels = value.get("labels", "").split(",") if self.server.may_label else []
        more = {"body": value.get("description", ""), "labels": list(filter(None, labels))}
        self.server.add(value["title"], **more)
        return 201, self.shown(self.server.issues[-1]), {}

    def edit(self, issue: dict[str, Any]) -> Answer:
        names = {"description": "body", "title": "title"}
        value = {names[key]: text for key, text in self.sent.value.items() if key in names}
        event = self.sent.value.get("state_event")
        states = {"close": "closed", "reopen": "open"}
        issue.update(value, **({"state": states[event]} if event else {}))
        return 200, self.shown(issue), {}

    def comment(self, issue: dict[str, Any]) -> Answer:
        if self.sent.value["body"].startswith("/close"):
            return 202, {"commands_changes": {"state_event": "close"}, "summary": ["Closed."]}, {}
        return 201, {"id": 302, "body": "x", "noteable_iid": issue["number"], "system": False}, {}

    def shown(self, issue: dict[str, Any]) -> dict[str, Any]:
        number = issue["number"]
        return {
            "id": 7000 + number,
            "iid": number,
            "project_id": 5,
            "title": issue["title"],
            "description": issue["body"],
            "state": {"open": "opened"}.get(issue["state"], issue["state"]),
            "labels": issue["labels"],
            "author": {"username": "ada"},
            "created_at": issue["created"],
            "web_url": f"https://gitlab.example/group/sub/r/-/issues/{number}",
        }


API: dict[str, type[Api]] = {"github": Api, "gitea": GiteaApi, "gitlab": GitLabApi}


@pytest.fixture
def serve() -> Iterator[Callable[[str], ForgeServer]]:
    """serve(kind): a running forge."""
    with running() as start:
        yield lambda kind: start(ForgeServer(kind))


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the person has set does not count."""
    names = ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN", "PILOT_PROVIDER")
    for name in (*names, "GITHUB_API_URL", "GITLAB_URL", "GITEA_URL", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for kind, name in (("github", names[0]), ("gitlab", names[2]), ("gitea", names[3])):
        monkeypatch.setenv(name, TOKENS[kind])


class Pilot:
    """The plugin at one forge; calling it calls a tool of the repository there."""

    def __init__(self, server: ForgeServer, directory: Path) -> None:
        self.server, self.directory = server, directory
        self.options: dict[str, Any] = {
            "provider": server.kind,
            f"{server.kind}Url": server.url + "/",
            "tries": 1,
        }
        self.repo = {"owner": "group/sub" if server.kind == "gitlab" else "o", "repo": "r"}

    def __call__(self, tool: str, **args: Any) -> ToolResult:
        with testing.drive(build(), self.options, directory=str(self.directory)) as driver:
            return driver.call_tool(f"pilot_{tool}", {**self.repo, **args})

    def fails(self, tool: str, **args: Any) -> str:
        result = self(tool, **args)
        assert result.is_error, result.content
        for token in TOKENS.values():
            assert token not in result.content
        return result.content

    def does(self, tool: str, **args: Any) -> str:
        result = self(tool, **args)
        assert not result.is_error, result.content
        return result.content


@pytest.fixture
def at(serve: Callable[[str], ForgeServer], tmp_path: Path) -> Callable[[str], Pilot]:
    """at(kind): the plugin beside a running forge."""
    return lambda kind: Pilot(serve(kind), tmp_path)


@pytest.fixture
def clone(tmp_path: Path) -> Callable[[str], Path]:
    """clone(url): a git repository whose remote "origin" has that URL."""

    def make(url: str) -> Path:
        folder = tmp_path / "clone"
        for arguments in (
            ["init", "-q", str(folder)],
            ["-C", str(folder), "remote", "add", "origin", url],
        ):
            subprocess.run(["git", *arguments], check=True, capture_output=True)
        return folder

    return make
