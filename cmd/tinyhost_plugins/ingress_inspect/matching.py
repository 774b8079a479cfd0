"""Which routes and backends do not fit together, controller by controller.

A router serves the routes that it has admitted, so each route is looked for only in the
configurations of the controllers whose routers say in its status that they admitted it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from .._shared.texts import counted
from .configs import AppBackend, RouterConfig, app_backends
from .haproxy import Proxy
from .routes import Admission, Route


@dataclass(slots=True)
class Findings:
    """Each list has one line for a finding, sorted.

    missing: an admitted route without a backend. stale: a backend without an admitted route.
    misconfigured: a backend that does not serve its route. rejected: a route that a router refuses.
    unclaimed: a route that no router has looked at. unjudged: what could not be compared, and why;
    unseen is the part of it that is about routes, and uncompared how many routes these are.
    """

    routes: int = 0
    backends: int = 0
    missing: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    misconfigured: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    uncompared: int = 0

    @property
    def lists(self) -> list[tuple[str, str, list[str]]]:
        """A word for each kind of finding, a title, and the lines: the worst first."""
        return [
            ("missing", "Missing: admitted routes without a backend", self.missing),
            (
                "misconfigured",
                "Misconfigured: backends that do not serve their route",
                self.misconfigured,
            ),
            ("rejected", "Rejected: routes that a router refuses", self.rejected),
            ("not admitted", "Not admitted: routes that no router has answered", self.unclaimed),
            ("stale", "Stale: backends without an admitted route", self.stale),
        ]


def check(
    configs: Sequence[RouterConfig],
    routes: Sequence[Route],
    gathered: Collection[str],
    namespace: str = "",
) -> Findings:
    """Compare. routes: those of the namespace when one is given, else all. gathered: the namespaces
    all of whose routes are known; backends of others are not called stale.
    """
    return _Check(configs, routes, gathered, namespace).run()


class _Check:
    def __init__(
        self,
        configs: Sequence[RouterConfig],
        routes: Sequence[Route],
        gathered: Collection[str],
        namespace: str,
    ) -> None:
        self._routes = routes
        self._known = {route.key: route for route in routes}
        self._gathered = set(gathered)
        self._found = Findings(routes=len(routes))
        # For each controller, the backends of each of its pods by key.
        self._pods: dict[str, list[dict[str, list[AppBackend]]]] = defaultdict(list)
        # Most of them are the same in all pods, and kept once.
        known: dict[Proxy, AppBackend] = {}
        for config in configs:
            index: dict[str, list[AppBackend]] = {}
            for made in app_backends(config.config):
                if namespace in ("", made.namespace):
                    backend = known.setdefault(made.proxy, made)
                    others = index.setdefault(backend.key, [backend])
                    if others[0] is not backend:
                        others.append(backend)
            self._pods[config.controller].append(index)
        self._found.backends = len(
            {(name, key) for name, pods in self._pods.items() for pod in pods for key in pod}
        )

    def run(self) -> Findings:
        self._look_for_routes()
        for controller in sorted(self._pods):
            self._look_for_stale(controller)
            self._look_at_backends(controller)
        self._note_other_namespaces()
        found = self._found
        for _word, _title, lines in found.lists:
            lines.sort()
        return found

    def _look_for_routes(self) -> None:
        without_config: dict[str, int] = defaultdict(int)
        uncompared = set()
        for route in self._routes:
            if not any(entry.status for entry in route.admissions):
                self._unclaimed(route)
            for entry in route.admissions:
                if entry.status == "True":
                    pods = self._pods_of(entry.router)
                    if pods is None:
                        without_config[entry.router] += 1
                        uncompared.add(route.key)
                    else:
                        self._look_for(route, entry.router, pods)
                elif entry.status:
                    self._found.rejected.append(f"{route.text} by {_router(entry)}")
        for router, count in sorted(without_config.items()):
            self._found.unseen.append(
                f"{counted(count, 'route')} admitted by {router or '(no name)'}: no HAProxy"
                " configuration of it has been read"
            )
        self._found.unjudged += self._found.unseen
        self._found.uncompared = len(uncompared)

    def _pods_of(self, router: str) -> list[dict[str, list[AppBackend]]] | None:
        """The configurations in which a router's routes have to be: its own, else those of which
        it is not known whose they are. They stay a separate group.
        """
        if router in self._pods:
            return self._pods[router]
        return self._pods.get("")

    def _unclaimed(self, route: Route) -> None:
        served = any(route.key in pod for pods in self._pods.values() for pod in pods)
        said = ", but has a backend" if served else ""
        self._found.unclaimed.append(f"{route.text}{said}")

    def _look_for(self, route: Route, router: str, pods: list[dict[str, list[AppBackend]]]) -> None:
        without = sum(1 for pod in pods if route.key not in pod)
        if without:
            self._found.missing.append(
                f"{route.text} in {router}: no {route.backend or route.key}{_of(without, pods)}"
            )
        others = [
            pod[route.key][0].proxy.name
            for pod in pods
            if route.key in pod and not any(b.proxy.name == route.backend for b in pod[route.key])
        ]
        if others:
            termination = route.termination or "no TLS"
            self._found.misconfigured.append(
                f"{others[0]} in {router}: the route has {termination}, so it should be"
                f" {route.backend or 'of another kind'}{_of(len(others), pods)}"
            )

    def _look_for_stale(self, controller: str) -> None:
        pods = self._pods[controller]
        counts: dict[tuple[str, str], int] = defaultdict(int)
        for pod in pods:
            for key, backends in pod.items():
                if why := self._stale(controller, key, backends[0].namespace):
                    counts[(backends[0].proxy.name, why)] += 1
        for (name, why), count in counts.items():
            where = controller or "(controller not known)"
            self._found.stale.append(f"{name} in {where}: {why}{_of(count, pods)}")

    def _stale(self, controller: str, key: str, namespace: str) -> str:
        route = self._known.get(key)
        if route is None:
            return "there is no such route" if namespace in self._gathered else ""
        # A route that no router has answered is reported as that.
        if route.admitted_by(controller) or not any(entry.status for entry in route.admissions):
            return ""
        return "the route is not admitted by it"

    def _look_at_backends(self, controller: str) -> None:
        pods = self._pods[controller]
        counts: dict[tuple[str, str], int] = defaultdict(int)
        for pod in pods:
            for key in pod.keys() & self._known.keys():
                # What is stale is not asked for anything.
                if not self._stale(controller, key, pod[key][0].namespace):
                    for backend in pod[key]:
                        if why := trouble(backend.proxy):
                            counts[(backend.proxy.name, why)] += 1
        for (name, why), count in counts.items():
            where = controller or "(controller not known)"
            self._found.misconfigured.append(f"{name} in {where}: {why}{_of(count, pods)}")

    def _note_other_namespaces(self) -> None:
        others = {
            (controller, key, backends[0].namespace)
            for controller, pods in self._pods.items()
            for pod in pods
            for key, backends in pod.items()
            if backends[0].namespace not in self._gathered and key not in self._known
        }
        if others:
            names = sorted({namespace for _controller, _key, namespace in others})
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            said = f"{counted(len(others), 'backend')} of {counted(len(names), 'namespace')}"
            self._found.unjudged.append(
                f"{said} whose routes have not been gathered or not all read: {', '.join(names[:5])}{more}"
            )


def trouble(backend: Proxy) -> str:
    """Why a backend for a route takes no traffic, "" when it does."""
    if not backend.servers:
        reserve = f", only {backend.reserve} in reserve" if backend.reserve else ""
        return f"no servers{reserve}; requests are answered with 503"
    if backend.idle == backend.servers:
        return "all servers are disabled or have the weight 0"
    return ""


def _of(count: int, pods: Sequence[object]) -> str:
    """ " (1 of 2 pods)", and nothing when it is all of them."""
    return f" ({count} of {len(pods)} pods)" if count < len(pods) else ""


def _router(entry: Admission) -> str:
    why = ": ".join(part for part in (entry.reason, entry.message) if part)
    return f"{entry.router or '(no name)'}: {why or f'Admitted={entry.status}'}"


def counts(found: Findings) -> Iterator[str]:
    """ "2 missing", "1 stale": only what there is."""
    for word, _title, lines in found.lists:
        if lines:
            yield f"{len(lines)} {word}"
