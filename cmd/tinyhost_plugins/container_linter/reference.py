"""Names of images: registry, repository, tag and digest."""

from __future__ import annotations

from typing import NamedTuple

# Where Buildah and Podman look without a registry: nothing to pin, and nobody's base image.
_LOCAL = ("oci:", "oci-archive:", "docker-archive:", "dir:", "containers-storage:", "oci-layout:")


class Reference(NamedTuple):
    """registry: "" when none is named. repository: path without registry, tag and digest."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""
    local: bool = False

    @property
    def name(self) -> str:
        """Registry and repository."""
        return f"{self.registry}/{self.repository}" if self.registry else self.repository


def parse_reference(text: str) -> Reference:
    """Take the name of an image apart. Whatever the text is, this gives a reference."""
    if text.startswith(_LOCAL):
        return Reference("", text, local=True)
    text = text.removeprefix("docker://")
    name, _, digest = text.partition("@")
    # A colon before the last slash belongs to the port of the registry.
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    name = folder + slash + last
    first, slash, rest = name.partition("/")
    if slash and (any(mark in first for mark in ".:") or first == "localhost"):
        return Reference(first, rest, tag, digest)
    return Reference("", name, tag, digest)
