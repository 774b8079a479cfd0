from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.patterns import (
    MAX_COMMAND,
    MAX_PATTERN,
    Glob,
    Subject,
    _tokens,
    escape,
    exact_pattern,
    parse_pattern,
)
from tinyhost.shell_text import simple_commands


def subject(args: Any, directory: str = "/proj") -> Subject:
    return Subject.of(args, json.dumps(args), directory)


def covers(pattern: str, args: Any, tool: str = "bash", category: str = "plugin") -> bool:
    return parse_pattern(pattern).covers(tool, category, subject(args))


def touches(pattern: str, args: Any, tool: str = "bash", category: str = "plugin") -> bool:
    return parse_pattern(pattern).touches(tool, [category], subject(args))


def run(pattern: str, command: str) -> bool:
    return covers(f"bash({pattern})", {"command": command})


def stopped(pattern: str, command: str) -> bool:
    return touches(f"bash({pattern})", {"command": command})


# --- globs


def slow_match(pattern: str, text: str) -> bool:
    """The definition of a glob, tried in every way."""

    @functools.cache
    def fits(p: int, t: int) -> bool:
        if p == len(pattern):
            return t == len(text)
        char = pattern[p]
        if char == "*":
            return any(fits(p + 1, end) for end in range(t, len(text) + 1))
        if char == "\\" and p + 1 < len(pattern) and pattern[p + 1] in "*?\\":
            return text[t : t + 1] == pattern[p + 1] and fits(p + 2, t + 1)
        return t < len(text) and (char == "?" or char == text[t]) and fits(p + 1, t + 1)

    return fits(0, 0)


SMALL = st.text(alphabet="ab*?\\\n.[", max_size=12)


@given(SMALL, SMALL)
def test_a_glob_matches_what_the_slow_definition_matches(pattern: str, text: str) -> None:
    assert Glob(_tokens(pattern)).matches(text) is slow_match(pattern, text)


@given(st.lists(st.sampled_from(["*", "?", "a", "b", "ab"]), max_size=9), st.text("ab", max_size=9))
def test_globs_of_many_wildcards_match_the_slow_definition(parts: list[str], text: str) -> None:
    pattern = "".join(parts)
    assert Glob(_tokens(pattern)).matches(text) is slow_match(pattern, text)


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_escaped_text_matches_itself_alone(text: str, other: str) -> None:
    glob = Glob(_tokens(escape(text)))
    assert glob.matches(text)
    assert glob.matches(other) is (text == other)


def test_a_pattern_made_to_backtrack_does_not() -> None:
    # Backtracking would take longer than the universe has; plain searching takes no time.
    glob = Glob(_tokens("*a" * 500 + "b"))
    assert not glob.matches("a" * 100_000)
    assert not Glob(_tokens("*a?" * 50 + "b")).matches("a" * 10_000)


# --- patterns


NOT_PATTERNS = ["", " ", "a b", "(x)", "bash(", "bash(x", "bash)x(", "bash(x) ", "bash\n"]
NOT_PATTERNS += ["category:", "category:a b", "category:read(x)", "category:read\n"]
NOT_PATTERNS += ["a" * (MAX_PATTERN + 1)]


@pytest.mark.parametrize("text", NOT_PATTERNS)
def test_a_bad_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a tool|longer than"):
        parse_pattern(text)


def test_a_tool_pattern_fits_the_whole_id() -> None:
    assert covers("plugin__wordcount__*", {}, "plugin__wordcount__count")
    assert not covers("plugin__wordcount__*", {}, "plugin__other__count")
    assert not covers("bash", {}, "bash2")
    assert not covers("bash", {}, "Bash")
    assert covers("*", {}, "anything")


def test_a_tool_pattern_alone_allows_every_command() -> None:
    assert covers("bash", {"command": "a; b"})


