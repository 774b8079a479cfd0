"""Rules about base images."""

from __future__ import annotations

from collections.abc import Iterator

from .containerfile import Containerfile, Stage
from .findings import INFO, WARNING, Finding, shown
from .images import bootc_reason, is_external, is_ubi
from .options import Options

NON_UBI, LATEST = "non-ubi-base", "latest-tag"


def check(file: Containerfile, options: Options) -> Iterator[Finding]:
    for stage in file.stages:
        if stage.parent is None and not stage.has_known_name:
            if not _may_be_stage(stage, file):
                yield _unknown(stage)
        elif is_external(stage):
            yield from _origin(stage, options)
            yield from _tag(stage)


def _may_be_stage(stage: Stage, file: Containerfile) -> bool:
    """Whether FROM base-$TARGETARCH and the like name one of the stages above."""
    text = stage.base.text.lower()
    before = text.partition("$")[0]
    last = text.rpartition("$")[2].removeprefix("{")
    after = last.removeprefix(stage.base.unknown[-1].lower()).removeprefix("}")
    names = [one.name for one in file.stages[: stage.index] if one.name]
    return bool(before or after) and any(
        name.startswith(before) and name.endswith(after) and len(name) > len(before + after)
        for name in names
    )


def _unknown(stage: Stage) -> Finding:
    names = ", ".join(shown(name, 40) for name in stage.base.unknown)
    return Finding(
        INFO,
        stage.line,
        NON_UBI,
        f'base image "{shown(stage.base.text)}" cannot be judged: {names} has no value in the file',
        "Give the ARG a default, such as registry.access.redhat.com/ubi9/ubi:9.5",
    )


def _origin(stage: Stage, options: Options) -> Iterator[Finding]:
    if is_ubi(stage.image, options.bases) or bootc_reason(stage):
        return
    yield Finding(
        WARNING,
        stage.line,
        NON_UBI,
        f'base image "{shown(stage.base.text)}" is not a Red Hat Universal Base Image',
        "Use a UBI base such as registry.access.redhat.com/ubi9/ubi:9.5",
    )


def _tag(stage: Stage) -> Iterator[Finding]:
    image = stage.image
    # A tag that a build argument gives is there, whatever it is.
    if image.digest or image.tag not in ("", "latest"):
        return
    how = "the tag latest" if image.tag else "neither tag nor digest, which means latest"
    yield Finding(
        WARNING,
        stage.line,
        LATEST,
        f'base image "{shown(stage.base.text)}" has {how}, so builds differ from day to day',
        f"Pin a version or a digest: {shown(image.name)}:<version>",
    )
