"""Makes the call of a tool: checks it, chooses the forge, asks it, and puts the answer in words."""

from __future__ import annotations

import os
import time
from typing import Any

from tinyhost_sdk import ToolContext, ToolResult

from .._shared.http import Client, HttpError, Limits, RateLimited, StatusError, TooLarge
from .._shared.table import is_line
from . import present
from .arguments import ArgumentError, checked, labels_of
from .choice import Choice, ChoiceError, choose
from .forge import Forge, Repo
from .options import GITEA, GITHUB, Options
from .remote import Remote, read_remote
from .schemas import COMMENT, CREATE, LIST, TOOLS, UPDATE

_SCHEMAS = {name: schema for name, _, schema in TOOLS}
_PER_PAGE = 20
_MOST_LABELS = 20
_CHANGES = ("title", "body", "state")
_LOOK_FIRST = "It may have been carried out all the same; look before you try again."


def call(tool: str, args: dict[str, Any], context: ToolContext, options: Options) -> ToolResult:
    """Answer one call; what goes wrong is told in a result with is_error."""
    try:
        given = checked(args, _SCHEMAS[tool])
        _check(tool, given)
        remote = read_remote(context.directory or options.directory, options.remote)
        choice = choose(options, os.environ, remote)
    except (ArgumentError, ChoiceError) as error:
        return ToolResult(str(error), is_error=True)
    try:
        return ToolResult(_ask(tool, given, _forge(choice, context, options), choice))
    except ValueError as error:
        return ToolResult(f"{error}\n{present.source(choice)}", is_error=True)
    except HttpError as error:
        lines = [_explained(error, given, choice, remote)]
        if error.unsure and tool in (CREATE, COMMENT):
            lines.append(_LOOK_FIRST)
        return ToolResult("\n".join([*lines, present.source(choice)]), is_error=True)


def _check(tool: str, given: dict[str, Any]) -> None:
    """What a schema does not say. Raises ArgumentError."""
    if tool == UPDATE and not any(name in given for name in _CHANGES):
        raise ArgumentError("there is nothing to change: give title, body or state")
    labels = given.get("labels", [])
    lines = [given["owner"], given["repo"], given.get("title", "")]
    for line in [*lines, *([labels] if isinstance(labels, str) else labels)]:
        if not is_line(line):
            raise ArgumentError(f"{line!r:.80} has line breaks or control characters")
    if tool == LIST and len(labels_of(given.get("labels", ""))) > _MOST_LABELS:
        raise ArgumentError(f"labels has more than {_MOST_LABELS} labels")


def _ask(tool: str, given: dict[str, Any], forge: Forge, choice: Choice) -> str:
    repo = Repo(given["owner"].strip(), given["repo"].strip())
    if tool == LIST:
        state, labels = given.get("state", "open"), labels_of(given.get("labels", ""))
        page, per_page = given.get("page", 1), given.get("per_page", _PER_PAGE)
        found = forge.issues(repo, state, labels, page, per_page)
        return present.listed(repo, state, labels, found, choice)
    if tool == CREATE:
        labels = list(dict.fromkeys(label.strip() for label in given.get("labels", ())))
        issue = forge.create(repo, given["title"].strip(), given.get("body", ""), labels)
        return present.created(issue, labels, choice)
    number = given["issue_number"]
    if tool == UPDATE:
        changes = {name: given[name] for name in _CHANGES if name in given}
        return present.updated(forge.update(repo, number, changes), choice)
    return present.commented(number, forge.comment(repo, number, given["body"]), choice)


def _forge(choice: Choice, context: ToolContext, options: Options) -> Forge:
    from .gitea import Gitea
    from .github import HEADERS, GitHub
    from .gitlab import GitLab

    credentials = {
        GITHUB: {"authorization": f"Bearer {choice.token}"},
        GITEA: {"authorization": f"token {choice.token}"},
    }.get(choice.forge, {"private-token": choice.token})
    client = Client(
        choice.base,
        headers=HEADERS if choice.forge == GITHUB else None,
        credentials=credentials,
        limits=Limits(seconds=options.seconds, tries=options.tries, body=options.max_bytes),
        ca_file=options.ca_file,
        cancelled=lambda: context.cancelled,
        deadline=time.monotonic() + options.seconds,
    )
    if choice.forge == GITHUB:
        return GitHub(client)
    if choice.forge == GITEA:
        return Gitea(client)
    return GitLab(client, choice.base.removesuffix("/api/v4"))


def _explained(
    error: HttpError, given: dict[str, Any], choice: Choice, remote: Remote | str
) -> str:
    if isinstance(error, TooLarge):
        return f"{choice.name}: {error}; a smaller per_page helps with a list."
    if not isinstance(error, StatusError) or isinstance(error, RateLimited):
        advice = "" if isinstance(error, StatusError) else f"\n{choice.advice}"
        return f"{choice.name}: {error}{advice}".rstrip()
    said = f"\n{choice.name} says: {error.problem}" if error.problem else ""
    repo = f"{given['owner']}/{given['repo']}"
    if error.status == 401:
        return f"{choice.name} does not accept the token: check {choice.variable}.{said}"
    if error.status == 403 and "rate limit" in error.problem.lower():
        return f"{choice.name} had too many requests: wait a minute or more.{said}"
    if error.status == 403:
        return (
            f"{choice.name} does not allow this to the user of the token in {choice.variable}:"
            f" it needs the right to read and write issues of {repo}.{said}"
        )
    if error.status == 404:
        what = f"issue #{given['issue_number']} of {repo}" if "issue_number" in given else repo
        hint = ""
        if isinstance(remote, Remote) and f"{remote.owner}/{remote.repo}".lower() != repo.lower():
            hint = f" The git remote here is {remote.owner}/{remote.repo}."
        return (
            f"{choice.name} has no {what}, or does not show it to the user of the token in"
            f" {choice.variable}.{hint}{said}"
        )
    return f"{choice.name} API error: {error}"
