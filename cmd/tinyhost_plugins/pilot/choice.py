"""Which forge a call goes to: by what the person has set, else by the git remote."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from typing import NamedTuple

from .._shared.http_answers import HttpError
from .._shared.http_urls import check_base
from .options import FORGES, GITEA, GITHUB, GITLAB, Options
from .remote import Remote

NAMES = {GITHUB: "GitHub", GITLAB: "GitLab", GITEA: "Gitea"}
# The variables that may hold a forge's token, the first that is set counts.
TOKENS = {
    GITHUB: ("GITHUB_TOKEN", "GH_TOKEN"),
    GITLAB: ("GITLAB_TOKEN",),
    GITEA: ("GITEA_TOKEN",),
}
_PROVIDER = "PILOT_PROVIDER"
_URL_VARIABLES = {GITHUB: "GITHUB_API_URL", GITLAB: "GITLAB_URL", GITEA: "GITEA_URL"}
_DEFAULT_URLS = {
    GITHUB: "https://api.github.com",
    GITLAB: "https://gitlab.com",
    GITEA: "http://localhost:3000",
}
_API_PATHS = {GITHUB: "", GITLAB: "/api/v4", GITEA: "/api/v1"}
_HOSTS = {
    "github.com": GITHUB,
    "ssh.github.com": GITHUB,
    "gitlab.com": GITLAB,
    "altssh.gitlab.com": GITLAB,
}


class ChoiceError(ValueError):
    """No forge can be used; the text says what to set."""


class Choice(NamedTuple):
    """forge: one of options.FORGES. base: URL of its API. variable: where the token is from.
    why: how it came to this forge, in words that follow "because".
    """

    forge: str
    base: str
    token: str
    variable: str
    why: str

    @property
    def name(self) -> str:
        return NAMES[self.forge]

    @property
    def advice(self) -> str:
        """What to set when there is no such server; "" where the person has said where it is."""
        if self.base != _base(GITEA, _DEFAULT_URLS[GITEA]):
            return ""
        return (
            'Set the option "giteaUrl" or the variable GITEA_URL if it is elsewhere, or the option'
            ' "provider" if it is another forge.'
        )


def choose(options: Options, env: Mapping[str, str], remote: Remote | str) -> Choice:
    """The forge to talk to, with its token. Raises ChoiceError.

    remote: the git remote, or words on why there is none.
    """
    urls = {forge: _url(forge, options, env) for forge in FORGES}
    forge, why = _forge(options, env, remote, urls)
    base = _base(forge, urls[forge])
    try:
        check_base(base)
    except HttpError as error:
        option, variable = f'option "{forge}Url"', f"variable {_URL_VARIABLES[forge]}"
        where = option if options.urls.get(forge) else variable
        raise ChoiceError(f"The {where} cannot be used: {error}. Nothing was sent.") from None
    for variable in TOKENS[forge]:
        token = env.get(variable, "").strip()
        if token:
            return Choice(forge, base, token, variable, why)
    variables = " or ".join(TOKENS[forge])
    raise ChoiceError(
        f"There is no token for {NAMES[forge]}: set {variables} in the environment, and name it in"
        f' the setting "passEnv" of the plugin. Nothing was sent.\n'
        f'{NAMES[forge]} was chosen because {why}; the option "provider" chooses another.'
    )


def _forge(
    options: Options, env: Mapping[str, str], remote: Remote | str, urls: Mapping[str, str]
) -> tuple[str, str]:
    if options.provider:
        return options.provider, 'the option "provider" says so'
    wanted = env.get(_PROVIDER, "").strip().lower()
    if wanted:
        if wanted not in FORGES:
            raise ChoiceError(
                f"{_PROVIDER} has to be one of {', '.join(FORGES)}. Nothing was sent."
            )
        return wanted, f"{_PROVIDER} says so"
    if isinstance(remote, str):
        return GITEA, remote
    where = f"the git remote is at {remote.host}"
    known = {**_HOSTS, **{_web_host(urls[forge]): forge for forge in FORGES}, **options.hosts}
    if remote.host in known:
        return known[remote.host], where
    return GITEA, f"{where}, which is not known to be another forge"


def _url(forge: str, options: Options, env: Mapping[str, str]) -> str:
    given = options.urls.get(forge) or env.get(_URL_VARIABLES[forge], "").strip()
    return given.rstrip("/") or _DEFAULT_URLS[forge]


def _base(forge: str, url: str) -> str:
    path = _API_PATHS[forge]
    return url if url.endswith(path) else url + path


def _web_host(url: str) -> str:
    """The host where a forge's repositories are, from the URL of its API."""
    try:
        return (urllib.parse.urlsplit(url).hostname or "").removeprefix("api.")
    except ValueError:
        return ""
