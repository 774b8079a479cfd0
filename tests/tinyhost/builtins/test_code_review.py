from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from tinyhost.builtins.code_review import DIFF_MAX, CodeReview
from tinyhost.dispatch import Dispatcher
from tinyhost.model import CallContext, ToolResult

GIT = shutil.which("git") or "git"


def git(folder: Path, *args: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    done = subprocess.run([GIT, *args], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "next")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, one="1\n2\n3\n4\n5\n6\n7\n8\n9\n", two="a\n")
    return folder


def plugin(home: Path, **env: str) -> CodeReview:
    return CodeReview({"PATH": os.environ["PATH"], "HOME": str(home), **env})


async def review(folder: Path, **args: object) -> ToolResult:
    context = CallContext(session_id="s", directory=str(folder))
    return await plugin(folder).call_tool("code_review", args, context)


async def content(folder: Path, **args: object) -> str:
    result = await review(folder, **args)
    assert not result.is_error, result.content
    return result.content


async def error(folder: Path, **args: object) -> str:
    result = await review(folder, **args)
    assert result.is_error
    assert "\n" not in result.content
    return result.content


async def test_changes_of_the_session_directory_are_shown_with_their_numbers(repo: Path) -> None:
    (repo / "one").write_text("1\n2\n3\n4\nfive\n6\n7\n8\n9\n")
    (repo / "two").write_text("a\nb\nc\n")
    text = await content(repo)
    assert text.startswith(
        "## Code Review: Changes against HEAD\n\n"
        "2 file(s) changed, 3 line(s) added, 1 removed\n\n```diff\ndiff --git a/one b/one\n"
    )
    assert "\n-5\n+five\n" in text
    assert text.endswith("+c\n```")


async def test_no_change_is_said_so(repo: Path) -> None:
    assert await content(repo) == "No changes found."


async def test_lines_that_look_like_headers_are_not_counted_as_files(repo: Path) -> None:
    (repo / "two").write_text("diff --git a/x b/x\n" * 5)
    assert "1 file(s) changed, 5 line(s) added, 1 removed" in await content(repo)


@pytest.mark.parametrize("lines", [0, 1, 3])
async def test_context_lines_are_as_many_as_asked_for(repo: Path, lines: int) -> None:
    (repo / "one").write_text("1\n2\n3\n4\nfive\n6\n7\n8\n9\n")
    text = await content(repo, context_lines=lines)
    assert len(re.findall(r"^ \d$", text, re.MULTILINE)) == 2 * lines


async def test_staged_and_unstaged_changes_are_told_apart(repo: Path) -> None:
    (repo / "one").write_text("staged\n")
    git(repo, "add", "one")
    (repo / "two").write_text("not staged\n")
    staged = await content(repo, staged=True)
    assert "Staged changes against HEAD" in staged
    assert "+staged" in staged
    assert "not staged" not in staged
    assert "+not staged" in await content(repo)


async def test_a_path_narrows_the_diff(repo: Path) -> None:
    (repo / "one").write_text("x\n")
    (repo / "two").write_text("y\n")
    text = await content(repo, path="two")
    assert "+y" in text
    assert "+x" not in text


async def test_a_path_is_a_name_and_not_a_pattern_or_option(repo: Path) -> None:
    commit(repo, **{"--output=stolen": "a\n", ":!two": "a\n"})
    for name in ("two", "--output=stolen", ":!two"):
        (repo / name).write_text(f"{name} changed\n")
    for name in ("--output=stolen", ":!two"):
        text = await content(repo, path=name)
        assert f"+{name} changed" in text
        assert "1 file(s)" in text
    assert not (repo / "stolen").exists()


async def test_an_older_commit_and_ranges_can_be_compared(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, topic="t\n")
    git(repo, "checkout", "-q", "main")
    commit(repo, later="l\n")
    assert "+l" in await content(repo, ref="HEAD~1")
    since_fork = await content(repo, ref="main...topic")
    assert "+t" in since_fork
    assert "-l" not in since_fork
    between = await content(repo, ref="main..topic")
    assert "+t" in between
    assert "-l" in between
    assert "+l" in await content(repo, ref="topic...")


@pytest.mark.parametrize(
    ("ref", "complaint"),
    [
        ("--output=stolen", "must not begin with a dash"),
        ("HEAD..--output=stolen", "must not begin with a dash"),
        ("nowhere", "'nowhere' names no commit"),
        ("HEAD...nowhere", "'nowhere' names no commit"),
        ("^HEAD", "names no commit"),
        ("HEAD....main", "names no commit"),
        ("HEAD\x1b[2J", "control characters"),
        ("HEAD\0", "control characters"),
        (7, "ref must be a string"),
    ],
)
async def test_a_bad_ref_is_one_clear_line(repo: Path, ref: object, complaint: str) -> None:
    assert complaint in await error(repo, ref=ref)
    assert {path.name for path in repo.iterdir()} == {".git", "one", "two"}


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ({"context_lines": -1}, "from 0 to 1000"),
        ({"context_lines": True}, "from 0 to 1000"),
        ({"context_lines": "3"}, "from 0 to 1000"),
        ({"staged": "yes"}, "true or false"),
        ({"path": ["one"]}, "path must be a string"),
        ({"path": "a\0b"}, "NUL"),
        ({"contextLines": 3}, "unknown argument: contextLines; there are: ref, path,"),
        ({"staged": True, "ref": "HEAD~1..HEAD"}, "not with a range"),
        ({"path": "../outside"}, "outside repository"),
    ],
)
async def test_wrong_arguments_are_refused(
    repo: Path, args: dict[str, object], complaint: str
) -> None:
    assert complaint in await error(repo, **args)


