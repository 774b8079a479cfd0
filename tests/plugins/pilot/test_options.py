"""Options: what is taken, and how a wrong one is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.pilot.options import OptionError, read_options


def test_nothing_is_needed() -> None:
    options = read_options({}, "/data")
    assert (options.provider, options.remote, options.ca_file) == ("", "origin", "")
    assert (options.seconds, options.tries, options.max_bytes) == (25, 3, 2 * 1024 * 1024)
    assert (options.urls, options.hosts, options.directory) == ({}, {}, "/data")


def test_all_options_are_taken() -> None:
    options = read_options(
        {
            "provider": "gitlab",
            "remote": "upstream",
            "hosts": {"Git.Example ": "gitea"},
            "githubUrl": "https://ghe.example/api/v3",
            "gitlabUrl": " https://gl.example ",
            "giteaUrl": "http://localhost:3000",
            "timeoutSeconds": 60,
            "tries": 1,
            "maxResponseBytes": 65536,
            "caFile": "/etc/ca.pem",
        }
    )
    assert (options.provider, options.remote, options.ca_file) == (
        "gitlab",
        "upstream",
        "/etc/ca.pem",
    )
    assert (options.seconds, options.tries, options.max_bytes) == (60, 1, 65536)
    assert options.hosts == {"git.example": "gitea"}
    assert options.urls == {
        "github": "https://ghe.example/api/v3",
        "gitlab": "https://gl.example",
        "gitea": "http://localhost:3000",
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"url": "x"}, 'there is no option "url"; there are provider, '),
        ({"provider": "bitbucket"}, '"provider" has to be one of github, gitlab, gitea'),
        ({"provider": ["github"]}, '"provider" has to be one of'),
        ({"remote": "--upload-pack=x"}, '"remote" has to be the name of a git remote'),
        ({"remote": ""}, '"remote" has to be a text of one line'),
        ({"hosts": ["x"]}, '"hosts" has to be an object'),
        ({"hosts": {"": "github"}}, '"hosts" has to be an object'),
        ({"hosts": {"x": "svn"}}, '"hosts.x" has to be one of github'),
        ({"giteaUrl": "gitea.example"}, '"giteaUrl" has to be a URL that begins with https://'),
        ({"gitlabUrl": "https://u:hunter2@x"}, '"gitlabUrl" has to be a URL'),
        ({"timeoutSeconds": 0}, '"timeoutSeconds" has to be a whole number from 1 to 600'),
        ({"tries": 2.5}, '"tries" has to be a whole number from 1 to 10'),
        ({"maxResponseBytes": True}, '"maxResponseBytes" has to be a whole number'),
        ({"caFile": 5}, '"caFile" has to be a text of one line'),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options)
    assert text in str(caught.value)
    assert "hunter2" not in str(caught.value)
