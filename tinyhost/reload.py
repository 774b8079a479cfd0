"""What a changed configuration means for the plugins that are loaded. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from .config import Config
from .model import PluginSpec


@attrs.frozen(kw_only=True)
class Plan:
    """What is to be done, by name, in the order of the configurations.

    unload: no longer listed. load: newly listed, or listed and not loaded. restart: listed in
    both and changed. keep: the same in both.
    """

    unload: Sequence[str]
    load: Sequence[PluginSpec]
    restart: Sequence[PluginSpec]
    keep: Sequence[str]


def plan(old: Config, new: Config, loaded: Collection[str]) -> Plan:
    """Compare what was listed with what is.

    A plugin that was loaded by hand and is listed in neither stays. Where the way that one is
    confined or found has changed for all (`settings."*"`), its own settings differ, too.
    """
    before = {spec.name: spec for spec in old.specs}
    after = {spec.name: spec for spec in new.specs}
    there = [spec for spec in new.specs if spec.name in loaded]
    return Plan(
        unload=[name for name in before if name not in after and name in loaded],
        load=[spec for spec in new.specs if spec.name not in loaded],
        restart=[spec for spec in there if before.get(spec.name) != spec],
        keep=[spec.name for spec in there if before.get(spec.name) == spec],
    )
