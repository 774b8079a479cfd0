"""All rules over one Containerfile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import rules_base, rules_build, rules_secrets, rules_user
from .containerfile import Containerfile, read
from .findings import Finding
from .options import Options

_CHECKS: tuple[Callable[[Containerfile, Options], Iterator[Finding]], ...] = (
    rules_build.syntax,
    rules_base.check,
    rules_user.check,
    rules_secrets.check,
    rules_secrets.files,
    rules_build.labels,
    rules_build.layers,
    rules_build.remote,
)


def lint(text: str, options: Options) -> list[Finding]:
    """What the rules find, without those that are switched off. Raises TooManyStagesError."""
    file = read(text)
    return [
        finding
        for check in _CHECKS
        for finding in check(file, options)
        if finding.rule not in options.disable
    ]
