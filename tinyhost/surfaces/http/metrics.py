"""The host's numbers in Prometheus' text form, version 0.0.4.

Written by hand: all numbers are counted elsewhere already, and a client library would want to
count them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...running import RunningHost

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_STATES = ("starting", "ready", "slow", "wedged", "restarting", "failed", "stopping", "stopped")
# Counter of a plugin -> what it counts.
_COUNTERS = {
    "calls": "Calls of tools and hooks.",
    "errors": "Calls that the plugin answered with an error, or wrongly.",
    "timeouts": "Calls that it did not answer in time.",
    "busy": "Calls whose deadline passed while they waited behind others.",
    "lateReplies": "Answers that nobody waited for any more.",
    "junkLines": "Lines on standard output that were not messages.",
    "deaths": "Times that its process ended by itself or was given up.",
    "restarts": "Times that it was started again.",
}
_USAGE = {
    "memoryBytes": "Resident memory of its processes.",
    "cpuSeconds": "Processor time of those of its processes that run now.",
}
_QUANTILES = {"p50Ms": "0.5", "p99Ms": "0.99"}

Sample = tuple[Mapping[str, str], float]


def text_of(running: RunningHost) -> str:
    """All metrics."""
    lost, _ = running.host.missing_records()
    return "".join(_lines(running.status(), running.host.manager.tools(), lost))


def _lines(status: Mapping[str, Any], tools: Sequence[object], lost: int) -> Iterable[str]:
    missing, plugins = len(status["failed"]), status["plugins"]
    yield from _gauge("start_time_seconds", "When the host was started.", status["started"])
    yield from _gauge("ready", "Whether all plugins were loaded.", int(status["ready"]))
    yield from _gauge("sessions", "Sessions that have begun and not ended.", status["sessions"])
    yield from _gauge("tools", "Tools that can be called.", len(tools))
    yield from _gauge("plugins_missing", "Plugins that should be loaded and are not.", missing)
    yield from _family("events_total", "counter", "Events so far.", [({}, status["events"])])
    words = "Records that could not be written to the journal."
    yield from _family("journal_lost_total", "counter", words, [({}, lost)])
    states = [
        ({"plugin": plugin["name"], "state": state}, int(plugin["state"] == state))
        for plugin in plugins
        for state in _STATES
    ]
    yield from _family("plugin_state", "gauge", "1 for the state that a plugin is in.", states)
    for key, words in _COUNTERS.items():
        counts = _each(plugins, "counters", key)
        yield from _family(f"plugin_{_snake(key)}_total", "counter", words, counts)
    for key, words in _USAGE.items():
        yield from _family(f"plugin_{_snake(key)}", "gauge", words, _each(plugins, "stats", key))
    durations = [
        ({**labels, "quantile": quantile}, ms / 1000)
        for key, quantile in _QUANTILES.items()
        for labels, ms in _each(plugins, "stats", key)
    ]
    words = "Quantiles of the last 512 calls and hooks."
    yield from _family("plugin_duration_seconds", "gauge", words, durations)


def _each(plugins: Sequence[Any], part: str, key: str) -> list[Sample]:
    """That number of each plugin that has it."""
    found = [(plugin["name"], plugin[part][key]) for plugin in plugins]
    return [({"plugin": name}, number) for name, number in found if number is not None]


def _gauge(name: str, words: str, number: float) -> Iterable[str]:
    return _family(name, "gauge", words, [({}, number)])


def _family(name: str, kind: str, words: str, samples: Sequence[Sample]) -> Iterable[str]:
    name = f"tinyhost_{name}"
    yield f"# HELP {name} {words}\n# TYPE {name} {kind}\n"
    for labels, number in samples:
        yield f"{name}{_labels(labels)} {number!r}\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _snake(key: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
