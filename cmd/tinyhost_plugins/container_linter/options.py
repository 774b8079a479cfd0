"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import OptionError, check_names, number, texts

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
_LABELS = ("name", "version", "summary")
# Findings that a call shows at most.
MOST_SHOWN = 10_000
# The least, the default and the most of each option that is a number.
_RANGES = {"limit": (1, 50, MOST_SHOWN), "maxCharacters": (1024, 256 * 1024, 1024 * 1024)}
_OPTIONS = ("bases", "disable", "labels", *_RANGES)


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
        limit: int = _RANGES["limit"][1],
        max_characters: int = _RANGES["maxCharacters"][1],
    ) -> None:
        self.bases = bases
        self.disable = disable
        self.labels = labels
        self.limit = limit
        self.max_characters = max_characters


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    check_names(options, _OPTIONS)
    disable = frozenset(texts(options, "disable"))
    for rule in sorted(disable - set(RULES)):
        raise OptionError(
            f'option "disable": there is no rule "{rule:.80}"; there are {", ".join(RULES)}'
        )
    return Options(
        bases=texts(options, "bases"),
        disable=disable,
        labels=texts(options, "labels", _LABELS),
        limit=number(options, "limit", _RANGES),
        max_characters=number(options, "maxCharacters", _RANGES),
    )