def test_a_category_pattern_goes_by_the_category() -> None:
    assert covers("category:read", {}, category="read")
    assert not covers("category:read", {}, category="plugin")
    assert not covers("category:read", {}, tool="category:read")


def test_an_argument_may_hold_parentheses() -> None:
    assert covers("t(a(b)c)", {"path": "a(b)c"}, "t")


@pytest.mark.parametrize(
    ("args", "seen"),
    [
        ({"command": "x"}, "x"),
        ({"cmd": "x"}, "x"),
        ({"command": ["git", "a b"]}, "git 'a b'"),
        ({"command": "x", "path": "y"}, "x"),
        ({"path": "y", "file": 1}, "y"),
        ({"file": "y", "other": "z"}, "y"),
        ({"filepath": "y"}, "y"),
        ({"command": 1}, '{"command": 1}'),
        ({"q": "y"}, '{"q": "y"}'),
        ([1], "[1]"),
        (None, "null"),
    ],
)
def test_the_subject_is_the_command_or_the_path_or_the_text(args: Any, seen: str) -> None:
    assert subject(args).values() == (seen,)


def test_of_several_paths_allowing_takes_all_and_denying_takes_one() -> None:
    args = {"file_path": "/proj/ok", "path": "/etc/passwd"}
    assert not covers("read(/proj/*)", args, "read")
    assert touches("read(/etc/*)", args, "read")
    assert covers("read(/*)", args, "read")


# --- commands that an allow rule covers


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git status -s",
        "git status 'a;b'",
        'git status "a && b"',
        "git status a\\;b",
        "git status $HOME a#b",
    ],
)
def test_a_simple_command_is_allowed(command: str) -> None:
    assert run("git status*", command)


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf /",
        "git status && rm x",
        "git status || rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status\rrm x",
        "git status `rm x`",
        "git status $(rm x)",
        'git status "$(rm x)"',
        'git status "`rm x`"',
        "git status > x",
        "git status < x",
        "git status <(rm x)",
        "git status # it's\nrm x #'",
        "git status $'a\\'' ; rm '",
        "git status \"${x#'\"'}\" ; rm x '",
        "git status <<E\n'\nE\nrm '",
        "git status $\\\n(rm x)",
        'git status "$\\\n(rm x)"',
        "git status 'a",
        'git status "a',
        "git status \\",
        "git status \0",
        " git status",
        "git status " + "x" * MAX_COMMAND,
    ],
)
def test_more_than_a_simple_command_is_not_allowed(command: str) -> None:
    assert not run("git status*", command)
    assert not run("*", command) or command.startswith(" ")


def test_a_pattern_with_a_separator_matches_it_in_its_place_only() -> None:
    assert run("git log * | head*", "git log a | head -3")
    assert not run("git log * | head*", "git log a | head -3; rm x")
    assert not run("git log * | head*", "git log a | rm x | head")
    assert not run("git log * | head*", "git log 'a | head'")
    assert not run("echo *;*", "echo 'a;b'; c; d")
    assert run("echo * > /tmp/*", "echo a > /tmp/b")
    assert not run("echo * > /tmp/*", "echo a > /etc/b")


@pytest.mark.parametrize("command", ["a; b", "a $(b)", "cat <<E\nx\nE", "echo '*'", "a\\?b", "'"])
def test_a_pattern_without_wildcards_allows_exactly_its_command(command: str) -> None:
    assert run(escape(command), command)
    assert not run(escape(command), command + " ")
    assert not run(escape(command), command + "; rm x")


