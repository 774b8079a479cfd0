"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

RULES = (
    "syntax",
    "empty-continuation",
    "non-ubi-base",
    "latest-tag",
    "root-user",
    "missing-user-directive",
    "hardcoded-secret",
    "secret-file",
    "missing-labels",
    "run-layer-chaining",
    "remote-add",
)
_OPTIONS = ("bases", "disable", "labels", "limit", "maxCharacters")
_LABELS = ("name", "version", "summary")
_LIMIT, _MOST_LIMIT = 50, 10_000
_MAX_CHARACTERS, _FEWEST_CHARACTERS, _MOST_CHARACTERS = 256 * 1024, 1024, 1024 * 1024


class OptionError(ValueError):
    """An option is wrong; the text names it and says what it has to be."""


class Options:
    """bases: beginnings of image names that are as good as UBI. disable: rules that are off.
    labels: those that the final stage has to have. limit: findings shown when a call does not
    say. max_characters: the longest file that is read.
    """

    __slots__ = ("bases", "disable", "labels", "limit", "max_characters")

    def __init__(
        self,
        *,
        bases: "tuple[str, ...]" = (),
        disable: "frozenset[str]" = frozenset(),
        labels: "tuple[str, ...]" = _LABELS,
        limit: int = _LIMIT,
        max_characters: int = _MAX_CHARACTERS,
    ) -> None:
        self.bases = bases
        self.disable = disable
        self.labels = labels
        self.limit = limit
        self.max_characters = max_characters


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    for key in options:
        if key not in _OPTIONS:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(_OPTIONS)}')
    disable = frozenset(_texts(options, "disable", ()))
    for rule in sorted(disable - set(RULES)):
        raise OptionError(
            f'option "disable": there is no rule "{rule:.80}"; there are {", ".join(RULES)}'
        )
    return Options(
        bases=_texts(options, "bases", ()),
        disable=disable,
        labels=_texts(options, "labels", _LABELS),
        limit=_number(options, "limit", _LIMIT, 1, _MOST_LIMIT),
        max_characters=_number(
            options, "maxCharacters", _MAX_CHARACTERS, _FEWEST_CHARACTERS, _MOST_CHARACTERS
        ),
    )


def _texts(options: "Mapping[str, Any]", key: str, default: "tuple[str, ...]") -> "tuple[str, ...]":
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not list or not all(type(item) is str and item.strip() for item in value):
        raise OptionError(f'option "{key}" has to be a list of texts, none of them empty')
    return tuple(value)


def _number(options: "Mapping[str, Any]", key: str, default: int, fewest: int, most: int) -> int:
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not int or not fewest <= value <= most:
        raise OptionError(f'option "{key}" has to be a whole number from {fewest} to {most}')
    return value
