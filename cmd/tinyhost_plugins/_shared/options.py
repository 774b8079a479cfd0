"""Checks of a plugin's options. Used while a plugin starts, so nothing slow to import is used."""

from tinyhost_sdk import HandlerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    # By name of a number: the least, the default and the most.
    Ranges = Mapping[str, tuple[int, int, int]]


class OptionError(HandlerError):
    """An option is wrong; the text names it and says what it has to be.

    Raised while the plugin is initialized, it fails the load with that text.
    """


def check_names(options: "Mapping[str, Any]", known: "Iterable[str]") -> None:
    """Raises OptionError for an option that is not known."""
    for key in options:
        if key not in known:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(known)}')


def number(options: "Mapping[str, Any]", key: str, ranges: "Ranges") -> int:
    """A whole number, or its default when it is not set. Raises OptionError."""
    least, default, most = ranges[key]
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not int or not least <= value <= most:
        raise OptionError(f'option "{key}" has to be a whole number from {least} to {most}')
    return value


def texts(
    options: "Mapping[str, Any]", key: str, default: "tuple[str, ...]" = ()
) -> "tuple[str, ...]":
    """A list of texts, none of them blank. Raises OptionError."""
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not list or not all(type(item) is str and item.strip() for item in value):
        raise OptionError(f'option "{key}" has to be a list of texts, none of them empty')
    return tuple(value)


def one_of(key: str, value: object, choices: "tuple[str, ...]") -> str:
    """The value, which is one of the choices. Raises OptionError."""
    if value not in choices:
        raise OptionError(f'option "{key}" has to be one of {", ".join(choices)}')
    return str(value)


def check_url(key: str, value: str) -> None:
    """Raises OptionError for a text that begins unlike a URL, or has a user in it.

    The rest is checked where the URL is used, by what takes longer to load.
    """
    if "@" in value or not value.startswith(("https://", "http://")):
        raise OptionError(
            f'option "{key}" has to be a URL that begins with https:// (http:// for this machine'
            " only), without user and password"
        )