# --- commands that a deny or ask rule stops


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git  push -f",
        "ls; git push",
        "ls && git push",
        "ls | git push",
        "ls & git push",
        "ls\ngit push",
        "git 'push'",
        'g"i"t push',
        "g\\it push",
        "git \\\npush",
        "A=1 B='2 3' git push",
        "/usr/bin/git push",
        "echo $(git push)",
        'echo "$(git push)"',
        "echo `git push`",
        'echo "`git push`"',
        "cat <(git push)",
        "(git push)",
        "{ git push; }",
        "if true; then git push; fi",
        "for i in 1; do git push; done",
        "! git push",
        "f() { git push; }",
        ">out git push",
        "git 2>/dev/null push",
        "git push &>/dev/null",
        "sudo git push",
        "sudo -u me git push",
        "env -i A=1 /bin/git push",
        "bash -c 'git push'",
        'sh -ec "ls; git push"',
        "eval 'git push'",
        "sudo sh -c 'bash -c \"git push\"'",
        "echo 'a",
        "x" * (MAX_COMMAND + 1),
    ],
)
def test_any_part_of_a_command_is_stopped(command: str) -> None:
    pattern = "echo a*" if command == "echo 'a" else "git push*"
    assert stopped(pattern, command)


@pytest.mark.parametrize(
    "command", ["git pull", "echo git push", "echo 'git push'", "echo 'x; git push'", "ls; git"]
)
def test_a_command_that_only_mentions_another_is_not_stopped(command: str) -> None:
    assert not stopped("git push*", command)


def test_a_deny_pattern_may_name_a_redirection() -> None:
    assert stopped("* > /etc/*", "echo a > /etc/passwd")


@pytest.mark.parametrize(
    "filler",
    ["sudo ", "bash -c '", "eval ", "$(", "a;", "\\\n", "\"'", "<", ">a ", "1 >a", "`", "A="],
)
def test_looking_into_a_large_command_gives_a_bounded_amount_of_text(filler: str) -> None:
    # Work that grows with the square of the length would not end within any patience.
    looked_at = simple_commands((filler * MAX_COMMAND)[:MAX_COMMAND])
    assert sum(map(len, looked_at)) <= 40 * MAX_COMMAND


# --- paths


def test_a_path_that_climbs_is_not_allowed_by_a_wildcard() -> None:
    assert covers("write(/proj/*)", {"path": "/proj/a..b"}, "write")
    assert not covers("write(/proj/*)", {"path": "/proj/../etc/passwd"}, "write")
    assert covers("write(../*)", {"path": "../a"}, "write")
    assert covers("write(/proj/../a)", {"path": "/proj/../a"}, "write")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/proj/../etc/passwd", "../etc/passwd", "//etc/passwd", "/./etc/x"]
)
def test_a_denied_path_is_denied_in_every_spelling(path: str) -> None:
    assert touches("write(/etc/*)", {"path": path}, "write")


def test_an_allowed_path_elsewhere_is_not_denied() -> None:
    assert not touches("write(/etc/*)", {"path": "etc/passwd"}, "write")


# --- exact patterns


@given(
    st.text("abc_*?\\", min_size=1, max_size=8),
    st.dictionaries(
        st.sampled_from(["command", "cmd", "path", "q"]), st.text(max_size=20), max_size=2
    ),
    st.text(max_size=20),
)
def test_an_exact_pattern_matches_its_call_alone(
    tool: str, args: dict[str, str], other: str
) -> None:
    pattern = exact_pattern(tool, subject(args))
    if pattern is None:
        assert len(subject(args).values()) > 1
        return
    parsed = parse_pattern(pattern)
    assert parsed.covers(tool, "", subject(args))
    assert not parsed.covers(tool + "x", "", subject(args))
    changed = {key: value + other for key, value in args.items()} if args else {"q": other}
    assert parsed.covers(tool, "", subject(changed)) is (changed == args)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("a b", {"command": "x"}),
        ("category:read", {"command": "x"}),
        ("bash", {"command": "x" * MAX_PATTERN}),
        ("bash", {"command": "\ud800"}),
        ("bash", {"command": "x", "cmd": "y"}),
    ],
)
def test_what_no_pattern_can_say_has_no_exact_pattern(tool: str, args: Any) -> None:
    assert exact_pattern(tool, subject(args)) is None
