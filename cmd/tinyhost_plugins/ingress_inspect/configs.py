"""The HAProxy configurations in a must-gather, and whose they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from .._shared.must_gather import MustGather, MustGatherError
from .._shared.texts import size
from .haproxy import Config, Proxy, parse
from .options import Options
from .pace import Pace
from .room import NoRoom, Room
from .routes import PREFIXES

# The folder of a pod below that of its controller, and where other tools have put copies.
_PLACES = (
    "ingress_controllers/**/haproxy.config",
    "namespaces/openshift-ingress/**/haproxy.config",
)
# Backends that the router makes in advance, for routes that are yet to come.
_POOL = "_hapcm_blueprint_pool"
_PREFIXES = frozenset(PREFIXES.values())


@dataclass(frozen=True, slots=True)
class RouterConfig:
    """path: below the root. controller: "" when the path does not tell. digest: of the bytes."""

    path: str
    controller: str
    pod: str
    config: Config
    digest: bytes

    @property
    def where(self) -> str:
        """The controller, as it is shown."""
        return self.controller or "(not known)"


@dataclass(frozen=True, slots=True)
class AppBackend:
    """A backend that the router made for a route. key: namespace and name of the route."""

    prefix: str
    namespace: str
    route: str
    key: str
    proxy: Proxy


def read_configs(mg: MustGather, options: Options, pace: Pace) -> list[RouterConfig]:
    """The configurations by path. What is not read is noted among the must-gather's faults."""
    found: list[RouterConfig] = []
    # The pods of a controller often have the same one.
    parsed: dict[bytes, Config] = {}
    room: Room | None = Room(options.max_memory_bytes)
    for number, path in enumerate(_paths(mg)):
        if number >= options.max_configs:
            mg.tree.note(path, f"over {options.max_configs} configurations, option maxConfigs")
            continue
        what = f"reading {path}"
        pace.is_over(what)
        try:
            data = mg.tree.read(path, options.max_config_bytes)
        except MustGatherError as error:
            mg.tree.note(path, str(error).removeprefix(f"{path} "))
            continue
        digest = hashlib.sha256(data).digest()
        if digest not in parsed and room is not None:
            try:
                parsed[digest] = parse(pace.paced(_lines(data), what), room)
            except NoRoom:
                room = None
        if digest in parsed:
            found.append(RouterConfig(path, *_owner(path), parsed[digest], digest))
        else:
            most = size(options.max_memory_bytes)
            mg.tree.note(path, f"no room beside the others in {most}, option maxMemoryBytes")
    return found


def _lines(data: bytes) -> Iterator[str]:
    """The lines of a file, one after the other: all at once take many times its size."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield data[start:end].decode("utf-8", "replace")
        start = end + 1


def _paths(mg: MustGather) -> Iterator[str]:
    for place in _PLACES:
        for path in mg.find(place):
            yield mg.relative(path)


def _owner(path: str) -> tuple[str, str]:
    """The controller and the pod of a configuration, from where it lies."""
    parts = path.split("/")
    if parts[0] == "ingress_controllers":
        return (parts[1], parts[2]) if len(parts) > 3 else ("", parts[1] if parts[2:] else "")
    pod = next((part for part in parts[2:-1] if part.startswith("router-")), "")
    # router-NAME-HASH-ID
    return pod.removeprefix("router-").rpartition("-")[0].rpartition("-")[0], pod


def app_backend(proxy: Proxy) -> AppBackend | None:
    """The route that a backend is for; None for the router's own, as be_sni."""
    prefix, _, key = proxy.name.partition(":")
    namespace, colon, route = key.partition(":")
    if not proxy.is_backend or prefix not in _PREFIXES or not colon or namespace == _POOL:
        return None
    return AppBackend(prefix, namespace, route, key, proxy)


def app_backends(config: Config) -> Iterator[AppBackend]:
    """The backends for routes, in the order of the configuration."""
    return (found for proxy in config.proxies if (found := app_backend(proxy)))
