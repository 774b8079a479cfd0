"""Rules about syntax, labels, layers, and files from the network."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from .containerfile import Containerfile, Stage, Step
from .findings import ERROR, INFO, WARNING, Finding, masked, shown
from .options import Options

SYNTAX, EMPTY_LINE, LABELS = "syntax", "empty-continuation", "missing-labels"
CHAIN, REMOTE = "run-layer-chaining", "remote-add"
_STREAK = 3


def syntax(file: Containerfile, _options: Options) -> Iterator[Finding]:
    for line, text, fix, fatal in file.problems:
        severity, rule = (ERROR, SYNTAX) if fatal else (WARNING, EMPTY_LINE)
        yield Finding(severity, line, rule, shown(text, 200), fix)


def labels(file: Containerfile, options: Options) -> Iterator[Finding]:
    final = file.final
    there: set[str] = set()
    if final is not None:
        there = {name.lower() for stage in final.lineage() for name in stage.labels}
    missing = [name for name in options.labels if name.lower() not in there]
    if missing:
        example = " ".join(f'{shown(name, 60)}="..."' for name in missing)
        yield Finding(
            INFO,
            1 if final is None else final.line,
            LABELS,
            f"the final stage lacks the labels {', '.join(shown(name, 60) for name in missing)}",
            f"Add LABEL {example}",
        )


def layers(file: Containerfile, _options: Options) -> Iterator[Finding]:
    for stage in file.stages:
        yield from _streaks(stage)


def _streaks(stage: Stage) -> Iterator[Finding]:
    streak: list[int] = []
    for step in [*stage.steps, None]:
        if step is not None and step.name == "RUN":
            streak.append(step.line)
            continue
        if len(streak) >= _STREAK:
            yield Finding(
                INFO,
                streak[0],
                CHAIN,
                f"{len(streak)} RUN instructions in a row make {len(streak)} layers",
                "Combine them into one RUN with && or a here-document",
            )
        streak = []


def remote(file: Containerfile, _options: Options) -> Iterator[Finding]:
    for step in file.steps():
        if step.name == "ADD":
            yield from _remote(step)


def _remote(step: Step) -> Iterator[Finding]:
    for word in step.words[:-1]:
        scheme = word.text.partition("://")[0].lower()
        if scheme not in ("http", "https") or _is_git(word.text):
            continue
        checked = step.instruction.flag("checksum")
        if checked:
            continue
        danger = "without encryption or checksum" if scheme == "http" else "without a checksum"
        yield Finding(
            WARNING,
            step.line,
            REMOTE,
            f"ADD fetches {_address(word.text)} {danger}, so anything may arrive",
            "Add --checksum=sha256:<digest>, or fetch with curl in RUN and compare there",
        )


def _is_git(text: str) -> bool:
    return text.partition("#")[0].endswith(".git")


def _address(text: str) -> str:
    """Without user, password and query, which may be secret."""
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError:
        return "a file"
    # Masked before it is cut, since half a secret is not known as one.
    return shown(masked(f"{parts.scheme}://{host}{parts.path}"))
