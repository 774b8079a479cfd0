"""Route objects."""

from __future__ import annotations

from dataclasses import dataclass

from .._shared.must_gather import MustGather, Resource

GROUP, PLURAL = "route.openshift.io", "routes"
# What the router puts before a route's namespace and name, by how the route terminates TLS.
PREFIXES = {
    "": "be_http",
    "edge": "be_edge_http",
    "reencrypt": "be_secure",
    "passthrough": "be_tcp",
}


@dataclass(frozen=True, slots=True)
class Admission:
    """What one router says about a route. status: that of its condition Admitted, or ""."""

    router: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Route:
    """termination: "" for plain HTTP. certificate: PEM text, or ""."""

    namespace: str
    name: str
    host: str
    path: str
    termination: str
    admissions: tuple[Admission, ...]
    certificate: str

    @property
    def key(self) -> str:
        """What the name of its backend has after the prefix."""
        return f"{self.namespace}:{self.name}"

    @property
    def backend(self) -> str:
        prefix = PREFIXES.get(self.termination)
        return f"{prefix}:{self.key}" if prefix else ""

    @property
    def text(self) -> str:
        place = f" ({self.host}{self.path})" if self.host else ""
        return f"{self.namespace}/{self.name}{place}"

    def admitted_by(self, router: str) -> bool:
        """Whether a router has admitted it; any router will do for ""."""
        return any(
            entry.status == "True" and router in ("", entry.router) for entry in self.admissions
        )


@dataclass(frozen=True, slots=True)
class Routes:
    """found: by namespace and name. namespaces: those whose routes have been gathered. whole: those
    of them of which nothing was left out, so that a route which is not found is not there.
    """

    found: list[Route]
    namespaces: list[str]
    whole: list[str]


def read_routes(mg: MustGather, namespace: str = "") -> Routes:
    """The routes of one namespace, or of all those whose routes have been gathered."""
    found: list[Route] = []
    namespaces, whole = [], []
    for name in (entry for entry in mg.namespaces if namespace in ("", entry)):
        faults = mg.tree.fault_count
        if _is_gathered(mg, name):
            found += map(_route, mg.namespaced(name, GROUP, PLURAL))
            namespaces.append(name)
            if mg.tree.fault_count == faults:
                whole.append(name)
    found.sort(key=lambda route: (route.namespace, route.name))
    return Routes(found, namespaces, whole)


def _is_gathered(mg: MustGather, namespace: str) -> bool:
    """Whether there are routes, or a list of them, which may be empty."""
    folder = f"namespaces/{namespace}/{GROUP}"
    return bool(mg.tree.files(folder) or mg.tree.files(f"{folder}/{PLURAL}"))


def _route(raw: Resource) -> Route:
    return Route(
        namespace=raw.namespace,
        name=raw.name,
        host=raw.text("spec", "host") or "",
        path=raw.text("spec", "path") or "",
        termination=raw.text("spec", "tls", "termination") or "",
        admissions=_admissions(raw),
        certificate=raw.text("spec", "tls", "certificate") or "",
    )


def _admissions(raw: Resource) -> tuple[Admission, ...]:
    found: dict[str, Admission] = {}
    for entry in raw.objects("status", "ingress"):
        router = entry.text("routerName") or ""
        for condition in entry.objects("conditions"):
            if condition.text("type") == "Admitted":
                said = (condition.scalar(key) or "" for key in ("status", "reason", "message"))
                found.setdefault(router, Admission(router, *said))
        found.setdefault(router, Admission(router, "", "", ""))
    return tuple(found[router] for router in sorted(found))
