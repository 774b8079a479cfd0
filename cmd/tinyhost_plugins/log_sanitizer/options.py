"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# What is done about secrets in the arguments of a call.
NOTE, IGNORE, DENY, MASK = "note", "ignore", "deny", "mask"
ARGS = (NOTE, IGNORE, DENY, MASK)

_OPTIONS = ("allow", "args", "maxCharacters", "names", "skipTools")
# A host gives a hook some seconds; this takes a fraction of one, whatever the text is.
_MAX_CHARACTERS = 256 * 1024
_MOST_CHARACTERS = 2 * 1024 * 1024
_FEWEST_CHARACTERS = 1024


class OptionError(ValueError):
    """An option is wrong; the text names it and says what it has to be."""


class Options:
    """allow: classes that are not masked. args: one of ARGS. names: further names whose values
    are secret, in lower case. skip_tools: tools that are left alone. max_characters: how much
    of a text is read; the rest is left out.
    """

    __slots__ = ("allow", "args", "max_characters", "names", "skip_tools")

    def __init__(
        self,
        *,
        allow: "frozenset[str]" = frozenset(),
        args: str = NOTE,
        names: "frozenset[str]" = frozenset(),
        skip_tools: "frozenset[str]" = frozenset(),
        max_characters: int = _MAX_CHARACTERS,
    ) -> None:
        self.allow = allow
        self.args = args
        self.names = names
        self.skip_tools = skip_tools
        self.max_characters = max_characters


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    for key in options:
        if key not in _OPTIONS:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(_OPTIONS)}')
    allow = _texts(options, "allow")
    if allow:
        _check_classes(allow)
    return Options(
        allow=allow,
        args=_args(options.get("args")),
        names=frozenset(name.lower().strip("-_.$@") for name in _texts(options, "names")),
        skip_tools=_texts(options, "skipTools"),
        max_characters=_characters(options.get("maxCharacters")),
    )


def _texts(options: "Mapping[str, Any]", key: str) -> "frozenset[str]":
    value = options.get(key)
    if value is None:
        return frozenset()
    if type(value) is not list or not all(type(item) is str and item.strip() for item in value):
        raise OptionError(f'option "{key}" has to be a list of texts, none of them empty')
    return frozenset(value)


def _args(value: object) -> str:
    if value is None:
        return NOTE
    if value not in ARGS:
        raise OptionError(f'option "args" has to be one of {", ".join(ARGS)}')
    return str(value)


def _characters(value: object) -> int:
    if value is None:
        return _MAX_CHARACTERS
    if type(value) is not int or not _FEWEST_CHARACTERS <= value <= _MOST_CHARACTERS:
        raise OptionError(
            'option "maxCharacters" has to be a whole number'
            f" from {_FEWEST_CHARACTERS} to {_MOST_CHARACTERS}"
        )
    return value


def _check_classes(allow: "frozenset[str]") -> None:
    # The rules cost an import, which only those pay who use the option.
    from .sanitize import LABELS

    for label in sorted(allow - LABELS):
        raise OptionError(
            f'option "allow": there is no class "{label:.80}"; there are {", ".join(sorted(LABELS))}'
        )
