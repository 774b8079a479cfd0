"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import OptionError, check_names, number, one_of, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# What is done about secrets in the arguments of a call.
NOTE, IGNORE, DENY, MASK = "note", "ignore", "deny", "mask"
ARGS = (NOTE, IGNORE, DENY, MASK)

_OPTIONS = ("allow", "args", "maxCharacters", "names", "skipTools")
# The least, the default and the most. A host gives a hook some seconds, and passes an output on when it
# gets no answer: the most takes half a second, and less than three with a text made to be slow.
_RANGES = {"maxCharacters": (1024, 256 * 1024, 512 * 1024)}


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
        max_characters: int = _RANGES["maxCharacters"][1],
    ) -> None:
        self.allow = allow
        self.args = args
        self.names = names
        self.skip_tools = skip_tools
        self.max_characters = max_characters


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    check_names(options, _OPTIONS)
    allow = frozenset(texts(options, "allow"))
    if allow:
        _check_classes(allow)
    args = options.get("args")
    return Options(
        allow=allow,
        args=NOTE if args is None else one_of("args", args, ARGS),
        names=frozenset(name.lower().strip("-_.$@") for name in texts(options, "names")) - {""},
        skip_tools=frozenset(texts(options, "skipTools")),
        max_characters=number(options, "maxCharacters", _RANGES),
    )


def _check_classes(allow: "frozenset[str]") -> None:
    # The rules cost an import, which only those pay who use the option.
    from .sanitize import LABELS

    for label in sorted(allow - LABELS):
        raise OptionError(
            f'option "allow": there is no class "{label:.80}"; there are {", ".join(sorted(LABELS))}'
        )
