"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import OptionError, check_names, check_url, number, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

GITHUB, GITLAB, GITEA = "github", "gitlab", "gitea"
FORGES = (GITHUB, GITLAB, GITEA)

_URLS = {"githubUrl": GITHUB, "gitlabUrl": GITLAB, "giteaUrl": GITEA}
_MIB = 1024 * 1024
# The least, the default and the most of each option that is a number.
_RANGES = {
    # A host gives a tool half a minute, unless it is told otherwise.
    "timeoutSeconds": (1, 25, 600),
    "tries": (1, 3, 10),
    "maxResponseBytes": (64 * 1024, 2 * _MIB, 64 * _MIB),
}
_OPTIONS = ("provider", "remote", "hosts", *_URLS, *_RANGES, "caFile")


class Options:
    """provider: one of FORGES, "" to choose by the git remote. urls: base URLs by forge.
    hosts: forges by the host of a remote. remote: the git remote that is looked at.
    directory: where the repository is when a call does not say. seconds: for one call.
    ca_file: certificates to trust instead of the system's, "" for none.
    """

    __slots__ = (
        *("ca_file", "directory", "hosts", "max_bytes"),
        *("provider", "remote", "seconds", "tries", "urls"),
    )

    def __init__(
        self,
        *,
        provider: str = "",
        remote: str = "origin",
        hosts: "Mapping[str, str] | None" = None,
        urls: "Mapping[str, str] | None" = None,
        directory: str = "",
        seconds: int = _RANGES["timeoutSeconds"][1],
        tries: int = _RANGES["tries"][1],
        max_bytes: int = _RANGES["maxResponseBytes"][1],
        ca_file: str = "",
    ) -> None:
        self.provider = provider
        self.remote = remote
        self.hosts = hosts or {}
        self.urls = urls or {}
        self.directory = directory
        self.seconds = seconds
        self.tries = tries
        self.max_bytes = max_bytes
        self.ca_file = ca_file


def read_options(options: "Mapping[str, Any]", directory: str = "") -> Options:
    """Check the plugin's options. Raises OptionError."""
    check_names(options, _OPTIONS)
    given = {key: value for key, value in options.items() if value is not None}
    remote = _text(given, "remote", "origin")
    if remote.startswith("-"):
        raise OptionError('option "remote" has to be the name of a git remote')
    return Options(
        provider=one_of("provider", given["provider"], FORGES) if "provider" in given else "",
        remote=remote,
        hosts=_hosts(given.get("hosts", {})),
        urls={forge: _url(given, key) for key, forge in _URLS.items() if key in given},
        directory=directory,
        seconds=number(given, "timeoutSeconds", _RANGES),
        tries=number(given, "tries", _RANGES),
        max_bytes=number(given, "maxResponseBytes", _RANGES),
        ca_file=_text(given, "caFile", ""),
    )


def _text(options: "Mapping[str, Any]", key: str, default: str) -> str:
    value = options.get(key, default)
    if type(value) is not str or (key in options and not (value.strip() and value.isprintable())):
        raise OptionError(f'option "{key}" has to be a text of one line')
    return value


def _url(options: "Mapping[str, Any]", key: str) -> str:
    value = _text(options, key, "").strip()
    check_url(key, value)
    return value


def _hosts(value: object) -> "dict[str, str]":
    if type(value) is not dict or not all(host.strip() for host in value):
        raise OptionError('option "hosts" has to be an object, as in {"git.example.com": "gitlab"}')
    return {
        host.strip().lower(): one_of(f"hosts.{host:.80}", forge, FORGES)
        for host, forge in value.items()
    }
