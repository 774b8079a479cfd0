"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

GITHUB, GITLAB, GITEA = "github", "gitlab", "gitea"
FORGES = (GITHUB, GITLAB, GITEA)

_URLS = {"githubUrl": GITHUB, "gitlabUrl": GITLAB, "giteaUrl": GITEA}
_OPTIONS = (
    *("provider", "remote", "hosts", *_URLS),
    *("timeoutSeconds", "tries", "maxResponseBytes", "caFile"),
)
_MIB = 1024 * 1024


class OptionError(ValueError):
    """An option is wrong; the text names it and says what it has to be."""


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
        seconds: int = 25,
        tries: int = 3,
        max_bytes: int = 2 * _MIB,
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
    for key in options:
        if key not in _OPTIONS:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(_OPTIONS)}')
    given = {key: value for key, value in options.items() if value is not None}
    remote = _text(given, "remote", "origin")
    if remote.startswith("-"):
        raise OptionError('option "remote" has to be the name of a git remote')
    return Options(
        provider=_forge("provider", given["provider"]) if "provider" in given else "",
        remote=remote,
        hosts=_hosts(given.get("hosts", {})),
        urls={forge: _url(given, key) for key, forge in _URLS.items() if key in given},
        directory=directory,
        # A host gives a tool half a minute, unless it is told otherwise.
        seconds=_number(given, "timeoutSeconds", 25, 1, 600),
        tries=_number(given, "tries", 3, 1, 10),
        max_bytes=_number(given, "maxResponseBytes", 2 * _MIB, 64 * 1024, 64 * _MIB),
        ca_file=_text(given, "caFile", ""),
    )


def _text(options: "Mapping[str, Any]", key: str, default: str) -> str:
    value = options.get(key, default)
    if type(value) is not str or (key in options and not (value.strip() and value.isprintable())):
        raise OptionError(f'option "{key}" has to be a text of one line')
    return value


def _url(options: "Mapping[str, Any]", key: str) -> str:
    value = _text(options, key, "").strip()
    # The rest is checked where it is used, by what takes longer to load.
    if not value.startswith(("https://", "http://")) or "@" in value:
        raise OptionError(
            f'option "{key}" has to be a URL that begins with https:// (http:// for this machine'
            " only), without user and password"
        )
    return value


def _forge(what: str, value: object) -> str:
    if value not in FORGES:
        raise OptionError(f'option "{what}" has to be one of {", ".join(FORGES)}')
    return str(value)


def _hosts(value: object) -> "dict[str, str]":
    if type(value) is not dict or not all(host.strip() for host in value):
        raise OptionError('option "hosts" has to be an object, as in {"git.example.com": "gitlab"}')
    return {host.strip().lower(): _forge(f"hosts.{host:.80}", value[host]) for host in value}


def _number(options: "Mapping[str, Any]", key: str, default: int, least: int, most: int) -> int:
    value = options.get(key, default)
    if type(value) is not int or not least <= value <= most:
        raise OptionError(f'option "{key}" has to be a whole number from {least} to {most}')
    return value