async def test_a_folder_without_a_repository_is_one_clear_line(tmp_path: Path) -> None:
    text = await error(tmp_path)
    assert str(tmp_path) in text
    assert "not a git repository" in text


async def test_a_missing_directory_is_one_clear_line(tmp_path: Path) -> None:
    assert "does not exist" in await error(tmp_path / "gone")


async def test_a_repository_without_commits_is_one_clear_line(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert "'HEAD' names no commit" in await error(tmp_path)


async def test_a_missing_git_is_one_clear_line(repo: Path, tmp_path: Path) -> None:
    review = CodeReview({"PATH": str(tmp_path)})
    result = await review.call_tool("code_review", {}, CallContext(directory=str(repo)))
    assert result == ToolResult("git is not on PATH; install it to review changes", is_error=True)


async def test_a_git_that_is_ended_says_nothing_about_the_commit(
    repo: Path, tmp_path: Path
) -> None:
    ended = tmp_path / "git"
    ended.write_text("#!/bin/sh\nkill -9 $$\n")
    ended.chmod(0o755)
    review = CodeReview({"PATH": str(tmp_path)})
    result = await review.call_tool("code_review", {}, CallContext(directory=str(repo)))
    assert result == ToolResult(f"git diff failed in {repo}: it was killed by SIGKILL", True)


async def test_binary_files_are_listed(repo: Path) -> None:
    (repo / "image").write_bytes(b"\0\1\2")
    git(repo, "add", "image")
    text = await content(repo)
    assert "1 file(s) changed, 0 line(s) added, 0 removed" in text
    assert "Binary, content not shown:\n- image (binary)\n" in text


async def test_renames_and_odd_names_are_counted_once(repo: Path) -> None:
    git(repo, "mv", "one", "uno")
    (repo / "tab\tand\nline").write_text("x\n")
    (repo / "größe").write_text("x\n")
    git(repo, "add", "-A")
    text = await content(repo)
    assert "3 file(s) changed, 2 line(s) added, 0 removed" in text
    assert "b/größe" in text


async def test_the_fence_is_longer_than_any_in_the_diff(repo: Path) -> None:
    (repo / "two").write_text("```\ncode\n`````\n")
    text = await content(repo)
    assert "\n``````diff\n" in text
    assert text.endswith("\n``````")


async def test_a_long_diff_is_cut_at_a_line_and_tells_how_to_see_more(repo: Path) -> None:
    (repo / "one").write_text("ä line of a long file\n" * 10_000)
    (repo / "two").write_text("changed\n")
    (repo / "blob").write_bytes(b"\0")
    git(repo, "add", "blob")
    text = await content(repo)
    diff = text.split("```diff\n")[1].split("```")[0]
    assert DIFF_MAX - 100 < len(diff) <= DIFF_MAX
    assert diff.endswith("+ä line of a long file\n")
    after = text.rpartition("```")[2]
    assert "was cut after" in after
    assert "`path`" in after
    assert "- one (+10000 -9)\n- two (+1 -1)" in after
    assert "3 file(s) changed, 10001 line(s) added, 10 removed" in text
    assert "+changed" in await content(repo, path="two")


async def test_a_diff_of_one_endless_line_is_cut_too(repo: Path) -> None:
    (repo / "two").write_text("x" * 2_000_000)
    text = await content(repo)
    assert len(text) < DIFF_MAX + 2000
    assert "was cut after" in text


async def test_no_program_named_by_the_repository_runs(repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\necho ran >> {mark}\n")
    spy.chmod(0o755)
    for name in ("diff.external", "core.fsmonitor", "core.pager", "diff.spy.textconv"):
        git(repo, "config", name, str(spy))
    git(repo, "config", "diff.spy.command", str(spy))
    commit(repo, **{".gitattributes": "two diff=spy\n"})
    mark.unlink(missing_ok=True)
    (repo / "two").write_text("new\n")
    assert "+new" in await content(repo)
    assert not mark.exists()


async def test_the_persons_settings_do_not_change_the_form(repo: Path) -> None:
    (repo / ".gitconfig").write_text("[diff]\nnoprefix = true\n[color]\nui = always\n")
    git(repo, "config", "color.diff", "always")
    (repo / "two").write_text("new\n")
    text = await content(repo)
    assert "diff --git a/two b/two" in text
    assert "\x1b" not in text


async def test_the_repository_is_not_written_to(repo: Path) -> None:
    (repo / "blob").write_bytes(b"\0")
    commit(repo)
    os.utime(repo / "one", (1, 1))  # git wants to note the new date in its index
    os.utime(repo / "blob", (1, 1))
    (repo / "two").write_text("new\n")
    before = digest(repo / ".git")
    text = await content(repo)
    assert digest(repo / ".git") == before
    assert "1 file(s) changed, 1 line(s) added, 1 removed" in text
    assert "blob" not in text


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


async def test_variables_that_lead_git_elsewhere_are_not_passed_on(
    repo: Path, tmp_path: Path
) -> None:
    (repo / "two").write_text("new\n")
    review = plugin(repo, GIT_DIR=str(tmp_path / "other"), GIT_EXTERNAL_DIFF="/bin/false")
    result = await review.call_tool("code_review", {}, CallContext(directory=str(repo)))
    assert "+new" in result.content


async def test_without_a_session_directory_the_hosts_own_is_reviewed(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "two").write_text("new\n")
    monkeypatch.chdir(repo)
    assert "+new" in (await plugin(repo).call_tool("code_review")).content


async def test_a_hanging_git_is_killed_with_what_it_started(
    tmp_path: Path, hanging: Any, mock_clock: trio.testing.MockClock
) -> None:
    program = hanging("git")
    results: list[ToolResult] = []

    async def call() -> None:
        context = CallContext(directory=str(tmp_path))
        results.append(await CodeReview(program.environ).call_tool("code_review", {}, context))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await trio.to_thread.run_sync(program.wait_until_started)
        mock_clock.jump(26)
    assert results[0].is_error
    assert "took longer than 25 s" in results[0].content
    await trio.to_thread.run_sync(program.wait_until_gone)


async def test_code_review_takes_part_in_no_hook(repo: Path) -> None:
    review = plugin(repo)
    asked = Dispatcher(lambda hook: [review] if review.handles(hook) else [])
    result = await asked.dispatch("session.start", {"sessionId": "s", "directory": str(repo)})
    assert result.answers == []


@pytest.mark.parametrize("kind", ["clean", "process"])
@pytest.mark.parametrize("included", [False, True])
async def test_filters_of_the_repositorys_configuration_are_not_run(
    repo: Path, kind: str, included: bool
) -> None:
    (repo / ".gitattributes").write_text("* filter=own\n")
    git(repo, "add", ".gitattributes")
    git(repo, "commit", "-qm", "attributes")
    where = ["-f", ".git/more"] if included else []
    git(repo, "config", *where, f"filter.own.{kind}", f"touch {repo}/ran; cat")
    git(repo, "config", *where, "filter.own.required", "true")
    if included:
        git(repo, "config", "include.path", "more")
    (repo / "one").write_text("another text\n")
    result = await plugin(repo).call_tool("code_review", {}, CallContext(directory=str(repo)))
    assert not result.is_error
    assert "+another text" in result.content
    assert not (repo / "ran").exists()


async def test_the_persons_own_filters_are_run(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    settings = tmp_path / "config" / "git" / "config"
    settings.parent.mkdir()
    settings.write_text('[filter "upper"]\n\tclean = tr a-z A-Z\n\trequired = true\n')
    (repo / ".gitattributes").write_text("new filter=upper\n")
    git(repo, "config", "filter.upper.clean", f"touch {repo}/ran; cat")
    git(repo, "add", ".gitattributes")
    (repo / "new").write_text("words\n")
    git(repo, "-c", "filter.upper.clean=tr a-z A-Z", "add", "new")
    git(repo, "commit", "-qm", "new")
    (repo / "ran").unlink(missing_ok=True)  # git add looked at the other files, too
    (repo / "new").write_text("other words\n")
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    result = await CodeReview(environ).call_tool(
        "code_review", {}, CallContext(directory=str(repo))
    )
    assert "-WORDS\n+OTHER WORDS" in result.content
    assert not (repo / "ran").exists()


async def test_a_filter_whose_name_cannot_be_given_to_git_is_refused(repo: Path) -> None:
    with (repo / ".git" / "config").open("a") as file:
        file.write('[filter "a=b"]\n\tclean = touch ran; cat\n')
    result = await plugin(repo).call_tool("code_review", {}, CallContext(directory=str(repo)))
    assert result.is_error
    assert "the repository has a filter 'filter.a=b.clean'" in result.content


async def test_what_the_repository_lacks_is_not_fetched(repo: Path) -> None:
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", str(repo)),
        ("remote.origin.uploadpack", f"touch {repo}/ran; false"),
        ("protocol.file.allow", "always"),
    ):
        git(repo, "config", name, value)
    for file in (repo / ".git" / "objects").glob("??/*"):
        if git(repo, "cat-file", "-t", f"{file.parent.name}{file.name}").strip() == "blob":
            file.unlink()
    (repo / "one").write_text("another text\n")
    result = await plugin(repo).call_tool("code_review", {}, CallContext(directory=str(repo)))
    assert result.is_error
    assert not (repo / "ran").exists()
