"""code-review: what changed in the session's directory, as a diff that a model can read.

git is asked so that neither the arguments nor the repository's settings run a program or
change a file: names reach it as object ids or after "--", external diff programs, text
converters, file system monitors and the pager are off, and the index is not refreshed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import trio

from ..command import Outcome
from ..model import CallContext
from . import arguments, programs
from .base import BuiltinPlugin, BuiltinTool, ToolFailed

DIFF_MAX = 60_000  # characters
CONTEXT_LINES = 3
CONTEXT_LINES_MAX = 1000
_FILES_LISTED = 100
_DEADLINE = 25.0  # seconds for all of git's work
_NUMSTAT_MOST = 4 * 1024 * 1024  # bytes
_NO_SUCH_COMMIT = 1  # the status of a quiet rev-parse
_NOTHING_FOUND = 1  # of git config
_FILTERS = r"^filter\..*\.(clean|process|required)$"
_OBJECT_ID = re.compile(r"[0-9a-f]{40,64}")

_ENV = ("PATH", "HOME", "USER", "XDG_CONFIG_HOME")
_FIXED_ENV = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # Nothing is fetched, which would run what the repository's configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # for a git that does not know the other
    "GIT_LITERAL_PATHSPECS": "1",
}
_GLOBAL_OPTIONS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.quotePath=false",
    # git diff writes the index otherwise, whatever GIT_OPTIONAL_LOCKS says.
    "-c",
    "diff.autoRefreshIndex=false",
)
_DIFF_OPTIONS = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)

_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "ref": {
            "type": "string",
            "default": "HEAD",
            "description": "What to compare the files with: a commit, branch or tag; or a range"
            " such as main...HEAD, which compares two commits.",
        },
        "path": {"type": "string", "description": "Only this file or folder."},
        "staged": {
            "type": "boolean",
            "default": False,
            "description": "Compare what is staged, not the files as they are.",
        },
        "context_lines": {
            "type": "integer",
            "minimum": 0,
            "maximum": CONTEXT_LINES_MAX,
            "default": CONTEXT_LINES,
        },
    },
    "additionalProperties": False,
}


@attrs.frozen
class _Request:
    ref: str
    path: str
    staged: bool
    context_lines: int


@attrs.frozen
class _Changed:
    """One file; the numbers of lines are None when it is binary."""

    path: str
    added: int | None
    removed: int | None

    def __str__(self) -> str:
        shown = self.path if self.path.isprintable() else ascii(self.path)
        if self.added is None:
            return f"{shown} (binary)"
        return f"{shown} (+{self.added} -{self.removed})"


class CodeReview(BuiltinPlugin):
    """Offers the tool `code_review`. environ: by default os.environ."""

    name = "code-review"

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._environ = dict(os.environ if environ is None else environ)

    def tools(self) -> Sequence[BuiltinTool]:
        """The one tool."""
        return (
            BuiltinTool(
                name="code_review",
                description="Show the changes in the session's git repository as a diff, with"
                " the number of files and lines. Files that git does not track are not in it.",
                parameters=_PARAMETERS,
                execute=self._review,
            ),
        )

    async def _review(self, args: Mapping[str, Any], context: CallContext) -> str:
        request = _read(args)
        program = programs.find_program("git", self._environ)
        if program is None:
            raise ToolFailed("git is not on PATH; install it to review changes")
        env = programs.pick(self._environ, _ENV) | _FIXED_ENV
        git = _Git(program, env, context.directory or os.getcwd())  # noqa: PTH109
        try:
            with trio.fail_after(_DEADLINE):
                return await _diff(await _without_own_filters(git), request)
        except trio.TooSlowError:
            raise ToolFailed(
                f"git diff failed: it took longer than {_DEADLINE:g} s; give `path` a smaller"
                " part of the repository"
            ) from None


@attrs.frozen
class _Git:
    program: str
    env: Mapping[str, str]
    directory: str
    options: Sequence[str] = _GLOBAL_OPTIONS

    async def run(self, *args: str, most: int = _NUMSTAT_MOST) -> Outcome:
        return await programs.run(
            [self.program, *self.options, *args],
            env=self.env,
            directory=self.directory,
            most=most,
        )

    async def diff(self, *args: str, most: int) -> tuple[bytes, bool]:
        """The output, and whether there is more of it."""
        ended = await self.run("diff", *_DIFF_OPTIONS, *args, most=most)
        if ended.returncode != 0 and not ended.stdout_cut:
            raise ToolFailed(f"git diff failed: {programs.complaint(ended)}")
        return ended.stdout, ended.stdout_cut

    async def commit(self, ref: str) -> str:
        """The object id of the commit that a name stands for."""
        ended = await self.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        found = ended.stdout.decode(errors="replace").strip()
        if ended.returncode == 0 and _OBJECT_ID.fullmatch(found):
            return found
        if ended.stderr or ended.returncode not in (0, _NO_SUCH_COMMIT):
            raise ToolFailed(f"git diff failed in {self.directory}: {programs.complaint(ended)}")
        raise ToolFailed(f"git diff failed: {ref!r:.200} names no commit in {self.directory}")


async def _without_own_filters(git: _Git) -> _Git:
    """Without the filters that the repository's own configuration has.

    They are programs, which a diff would run on changed files. The person's own filters, which
    files are kept through in the repository (as with git-lfs), are left.
    """
    ended = await git.run("config", "-z", "--show-scope", "--get-regexp", _FILTERS)
    if ended.returncode not in (0, _NOTHING_FOUND) or ended.stdout_cut:
        raise ToolFailed(f"git diff failed in {git.directory}: {programs.complaint(ended)}")
    fields = ended.stdout.decode(errors="surrogateescape").split("\0")
    theirs: dict[str, str] = {}
    own: dict[str, None] = {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        name, _, value = entry.partition("\n")
        if scope in ("system", "global"):
            theirs[name] = value
        else:
            own[name] = None
            own[f"{name.rpartition('.')[0]}.required"] = None
    options = list(git.options)
    for name in own:
        if "=" in name:
            raise ToolFailed(f"git diff failed: the repository has a filter {name!r:.200}")
        nothing = "false" if name.endswith(".required") else ""
        options += ["-c", f"{name}={theirs.get(name, nothing)}"]
    return attrs.evolve(git, options=options)


def _read(args: Mapping[str, Any]) -> _Request:
    arguments.refuse_unknown(args, _PARAMETERS)
    request = _Request(
        ref=arguments.text(args, "ref") or "HEAD",
        path=arguments.text(args, "path"),
        staged=arguments.flag(args, "staged"),
        context_lines=arguments.number(args, "context_lines", CONTEXT_LINES, CONTEXT_LINES_MAX),
    )
    if not request.ref.isprintable():
        raise ToolFailed("ref holds control characters")
    if "\0" in request.path:
        raise ToolFailed("path holds a NUL character")
    if request.staged and ".." in request.ref:
        raise ToolFailed("staged changes are compared with one commit, not with a range")
    return request


async def _diff(git: _Git, request: _Request) -> str:
    compared = await _compared(git, request.ref)
    scope = ["--cached"] if request.staged else []
    scope += [compared, "--", *([request.path] if request.path else [])]
    numbers, _ = await git.diff("--numstat", "-z", *scope, most=_NUMSTAT_MOST)
    files = _parse_numstat(numbers)
    # A character is at most four bytes, so this is enough to fill DIFF_MAX and one more.
    text, more = await git.diff(
        f"--unified={request.context_lines}", *scope, most=4 * (DIFF_MAX + 1)
    )
    if not text:
        return "No changes found."
    diff = text.decode(errors="replace")
    if more:
        return _render(request, files, diff, more)
    return _render(request, _without_touched(files, diff), diff, more)


async def _compared(git: _Git, ref: str) -> str:
    """A name or range as object ids, which can be mistaken for nothing else."""
    match = re.fullmatch(r"(.*?)(\.{2,3})(.*)", ref)
    if match is None:
        return await _commit(git, ref)
    left, dots, right = match.groups()
    return await _commit(git, left or "HEAD") + dots + await _commit(git, right or "HEAD")


async def _commit(git: _Git, ref: str) -> str:
    if ref.startswith("-"):
        raise ToolFailed(f"git diff failed: a ref must not begin with a dash: {ref!r:.200}")
    return await git.commit(ref)


def _parse_numstat(data: bytes) -> list[_Changed]:
    r"""Read "added TAB removed TAB path NUL", or "... TAB NUL old NUL new NUL" for a rename."""
    fields = iter(data.decode(errors="replace").split("\0"))
    files = []
    for field in fields:
        added, _, rest = field.partition("\t")
        removed, tab, path = rest.partition("\t")
        if not tab:
            continue  # what follows the last NUL
        if not path:
            next(fields, "")
            path = next(fields, "")
        lines = (None, None) if added == "-" else (int(added), int(removed))
        files.append(_Changed(path, *lines))
    return files


def _without_touched(files: Sequence[_Changed], diff: str) -> list[_Changed]:
    """Leave out what only has a new date: --numstat counts such a file when it is binary."""
    headers = [line for line in diff.split("\n") if line.startswith("diff --git ")]
    return [
        file
        for file in files
        if file.added is not None
        or not file.path.isprintable()  # git writes these and the next two escaped
        or '"' in file.path
        or "\\" in file.path
        or any(header.endswith(f" b/{file.path}") for header in headers)
    ]


def _render(request: _Request, files: Sequence[_Changed], diff: str, more: bool) -> str:
    shown = _cut_at_line(diff) if more or len(diff) > DIFF_MAX else diff
    kind = "Staged changes" if request.staged else "Changes"
    added = sum(file.added or 0 for file in files)
    removed = sum(file.removed or 0 for file in files)
    fence = _fence(shown)
    parts = [
        f"## Code Review: {kind} against {request.ref}",
        f"{len(files)} file(s) changed, {added} line(s) added, {removed} removed",
    ]
    if binary := [file for file in files if file.added is None]:
        parts.append("Binary, content not shown:\n" + _listed(binary))
    parts.append(f"{fence}diff\n{shown}" + ("" if shown.endswith("\n") else "\n") + fence)
    if shown is not diff:
        parts.append(
            f"[The diff is longer and was cut after {len(shown)} characters. To see more, call"
            " code_review with `path` set to a file or folder, or with fewer `context_lines`."
            " Changed are:]\n" + _listed(files)
        )
    return "\n\n".join(parts)


def _cut_at_line(diff: str) -> str:
    diff = diff[:DIFF_MAX]
    end = diff.rfind("\n") + 1
    return diff[:end] if end else diff


def _fence(text: str) -> str:
    """A run of backticks longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _listed(files: Sequence[_Changed]) -> str:
    lines = [f"- {file}" for file in files[:_FILES_LISTED]]
    if left := len(files) - len(lines):
        lines.append(f"- and {left} more")
    return "\n".join(lines)
