"""The environment a plugin starts with: a small default set and what the settings name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tinyhost import paths
from tinyhost.errors import ConfigError
from tinyhost.model import PluginSettings
from tinyhost.redaction import looks_secret, redact, secrets_in

__all__ = [
    "child_environment",
    "expand",
    "looks_secret",
    "redact",
    "secret_values",
    "working_directory",
]

DEFAULT_NAMES = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TERM",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_RUNTIME_DIR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    }
)
_DEFAULT_PREFIX = "LC_"
# "$$", a whole "${NAME}" or "${NAME:-default}", or the beginning of one that is not whole.
_REFERENCE = re.compile(r"\$\$|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<rest>:-[^}]*)?\})?")


def child_environment(settings: PluginSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """Build a plugin's environment from its settings and the host's environment.

    Set variables win over passed ones. Their values may refer to the host's variables; see
    expand. With inherit_env all are passed but those whose names look secret, which
    pass_env has to name. Raises ConfigError for a variable that is missing.
    """
    found = {name: value for name, value in environ.items() if _passes(name, settings)}
    for name, value in settings.env.items():
        found[name] = expand(value, environ, f"env.{name}")
    return found


def secret_values(
    settings: PluginSettings,
    environ: Mapping[str, str],
    options: Mapping[str, Any] | None = None,
) -> set[str]:
    """What must be masked in a plugin's log: secrets of its environment, options, and the host.

    The host's own secrets count although they are not handed on: a plugin of the same user
    has other ways to them. Raises as child_environment does.
    """
    own = child_environment(settings, environ)
    return secrets_in(environ) | secrets_in(own) | secrets_in(options or {})


def working_directory(settings: PluginSettings, environ: Mapping[str, str], project: str) -> str:
    """Where a plugin runs: as its settings say, else in the project.

    Raises ConfigError for a missing variable, and for one that makes the path relative.
    """
    if settings.directory is None:
        return project
    found = expand(settings.directory, environ, "directory")
    if not found.startswith(("/", "~")):
        reason = f"{settings.directory!r} must lead to an absolute path, or one that begins with ~"
        raise ConfigError(reason, key="directory")
    return str(paths.absolute(found))


def expand(text: str, environ: Mapping[str, str], key: str) -> str:
    """Put variables into a text: the one rule for all settings that may refer to them.

    ${NAME} is the host's variable, ${NAME:-default} falls back where it is unset or empty, $$
    is a dollar sign; what is put in is not looked at again. Raises ConfigError, naming `key`,
    for a variable that is missing.
    """

    def replace(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        variable, rest = match["name"], match["rest"]
        if variable is None:
            reason = "'${' must begin ${NAME} or ${NAME:-default}; write $$ for a dollar sign"
            raise ConfigError(reason, key=key)
        if rest is not None:
            return environ.get(variable) or rest[2:]
        if variable not in environ:
            reason = (
                f"the variable {variable} is not set; set it, or write ${{{variable}:-default}}"
            )
            raise ConfigError(reason, key=key)
        return environ[variable]

    return _REFERENCE.sub(replace, text)


def _passes(name: str, settings: PluginSettings) -> bool:
    if name in DEFAULT_NAMES or name.startswith(_DEFAULT_PREFIX):
        return True
    if settings.inherit_env and not looks_secret(name):
        return True
    return any(
        name.startswith(pattern[:-1])
        if pattern.endswith("*") and pattern != "*"
        else name == pattern
        for pattern in settings.pass_env
    )
