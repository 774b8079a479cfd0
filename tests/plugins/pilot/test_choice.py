"""Which forge is chosen, and with which URL and token."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.pilot.choice import Choice, ChoiceError, choose
from tinyhost_plugins.pilot.options import read_options
from tinyhost_plugins.pilot.remote import NO_REMOTE, Remote

ENV = {"GITHUB_TOKEN": "gh", "GITLAB_TOKEN": "gl", "GITEA_TOKEN": "gt"}


def pick(
    host: str = "", options: dict[str, Any] | None = None, env: dict[str, str] | None = None
) -> Choice:
    remote = Remote(host, "o", "r") if host else "the dog ate it"
    return choose(read_options(options or {}), {**ENV, **(env or {})}, remote)


@pytest.mark.parametrize(
    ("host", "options", "env", "forge", "base"),
    [
        ("github.com", {}, {}, "github", "https://api.github.com"),
        ("ssh.github.com", {}, {}, "github", "https://api.github.com"),
        ("gitlab.com", {}, {}, "gitlab", "https://gitlab.com/api/v4"),
        ("altssh.gitlab.com", {}, {}, "gitlab", "https://gitlab.com/api/v4"),
        ("", {}, {}, "gitea", "http://localhost:3000/api/v1"),
        ("code.example", {}, {}, "gitea", "http://localhost:3000/api/v1"),
        ("github.com", {"provider": "gitlab"}, {}, "gitlab", "https://gitlab.com/api/v4"),
        ("github.com", {}, {"PILOT_PROVIDER": "Gitea "}, "gitea", "http://localhost:3000/api/v1"),
        (
            "x",
            {"provider": "github"},
            {"PILOT_PROVIDER": "gitea"},
            "github",
            "https://api.github.com",
        ),
        (
            "gl.example",
            {},
            {"GITLAB_URL": "https://gl.example/"},
            "gitlab",
            "https://gl.example/api/v4",
        ),
        (
            "gl.example",
            {"gitlabUrl": "https://gl.example/git"},
            {"GITLAB_URL": "https://other.example"},
            "gitlab",
            "https://gl.example/git/api/v4",
        ),
        (
            "ghe.example",
            {"githubUrl": "https://ghe.example/api/v3"},
            {},
            "github",
            "https://ghe.example/api/v3",
        ),
        (
            "firm.ghe.com",
            {},
            {"GITHUB_API_URL": "https://api.firm.ghe.com"},
            "github",
            "https://api.firm.ghe.com",
        ),
        (
            "code.example",
            {"giteaUrl": "https://code.example/api/v1/"},
            {},
            "gitea",
            "https://code.example/api/v1",
        ),
        (
            "work",
            {"hosts": {"Work": "gitlab"}},
            {},
            "gitlab",
            "https://gitlab.com/api/v4",
        ),
    ],
)
def test_options_come_before_variables_before_the_remote(
    host: str, options: dict[str, Any], env: dict[str, str], forge: str, base: str
) -> None:
    choice = pick(host, options, env)
    assert (choice.forge, choice.base) == (forge, base)
    assert choice.token == {"github": "gh", "gitlab": "gl", "gitea": "gt"}[forge]


@pytest.mark.parametrize(
    ("host", "options", "env", "why"),
    [
        ("github.com", {}, {}, "the git remote is at github.com"),
        ("", {}, {}, "the dog ate it"),
        ("a.example", {}, {}, "the git remote is at a.example, which is not known to be another"),
        ("x", {"provider": "gitlab"}, {}, 'the option "provider" says so'),
        ("x", {}, {"PILOT_PROVIDER": "gitlab"}, "PILOT_PROVIDER says so"),
    ],
)
def test_the_reason_is_told(
    host: str, options: dict[str, Any], env: dict[str, str], why: str
) -> None:
    assert pick(host, options, env).why.startswith(why)


def test_a_provider_that_there_is_not_is_an_error_and_not_another_one() -> None:
    with pytest.raises(ChoiceError, match="PILOT_PROVIDER has to be one of github, gitlab, gitea"):
        pick("github.com", env={"PILOT_PROVIDER": "bitbucket"})


def test_the_second_variable_of_github_counts_when_the_first_is_empty() -> None:
    choice = pick("github.com", env={"GITHUB_TOKEN": " ", "GH_TOKEN": "second\n"})
    assert (choice.token, choice.variable) == ("second", "GH_TOKEN")


@pytest.mark.parametrize(
    "url",
    [
        "https://bob:hunter2@code.example",
        "https://code.example?token=hunter2",
        "https://code.example/#hunter2",
        "http://code.example",
        "https://code.example/\x1b[31m",
        "code.example",
    ],
)
def test_a_url_that_cannot_be_used_names_its_variable_and_shows_no_secret(url: str) -> None:
    with pytest.raises(ChoiceError) as caught:
        pick(options={"provider": "gitea"}, env={"GITEA_URL": url})
    text = str(caught.value)
    assert text.startswith("The variable GITEA_URL cannot be used: ")
    assert text.endswith(". Nothing was sent.")
    assert "hunter2" not in text
    assert text.isprintable()


def test_an_option_that_cannot_be_used_is_named_where_its_forge_is_chosen() -> None:
    options = {"giteaUrl": "http://code.example", "provider": "gitea"}
    with pytest.raises(ChoiceError, match=r'^The option "giteaUrl" cannot'):
        pick(options=options, env={"GITEA_URL": "https://code.example"})
    assert pick(options={**options, "provider": "gitlab"}).forge == "gitlab"


@pytest.mark.parametrize(
    ("forge", "variables"),
    [
        ("github", "GITHUB_TOKEN or GH_TOKEN"),
        ("gitlab", "GITLAB_TOKEN"),
        ("gitea", "GITEA_TOKEN"),
    ],
)
def test_a_missing_token_names_the_variable_and_the_choice(forge: str, variables: str) -> None:
    with pytest.raises(ChoiceError) as caught:
        choose(read_options({"provider": forge}), {}, NO_REMOTE)
    first, second = str(caught.value).split("\n")
    assert f"set {variables} in the environment" in first
    assert "passEnv" in first
    assert 'was chosen because the option "provider" says so' in second
