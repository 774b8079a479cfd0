"""What the person can set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.ocp_context_injection.options import OptionError, read_options

SECRET = "s3cret-value"


def test_without_options_the_usual_ones_hold() -> None:
    for given in ({}, {"apiUrl": None, "clientId": "", "atStart": None, "maxNames": None}):
        options = read_options(given, {})
        assert (options.sso_url, options.console_url, options.client_id) == (
            "https://sso.redhat.com",
            "https://console.redhat.com",
            "cloud-services",
        )
        assert (options.at_start, options.insecure, options.api_url) == (True, False, "")
        assert (options.start_seconds, options.seconds) == (3, 25)
        assert (options.max_age, options.max_names) == (60, 50)


def test_tokens_come_from_the_options_or_else_from_the_environment() -> None:
    environ = {"OCP_API_TOKEN": "env-api\n", "OCP_OFFLINE_TOKEN": "env-offline"}
    options = read_options({}, environ)
    assert (options.api_token, options.offline_token) == ("env-api", "env-offline")
    given = {"apiUrl": "https://x", "apiToken": "own", "consoleOfflineToken": "mine"}
    options = read_options(given, environ)
    assert (options.api_token, options.offline_token) == ("own", "mine")


def test_paths_may_begin_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    options = read_options({"caFile": "~/ca.pem", "kubeconfig": "/etc/kube:/etc/more"}, {})
    assert options.ca_file == str(Path("/somewhere/ca.pem"))
    assert options.kubeconfig == "/etc/kube:/etc/more"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"apiURL": "https://x"}, 'there is no option "apiURL"; there are apiUrl, apiToken,'),
        ({"apiToken": SECRET}, 'option "apiToken" needs "apiUrl"'),
        ({"apiUrl": f"https://u:{SECRET}@x"}, 'option "apiUrl" has to be a URL that begins with'),
        ({"ssoUrl": "ftp://x"}, 'option "ssoUrl" has to be a URL'),
        ({"consoleUrl": "sso.redhat.com"}, 'option "consoleUrl" has to be a URL'),
        ({"consoleOfflineToken": f"{SECRET}\n"}, '"consoleOfflineToken" has to be a text of one'),
        ({"clusterId": 7}, 'option "clusterId" has to be a text of one line'),
        ({"caFile": "ca.pem"}, 'option "caFile" has to be a path that begins with / or ~/'),
        ({"kubeconfig": "./x"}, 'option "kubeconfig" has to be a path'),
        ({"insecureSkipTlsVerify": "true"}, '"insecureSkipTlsVerify" has to be true or false'),
        ({"atStart": 1}, 'option "atStart" has to be true or false'),
        ({"startSeconds": 0}, 'option "startSeconds" has to be a whole number from 1 to 60'),
        ({"timeoutSeconds": 2.5}, 'option "timeoutSeconds" has to be a whole number'),
        ({"maxNames": True}, 'option "maxNames" has to be a whole number from 1 to 1000'),
    ],
)
def test_a_wrong_option_is_named_and_its_value_is_not_told(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options, {})
    assert said in str(caught.value)
    assert SECRET not in str(caught.value)
