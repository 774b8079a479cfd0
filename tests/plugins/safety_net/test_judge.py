"""The verdict on commands: two tables, and what holds for any text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.safety_net import contained
from tinyhost_plugins.safety_net.catalog import RULES, Finding
from tinyhost_plugins.safety_net.judge import judge
from tinyhost_plugins.safety_net.limits import MAX_TEXT
from tinyhost_plugins.safety_net.policy import Policy, read_options

HERE = Path(__file__).parent
NEWLINE = "\N{SYMBOL FOR NEWLINE}"


def lines(name: str) -> Iterator[str]:
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("## "):
            yield line.replace(NEWLINE, "\n")


def destructive() -> Iterator[tuple[str, str]]:
    rule = ""
    for line in lines("destructive.txt"):
        header = re.fullmatch(r"\[([a-z-]+)\]", line)
        if header:
            rule = header[1]
        else:
            yield rule, line


def rules_against(command: str | tuple[str, ...], policy: Policy | None = None) -> list[str]:
    return [finding.rule for finding in judge(command, policy or Policy())]


@pytest.mark.parametrize(("rule", "command"), list(destructive()))
def test_a_destructive_command_is_stopped_by_its_rule(rule: str, command: str) -> None:
    assert rule in rules_against(command)


@pytest.mark.parametrize("command", list(lines("harmless.txt")))
def test_a_harmless_command_is_left_alone(command: str) -> None:
    assert judge(command, Policy()) == []


def test_the_tables_cover_every_rule_and_are_large_on_both_sides() -> None:
    stopped, harmless = list(destructive()), list(lines("harmless.txt"))
    assert {rule for rule, _ in stopped} == set(RULES) - {"unchecked"}
    assert len(stopped) > 300
    assert len(harmless) > 250


@pytest.mark.parametrize(
    "wrap",
    [
        "{}",
        "ls; {}",
        "ls && {}",
        "ls || {} || true",
        "ls | {}",
        "{} &",
        "( {} )",
        "{{ {}; }}",
        "if x; then {}; fi",
        "sudo -n {}",
        "env A=1 B=2 {}",
        "nice -n 5 {}",
        "timeout -k 5 10 {}",
        "xargs -0 {} < /dev/null",
        "bash -lc '{}'",
        "sh -c 'sudo {}'",
        "eval '{}'",
        "echo '{}' | sh",
        "sh <<< '{}'",
        "cat <<X | sudo bash\n{}\nX",
        "bash <(echo '{}')",
        "find . -name x -exec {} ;",
        'echo "$({})"',
        "echo `{}`",
        "ssh -p 22 host '{}'",
        "f() {{ {}; }}; f",
        "for i in 1 2; do {}; done",
        "trap '{}' EXIT",
        "# a comment\n{}",
    ],
)
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("remove-system-path", "rm -rf /etc"),
        ("power-off", "reboot"),
        ("git-clean", "git clean -fdx"),
        ("format-disk", "mkfs.ext4 /dev/sda1"),
    ],
)
def test_what_stands_around_a_command_does_not_hide_it(wrap: str, rule: str, command: str) -> None:
    assert rule in rules_against(wrap.format(command))


def test_arguments_that_are_ready_are_not_read_as_shell() -> None:
    assert rules_against(("rm", "-rf", "/")) == ["remove-system-path"]
    assert rules_against(("bash", "-lc", "rm -rf /")) == ["remove-system-path"]
    assert rules_against(("echo", "; rm -rf /")) == []
    assert rules_against(("rm", "-rf", "*")) == []


def test_what_a_command_reads_is_judged_when_it_is_a_script() -> None:
    assert [f.rule for f in judge("bash", Policy(), stdin="reboot")] == ["power-off"]
    assert judge("cat", Policy(), stdin="reboot") == []


def test_the_starting_directory_decides_about_relative_paths() -> None:
    assert [f.rule for f in judge("rm -rf *", Policy(), cwd="/etc")] == ["remove-system-path"]
    assert judge("rm -rf *", Policy(), cwd="/tmp/build") == []


def test_a_finding_names_the_command_and_not_a_pattern() -> None:
    (finding,) = judge("true && sudo rm -r -f ~/*", Policy())
    text = finding.text()
    assert text.startswith("safety-net[remove-home]: this deletes a home directory")
    assert "Found: rm -r ~/*." in text
    assert "Instead: " in text
    assert 'add "remove-home" to the plugin\'s option "allow"' in text


def test_a_reason_is_one_line_of_limited_length() -> None:
    finding = Finding("shred", "shred\n" + "x " * 10_000)
    assert len(finding.text()) < 500
    assert "\n" not in finding.text()


def test_text_beyond_the_size_limit_is_refused_unread() -> None:
    (finding,) = judge("ls " * MAX_TEXT, Policy())
    assert finding.rule == "unchecked"


@pytest.mark.parametrize(
    "text",
    [
        "echo $(" * 300 + ")" * 300,
        "sh -c " + "'sh -c " * 50,
        "x=1;" + "x=$x$x$x$x;" * 40 + "rm -rf $x",
        "for i in 1 2 3 4 5 6 7 8 9; do " * 20 + "ls; " + "done; " * 20,
        "f() { g; g; g; }; g() { h; h; h; }; h() { f; f; f; }; f",
        "eval " * 400 + "ls",
        "sudo " * 400 + "ls",
        "{a,b}" * 300,
        "x() { x; }; x",
        "rm -rf " + "../" * 300 + "x",
        "rm -rf " + "[*" * 500,
    ],
)
def test_a_tangled_text_ends_within_the_limits(text: str) -> None:
    # Without limits, most of these would not end in the lifetime of the test run.
    assert len(judge(text, Policy())) <= 3


def test_too_many_nested_shells_are_refused() -> None:
    assert "unchecked" in rules_against("eval " * 400 + "ls")


PIECES = st.sampled_from(
    [
        *("rm -rf ", "/", "~", "$HOME", "sudo ", "echo ", "bash -c ", "eval ", "xargs ", "find . "),
        *(" | ", " && ", ";", "\n", "(", ")", "{ ", "; }", "$(", "`", '"', "'", "\\", "<<EOF\n"),
        *("EOF\n", "<<<", "<(", "> ", "&", "*", "{a,b}", "${x:-", "}", "x=", "$x", "f() { ", "#"),
        *(
            "if ",
            "then ",
            "fi",
            "for x in ",
            "do ",
            "done",
            "case ",
            "esac",
            "[[ ",
            " ]]",
            "-exec ",
        ),
        *("curl x", "base64 -d", "printf %s ", "\0", "\ud800", "\ue004", "é", "\x1b", "$'\\x2f'"),
    ]
)


@pytest.mark.parametrize("char", ["\U000fafa2", "\U00085624", "\U0010fffd", "\U0001f600", "\uffff"])
def test_characters_that_the_grammar_has_no_table_for_do_not_end_the_process(char: str) -> None:
    code = (
        "import sys; from tinyhost_plugins.safety_net.grammar import parse\n"
        "for text in ('a{%s', '{%s,b}', '$%s', '%s=1', 'echo %s; rm -rf /'):\n"
        "    parse(text % sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, char], check=False)
    assert done.returncode == 0


def test_such_characters_hide_nothing() -> None:
    for text in ("rm -rf / \U000fafa2", "echo \U000fafa2; rm -rf /"):
        assert list(judge(text, Policy()))


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_no_text_makes_the_judge_raise(text: str) -> None:
    for finding in judge(text, Policy()):
        assert finding.rule in RULES
        assert finding.text()


@given(st.lists(st.text(max_size=10), max_size=8), st.text(max_size=40))
def test_no_arguments_make_the_judge_raise(argv: list[str], stdin: str) -> None:
    names = ["xargs", "find", "git", "bash", "chmod", "kill", "dd", "python3", "printf", "sudo"]
    for name in names:
        judge((name, *argv), Policy(), stdin=stdin)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz /.-", max_size=60))
def test_quoted_text_is_never_taken_for_a_command(text: str) -> None:
    assert judge(f"echo 'rm -rf / {text}; reboot'", Policy()) == []
    assert judge(f"git commit -m 'reboot {text}'", Policy()) == []


def test_an_allowed_rule_is_silent_and_the_others_are_not() -> None:
    policy = read_options({"allow": ["git-clean"]})
    assert rules_against("git clean -fdx", policy) == []
    assert rules_against("git clean -fdx; reboot", policy) == ["power-off"]


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/var/lib/app", "rm -rf /var/lib/app/cache"),
        ("/var/lib/app", "rm -rf /var/lib/app/*"),
        ("/var/lib/app/", "find /var/lib/app -delete"),
        ("~/.config", "rm -rf ~/.config"),
        ("~/.config", "find /home/me/.config -delete"),
        (".", "rm -rf ./*"),
        ("/tmp", "rm -rf /tmp/*"),
        ("/etc", "chmod -R 755 /etc"),
        ("/etc", "echo x > /etc/passwd"),
    ],
)
def test_below_an_allowed_path_deleting_is_allowed(path: str, command: str) -> None:
    assert rules_against(command) != []
    assert rules_against(command, read_options({"allowPaths": [path]})) == []


@pytest.mark.parametrize(
    "command",
    ["rm -rf /var/lib/app/../other", "rm -rf /var/lib", "rm -rf /var/lib/apple", "rm -rf /"],
)
def test_an_allowed_path_does_not_reach_beyond_itself(command: str) -> None:
    assert rules_against(command, read_options({"allowPaths": ["/var/lib/app"]})) != []


def test_the_project_directory_and_those_above_it_are_kept() -> None:
    policy = read_options({}, "/data/work/site")
    assert rules_against("rm -rf /data/work/site", policy) == ["remove-working-tree"]
    assert rules_against("rm -rf /data/work/*", policy) == ["remove-working-tree"]
    assert rules_against("rm -rf /data", policy) == ["remove-working-tree"]
    assert rules_against("rm -rf /data/work/site/build /data/work/other", policy) == []
    assert rules_against("rm -rf /data/work") == []


def test_a_project_inside_a_system_directory_may_be_cleaned() -> None:
    policy = read_options({}, "/var/lib/ci/job")
    assert rules_against("rm -rf /var/lib/ci/job/build", policy) == []
    assert rules_against("rm -rf /var/lib/ci", policy) == ["remove-system-path"]


def test_an_extra_rule_finds_its_words_in_order_with_others_between() -> None:
    rule = {"id": "no-publish", "command": "npm publish", "reason": "a person releases"}
    policy = read_options({"extraRules": [{**rule, "instead": "open a pull request"}]})
    assert rules_against("npm --tag next publish .", policy) == ["no-publish"]
    assert rules_against("cd x && sudo npm publish", policy) == ["no-publish"]
    assert rules_against("npm install; echo npm publish", policy) == []
    (finding,) = judge("npm publish", policy)
    assert "a person releases. Found: npm publish. Instead: open a pull request." in finding.text()


def test_an_extra_rule_takes_globs() -> None:
    rule = {"id": "no-prod", "command": "kube* --context=prod*", "reason": "production"}
    policy = read_options({"extraRules": [rule]})
    assert rules_against("kubectl get pods --context=prod-eu", policy) == ["no-prod"]
    assert rules_against("kubectl get pods --context=test", policy) == []


def test_an_answer_that_is_there_counts_when_this_process_stood_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"[]\n")
    os.close(write_end)
    times = iter([0.0])
    monkeypatch.setattr(contained.time, "monotonic", lambda: next(times, 1e9))
    try:
        assert contained._read(read_end) == b"[]\n"
    finally:
        os.close(read_end)
