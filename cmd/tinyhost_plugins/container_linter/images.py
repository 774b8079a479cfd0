"""Which base images are UBI, which are meant to boot, and which say nothing."""

from __future__ import annotations

from collections.abc import Collection

from .containerfile import SCRATCH, Stage
from .reference import Reference

_UBI = (
    *("registry.access.redhat.com/ubi", "registry.redhat.io/ubi"),
    # The same images on Docker Hub.
    *("docker.io/redhat/ubi", "redhat/ubi"),
)
# By their names; others show it by a word of theirs.
_BOOTC = (
    "quay.io/fedora/fedora-bootc",
    "quay.io/centos-bootc/centos-bootc",
    "registry.redhat.io/rhel9/rhel-bootc",
    "registry.redhat.io/rhel10/rhel-bootc",
)
BOOTC_LABEL = "containers.bootc"


def is_ubi(image: Reference, more: Collection[str] = ()) -> bool:
    """more: further beginnings of names that are as good."""
    return image.name.startswith((*_UBI, *more))


def is_external(stage: Stage) -> bool:
    """Whether FROM names an image that comes from a registry."""
    return (
        stage.parent is None
        and stage.base.text not in ("", SCRATCH)
        and stage.has_known_name
        and not stage.image.local
    )


def bootc_reason(stage: Stage) -> str:
    """Why the stage counts as one that boots; "" when nothing says so."""
    root = list(stage.lineage())[-1]
    name = root.image.name if root.has_known_name else ""
    if name in _BOOTC:
        return "is a base image for bootc"
    words = name.rpartition("/")[2].replace("_", "-").split("-")
    # Not the program that makes disks of such images.
    if "bootc" in words and words[-1] != "builder":
        return "is a bootc image by its name"
    declared = next((one for one in stage.lineage() if BOOTC_LABEL in one.labels), None)
    if declared is not None and declared.labels[BOOTC_LABEL] == "1":
        return f"is declared one by LABEL {BOOTC_LABEL}=1"
    return ""
