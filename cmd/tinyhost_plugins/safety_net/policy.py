"""What the person has set: rules switched off, rules added, paths and tools.

Read while the plugin starts, so nothing slow to import is used here.
"""

from .._shared.options import OptionError, check_names, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._")
_OPTIONS = ("allow", "allowPaths", "extraRules", "tools")
_RULE_KEYS = ("id", "command", "reason", "instead")


class ExtraRule:
    """A rule of the user's own: a command word and words among its arguments.

    words: the command and its arguments, in the order in which they have to appear; other
        arguments may stand between. Each may hold the globs * and ?.
    """

    __slots__ = ("id", "instead", "reason", "words")

    def __init__(self, id: str, words: "tuple[str, ...]", reason: str, instead: str) -> None:
        self.id = id
        self.words = words
        self.reason = reason
        self.instead = instead


class Policy:
    """Everything a judgement depends on besides the command itself.

    allow: ids of rules that are switched off.
    allow_paths: directories in which deleting is nobody's business; absolute, or ~/...,
        or relative to the working directory.
    tools: further names of tools that run shell commands, in lower case.
    directory: the project directory; "" when it is not known.
    """

    __slots__ = ("allow", "allow_paths", "directory", "extra", "tools")

    def __init__(
        self,
        *,
        allow: "frozenset[str]" = frozenset(),
        allow_paths: "tuple[str, ...]" = (),
        extra: "tuple[ExtraRule, ...]" = (),
        tools: "frozenset[str]" = frozenset(),
        directory: str = "",
    ) -> None:
        self.allow = allow
        self.allow_paths = allow_paths
        self.extra = extra
        self.tools = tools
        self.directory = directory


def read_options(options: "Mapping[str, Any]", directory: str = "") -> Policy:
    """Build a policy from the plugin's options. Raises OptionError."""
    check_names(options, _OPTIONS)
    extra = _extra_rules(options.get("extraRules"))
    allow = texts(options, "allow")
    if allow:
        _check_ids(allow, extra)
    paths = texts(options, "allowPaths")
    for path in paths:
        if path.rstrip("/") in ("", "~") or ".." in path.split("/"):
            raise OptionError(
                f'option "allowPaths": "{path}" is not taken; name one directory,'
                " as an absolute path, below ~/, or below the working directory"
            )
    return Policy(
        allow=frozenset(allow),
        allow_paths=paths,
        extra=extra,
        tools=frozenset(name.lower() for name in texts(options, "tools")),
        directory=directory,
    )


def _check_ids(allow: "tuple[str, ...]", extra: "tuple[ExtraRule, ...]") -> None:
    # The catalog costs an import, which only those pay who use it.
    from .catalog import RULES

    known = {*RULES, *(rule.id for rule in extra)}
    for id in allow:
        if id not in known:
            raise OptionError(
                f'option "allow": there is no rule "{id}"; there are {_listed(known)}'
            )


def _listed(ids: "set[str]") -> str:
    return ", ".join(sorted(ids))


def _extra_rules(value: object) -> "tuple[ExtraRule, ...]":
    if value is None:
        return ()
    if type(value) is not list:
        raise OptionError('option "extraRules" has to be a list of objects')
    rules: list[ExtraRule] = []
    for number, item in enumerate(value, 1):
        rule = _extra_rule(item, f'option "extraRules", rule {number}')
        if any(rule.id == other.id for other in rules):
            raise OptionError(f'option "extraRules": there are two rules "{rule.id}"')
        rules.append(rule)
    if rules:
        _check_new(rules)
    return tuple(rules)


def _check_new(rules: "list[ExtraRule]") -> None:
    from .catalog import RULES

    for rule in rules:
        if rule.id in RULES:
            raise OptionError(f'option "extraRules": "{rule.id}" is a rule of safety-net already')


def _extra_rule(item: object, where: str) -> ExtraRule:
    if type(item) is not dict:
        raise OptionError(f"{where} has to be an object with id, command and reason")
    for key, value in item.items():
        if key not in _RULE_KEYS:
            raise OptionError(f'{where}: there is no member "{key}"; use {", ".join(_RULE_KEYS)}')
        if type(value) is not str:
            raise OptionError(f'{where}: "{key}" has to be text')
    for key in ("id", "command", "reason"):
        if not item.get(key, "").strip():
            raise OptionError(f'{where}: "{key}" is missing')
    id = item["id"]
    if not _ID_CHARACTERS.issuperset(id) or len(id) > 64:
        raise OptionError(
            f'{where}: the id "{id:.80}" has to be made of at most 64 lower-case letters,'
            " digits, dots, hyphens and underscores"
        )
    return ExtraRule(
        id,
        tuple(item["command"].split()),
        item["reason"].strip(" ."),
        item.get("instead", "").strip(" ."),
    )
