from __future__ import annotations

import pytest

from tinyhost.environment import child_environment, secret_values, working_directory
from tinyhost.errors import ConfigError
from tinyhost.model import PluginSettings


def build(environ: dict[str, str], **settings: object) -> dict[str, str]:
    return child_environment(PluginSettings(**settings), environ)  # type: ignore[arg-type]


def test_only_the_small_default_set_is_handed_on() -> None:
    environ = {
        "PATH": "/bin",
        "HOME": "/h",
        "LANG": "C",
        "LC_ALL": "C",
        "LC_TIME": "C",
        "TMPDIR": "/t",
        "SSL_CERT_FILE": "/c",
        "GITHUB_TOKEN": "x",
        "LD_PRELOAD": "/evil.so",
        "PYTHONPATH": "/p",
        "TINYHOST_CONFIG_DIR": "/c",
        "XDG_SESSION_ID": "1",
    }
    kept = ["PATH", "HOME", "LANG", "LC_ALL", "LC_TIME", "TMPDIR", "SSL_CERT_FILE"]
    assert build(environ) == {name: environ[name] for name in kept}


def test_an_empty_environment_stays_empty() -> None:
    assert build({}) == {}


def test_named_variables_are_passed_also_by_their_beginning() -> None:
    environ = {"AWS_PROFILE": "a", "AWS_REGION": "b", "AWS": "c", "OTHER": "d", "KUBECONFIG": "e"}
    found = build(environ, pass_env=("AWS_*", "KUBECONFIG", "MISSING"))
    assert found == {"AWS_PROFILE": "a", "AWS_REGION": "b", "KUBECONFIG": "e"}


def test_a_star_alone_passes_nothing() -> None:
    assert build({"A": "1"}, pass_env=("*",)) == {}


def test_set_variables_win_over_passed_ones() -> None:
    assert build(
        {"A": "host", "PATH": "/bin"}, pass_env=("A",), env={"A": "own", "PATH": "/x"}
    ) == {
        "A": "own",
        "PATH": "/x",
    }


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("plain", "plain"),
        ("${A}", "one"),
        ("<${A}-${A}>", "<one-one>"),
        ("${EMPTY}", ""),
        ("${EMPTY:-d}", "d"),
        ("${NONE:-d e}", "d e"),
        ("${NONE:-}", ""),
        ("${A:-d}", "one"),
        ("$$", "$"),
        ("$${A}", "${A}"),
        ("$$$$", "$$"),
        ("$A", "$A"),
        ("a$", "a$"),
        ("${RECURSIVE}", "${A}"),
    ],
)
def test_references_are_expanded_once(value: str, expanded: str) -> None:
    environ = {"A": "one", "EMPTY": "", "RECURSIVE": "${A}"}
    assert build(environ, env={"X": value}) == {"X": expanded}


def test_a_missing_variable_without_a_default_is_named() -> None:
    with pytest.raises(ConfigError, match="the variable NONE is not set") as caught:
        build({}, env={"X": "s3cret-${NONE}"})
    assert caught.value.key == "env.X"
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("value", ["${", "${A", "${}", "${1}", "${A-b}", "${A B}"])
def test_a_malformed_reference_is_an_error(value: str) -> None:
    with pytest.raises(ConfigError, match="write \\$\\$ for a dollar sign"):
        build({"A": "x"}, env={"X": value})


def test_secrets_of_host_settings_and_options_are_collected() -> None:
    settings = PluginSettings(env={"API_TOKEN": "tok-${PART}", "URL": "http://u:pass-word@h"})
    environ = {"PART": "part-1", "GITHUB_TOKEN": "gh-secret", "HOME": "/home/me"}
    found = secret_values(settings, environ, {"password": "option-pass"})
    assert found == {"tok-part-1", "pass-word", "gh-secret", "option-pass"}


HOST = {
    "PATH": "/bin",
    "EDITOR": "vi",
    "NVM_DIR": "/nvm",
    "GITHUB_TOKEN": "gh",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "AWS_REGION": "eu",
}


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        ({}, ["PATH"]),
        ({"pass_env": ("EDITOR",)}, ["PATH", "EDITOR"]),
        ({"pass_env": ("GITHUB_TOKEN",)}, ["PATH", "GITHUB_TOKEN"]),
        ({"inherit_env": True}, ["PATH", "EDITOR", "NVM_DIR", "AWS_REGION"]),
        (
            {"inherit_env": True, "pass_env": ("GITHUB_TOKEN",)},
            ["PATH", "EDITOR", "NVM_DIR", "GITHUB_TOKEN", "AWS_REGION"],
        ),
        (
            {"inherit_env": True, "pass_env": ("AWS_*",)},
            ["PATH", "EDITOR", "NVM_DIR", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"],
        ),
    ],
)
def test_which_variables_each_policy_hands_on(policy: dict[str, object], names: list[str]) -> None:
    assert list(build(HOST, **policy)) == names


def test_set_variables_win_over_inherited_ones() -> None:
    found = build(HOST, inherit_env=True, env={"EDITOR": "ed", "API_TOKEN": "${GITHUB_TOKEN}"})
    assert (found["EDITOR"], found["API_TOKEN"]) == ("ed", "gh")


@pytest.mark.parametrize(
    ("written", "where"),
    [
        (None, "/project"),
        ("/d", "/d"),
        ("${NVM_DIR}/x/../y", "/nvm/y"),
        ("${NONE:-/else}", "/else"),
        ("/cost$$", "/cost$"),
    ],
)
def test_a_working_directory_is_expanded_like_a_variable(written: str | None, where: str) -> None:
    settings = PluginSettings(directory=written)
    assert working_directory(settings, HOST, "/project") == where


@pytest.mark.parametrize("written", ["${EDITOR}", "${NONE}", "${", "${NONE:-}"])
def test_a_working_directory_that_is_no_path_is_refused(written: str) -> None:
    with pytest.raises(ConfigError) as caught:
        working_directory(PluginSettings(directory=written), HOST, "/project")
    assert caught.value.key == "directory"
