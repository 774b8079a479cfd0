"""What each tool says about a cluster that has something wrong everywhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tinyhost_plugins._shared.archive import ArchiveError
from tinyhost_plugins._shared.conditions import Condition
from tinyhost_plugins._shared.pace import Pace
from tinyhost_plugins._shared.report import View
from tinyhost_plugins.insights import answers, memory, objects, storage
from tinyhost_plugins.insights.answers import Answers
from tinyhost_plugins.insights.loading import Loaded
from tinyhost_plugins.insights.options import Options
from tinyhost_plugins.insights.report import Report
from tinyhost_plugins.insights.sessions import Sessions
from tinyhost_sdk import HandlerError, ToolContext

from .conftest import condition, operator, pod

Files = dict[str, Any]
Write = Callable[..., Path]
LoadFiles = Callable[[Files], Loaded]
VIEW = View(50, 28_000)
PLAIN = sorted(answers._PLAIN)


def ask(tool: str, found: Loaded, view: View = VIEW) -> str:
    return answers._PLAIN[f"insights_{tool}"](found, view)


def test_the_summary_says_which_cluster_it_is_and_how_it_is(
    cluster: Files, loaded: LoadFiles
) -> None:
    said = ask("summary", loaded(cluster))
    assert said.startswith("OpenShift 4.18.2, cluster 11111111-2222-3333-4444-555555555555\n")
    for part in (
        "Channel: stable-4.18\nAvailable updates: 4.18.3\nPlatform: AWS\n",
        "Network: OVNKubernetes 10.128.0.0/14\n",
        "Last node heartbeat: 2026-03-01T10:00:00Z\n",
        "2 nodes (1 control plane, 1 worker), 1 not ready\n",
        "5 cluster operators: 1 unavailable, 1 degraded, 1 progressing, 2 available\n",
        "machine config pools degraded: worker\n",
        "4 pods gathered (1 Failed, 1 Pending, 2 Running)\n",
        "Failing=True: OperatorSlow: etcd is slow\n",
        "4.18.2 Partial 2026-03-01T08:00:00Z to now\n",
        "Operators that are not available\ndns: dns Available\n",
        "Operators that are degraded\ndns: dns Degraded\ningress: ingress Degraded\n",
        "clusterconfig/pods failed: no access",
    ):
        assert part in said
    assert "config/id differs" not in said


def test_the_summary_tells_when_two_ids_do_not_agree(cluster: Files, loaded: LoadFiles) -> None:
    said = ask("summary", loaded(cluster | {"config/id": "another\n"}))
    assert "config/id differs: another; parts may be of different clusters\n" in said


def test_nodes_are_shown_with_pressure_reasons_pools_and_logs(
    cluster: Files, loaded: LoadFiles
) -> None:
    said = ask("nodes", loaded(cluster))
    lines = [" ".join(entry.split()) for entry in said.split("\n")]
    assert lines[0] == "2 nodes (1 control plane, 1 worker), 1 not ready"
    assert "cp-0 Ready master - 8 16Gi 15Gi v1.31.3" in lines
    assert "worker-0 NotReady worker DiskPressure 8 16Gi 15Gi v1.31.3" in lines
    assert "worker-0: NotReady: kubelet stopped posting" in lines
    assert "worker-0: DiskPressure: disk is full" in lines
    assert "worker - - True yes 3 2 2 1" in lines
    assert "worker: Stuck: node worker-0 is stuck" in lines
    assert "config/node/logs/cp-0.log: 2 lines, 1 error" in lines


def test_a_cordoned_node_and_one_without_conditions_are_no_good(loaded: LoadFiles) -> None:
    nodes = [
        {"metadata": {"name": "a"}, "spec": {"unschedulable": True}},
        {"metadata": {"name": "b"}, "status": {"conditions": [{"type": "Ready"}]}},
    ]
    said = ask("nodes", loaded({"config/nodes.json": {"items": nodes}}))
    assert "2 nodes (0 control plane, 0 worker), 2 not ready" in said
    assert "a: SchedulingDisabled: the node is cordoned" in said
    assert "b: Unknown: it has no condition Ready" in said


def test_an_operator_is_counted_once_and_its_reasons_are_given(
    cluster: Files, loaded: LoadFiles
) -> None:
    said = ask("operators", loaded(cluster))
    assert said.startswith(
        "5 cluster operators: 1 unavailable, 1 degraded, 1 progressing, 2 available\n"
    )
    assert "Not available\ndns: dns Available\n" in said
    assert "Degraded\ndns: dns Degraded\ningress: ingress Degraded\n" in said
    assert "Not upgradeable\nstorage: storage Upgradeable" in said
    assert "4.18.2" in said


def test_etcd_is_told_from_all_that_the_archive_has(cluster: Files, loaded: LoadFiles) -> None:
    files = cluster | {"config/etcd/status.json": {"big": "x" * 100_000}}
    said = ask("etcd", loaded(files))
    assert said.startswith("The cluster operator etcd is available, version 4.18.2\n")
    for part in (
        "Degraded=False since 2026-03-01T10:00:00Z: etcd Degraded\n",
        "operator 4.18.2\netcd 3.5\n",
        'unsupportedConfigOverrides: {"x": true}\n',
        "etcd_server_slow_apply_total  etcd-cp-0      8\n",
        "warning: etcdSlow [namespace=openshift-etcd] active",
        "openshift-etcd: 2026-03-01T10:02:00Z Unhealthy probe 2 failed\n",
        "etcd-cp-0: took too long\n",
        "openshift-etcd/etcd-guard-pdb: 2 of 3 pods healthy, 0 disruptions allowed\n",
        'config/etcd/status.json\n{"big": "xxx',
    ):
        assert part in said
    rows = [" ".join(entry.split()) for entry in said.split("\n")]
    assert "openshift-etcd/etcd-cp-0 etcd 12 Error (1) -" in rows
    assert len(said) < 6000


def test_the_first_line_about_etcd_is_short_whatever_the_version(loaded: LoadFiles) -> None:
    entry = {"name": "operator", "version": "4" * 1000}
    operator = {"metadata": {"name": "etcd"}, "status": {"versions": [entry]}}
    said = ask("etcd", loaded({"config/clusteroperator/etcd.json": operator}))
    assert len(said.split("\n")[0]) < 120


def test_storage_shows_classes_volumes_and_clusters(cluster: Files, loaded: LoadFiles) -> None:
    said = ask("storage", loaded(cluster))
    rows = [" ".join(entry.split()) for entry in said.split("\n")]
    assert rows[0] == (
        "1 storage class, 1 persistent volume, 0 claims, 1 Ceph or storage cluster in this archive"
    )
    assert "fast yes ebs.csi.aws.com Delete WaitForFirstConsumer true" in rows
    assert "Persistent volumes: 1 Bound, 20Gi in all" in rows
    assert "pv-1 20Gi Bound fast - shop/data" in rows
    assert "Claims: none in the archive; the volumes above name 1" in rows
    assert "openshift-storage/ceph: HEALTH_WARN OSD_NEARFULL" in rows


def test_claims_are_shown_where_there_are_any(loaded: LoadFiles) -> None:
    claims = [
        {"metadata": {"name": name, "namespace": "shop"}, "status": {"phase": phase}}
        for name, phase in (("a", "Lost"), ("b", "Bound"), ("c", "Bound"))
    ]
    said = storage.answer(loaded({"config/persistentvolumeclaims.json": {"items": claims}}), VIEW)
    assert "Claims: 2 Bound, 1 Lost\n" in said
    assert "0 storage classes" in said


def test_memory_tells_what_was_killed_what_is_tight_and_what_is_used(
    cluster: Files, loaded: LoadFiles
) -> None:
    said = memory.answer(loaded(cluster), VIEW, 0)
    rows = [" ".join(entry.split()) for entry in said.split("\n")]
    assert rows[0] == (
        "1 OOM-killed container, 1 with a request of at least 80% of the limit,"
        " among 5 containers of 4 pods"
    )
    assert "shop/cart-1 cart last run 3 858.3Mi 953.7Mi" in rows
    assert "shop/cart-1 proxy now 1 1Gi 4Gi" in rows
    assert "shop/cart-1 cart 90% 858.3Mi 953.7Mi" in rows
    assert "2 of 5 containers have a memory limit" in rows
    assert rows.index("openshift-etcd 953.7Mi") < rows.index("shop 512Mi")
    assert any("kernel: oom-kill:constraint" in row for row in rows)
    tighter = memory.answer(loaded(cluster), VIEW, 25)
    assert "2 with a request of at least 25% of the limit" in tighter


def test_memory_reads_lists_of_bare_containers(loaded: LoadFiles) -> None:
    bare = {
        "namespace": "shop",
        "pod": "cart-1",
        "resources": {"requests": {"memory": "90Mi"}, "limits": {"memory": "100Mi"}},
    }
    for key in ("containers", "items"):
        files = {
            "config/pod/containers.json": {key: [bare | {"container": "a"}, bare | {"name": "b"}]}
        }
        said = memory.answer(loaded(files), VIEW, 0)
        assert said.startswith(
            "0 OOM-killed containers, 2 with a request of at least 80% of the limit,"
            " among 2 containers of 1 pod\n"
        )


def test_health_lists_each_issue_once_the_critical_first(cluster: Files, loaded: LoadFiles) -> None:
    said = ask("health", loaded(cluster))
    critical, _blank, warning = said.partition("\n\nwarning: ")
    assert said.startswith("19 issues: 6 critical, 13 warning\n")
    for part in (
        "cluster version: Failing=True: OperatorSlow: etcd is slow",
        "operator dns is not available and degraded: dns Available",
        "operator ingress is degraded: ingress Degraded",
        "node worker-0 is NotReady: kubelet stopped posting",
        "machine config pool worker is degraded: Stuck: node worker-0 is stuck",
        "alert KubeNodeNotReady [node=worker-0] active since 2026-03-01T09:00:00Z: worker-0 is not",
    ):
        assert f"\n- {part}" in critical
    for part in (
        "operator console is progressing: console Progressing",
        "alert etcdSlow [namespace=openshift-etcd] active",
        "node worker-0: DiskPressure: disk is full",
        "OOM killed: shop/cart-1 cart",
        "pod shop/cart-1: CrashLoopBackOff",
        "pod shop/late-1: Pending: Unschedulable: no node fits",
        "pod shop/web-1: Failed: Evicted",
        "1 container restarted 10 times or more; openshift-etcd/etcd-cp-0 etcd 12 times",
        "cephcluster openshift-storage/ceph: HEALTH_WARN OSD_NEARFULL",
        "2 groups of namespaces with overlapping UID ranges; see insights_uid_overlap",
        "event in openshift-etcd: Unhealthy (2 times), 2026-03-01T10:02:00Z: probe 2 failed",
        "1 critical alert silenced; see insights_alerts",
        "gatherer clusterconfig/pods failed: no access",
    ):
        assert f"\n- {part}" in warning
    # What is silenced is counted, and not listed beside what fires.
    assert "Silent" not in said


def version(*conditions: dict[str, str]) -> Files:
    return {"config/version.json": {"status": {"conditions": list(conditions)}}}


def test_a_release_that_was_not_accepted_is_told(loaded: LoadFiles) -> None:
    refused = condition("ReleaseAccepted", "False", "no signature", "RetrievePayload")
    found = loaded(version(refused, condition("ImplicitlyEnabledCapabilities", "False")))
    said = "ReleaseAccepted=False: RetrievePayload: no signature"
    assert f"The cluster version says\n{said}\n" in ask("summary", found) + "\n"
    assert "Implicitly" not in ask("summary", found)
    assert f"critical: 1\n- cluster version: {said}" in ask("health", found)


def test_an_update_under_way_is_told(loaded: LoadFiles) -> None:
    found = loaded(version(condition("Progressing", "True", "Working towards 4.18.3: 45 of 900")))
    said = "- cluster version: Progressing=True: Working towards 4.18.3: 45 of 900"
    assert f"warning: 1\n{said}" in ask("health", found)


def test_an_operator_of_which_it_is_not_known_whether_it_is_available_is_an_issue(
    loaded: LoadFiles,
) -> None:
    silent = {"metadata": {"name": "new"}}
    found = loaded(
        {
            "config/clusteroperator/dns.json": operator("dns", Available="Unknown"),
            "config/clusteroperator/new.json": silent,
        }
    )
    assert ask("operators", found).startswith("2 cluster operators: 2 unknown\n")
    assert "Not known whether available\ndns: dns Available" in ask("operators", found)
    said = ask("health", found)
    assert "- operator dns is perhaps not available: dns Available\n" in said
    assert "- operator new does not say whether it is available" in said


def test_a_running_pod_that_is_not_ready_is_an_issue_unless_it_has_done_its_work(
    loaded: LoadFiles,
) -> None:
    unready = condition("ContainersReady", "False", "containers: [web]", "ContainersNotReady")
    done = condition("ContainersReady", "False", reason="PodCompleted")
    found = loaded(
        {
            "config/pod/shop/web.json": pod("shop", "web", conditions=[unready]),
            "config/pod/shop/job.json": pod("shop", "job", conditions=[done]),
        }
    )
    said = ask("health", found)
    assert "- pod shop/web: not ready: ContainersNotReady: containers: [web]" in said
    assert "shop/job" not in said


def test_volumes_and_claims_that_are_gone_are_issues(loaded: LoadFiles) -> None:
    found = loaded(
        {
            "config/persistentvolumes/a.json": {
                "metadata": {"name": "a"},
                "status": {"phase": "Failed", "message": "no such disk"},
            },
            "config/persistentvolumeclaim.json": {
                "metadata": {"name": "data", "namespace": "shop"},
                "status": {"phase": "Lost"},
            },
        }
    )
    lines = ask("health", found).split("\n")
    assert "- persistent volume a is Failed: no such disk" in lines
    assert "- claim shop/data is Lost" in lines


def test_messages_of_a_kubelet_are_told_once_with_their_number(loaded: LoadFiles) -> None:
    head = "Mar 01 10:00:0{} cp-0 kubenswrapper[1]: E0301 10:00:00.1 1 pod.go:1] "
    entries = [f"{head.format(n)}{'back-off of ' + 'x' * 300} web" for n in range(4)]
    entries += [f"{head.format(n)}once {n}" for n in range(4)]
    lines = ask("nodes", loaded({"config/node/logs/cp-0.log": "\n".join(entries)})).split("\n")
    assert "config/node/logs/cp-0.log: 8 lines, 8 errors" in lines
    assert any(
        entry.startswith("  4 times, last Mar 01 10:00:03: back-off") and entry.endswith(" web")
        for entry in lines
    )
    assert "  1 time, last Mar 01 10:00:01: once 1" in lines
    assert "  2 other messages, less often" in lines


def test_a_healthy_cluster_has_no_issues(loaded: LoadFiles) -> None:
    files = {"config/version.json": {"status": {"desired": {"version": "4.18.2"}}}}
    said = ask("health", loaded(files))
    assert said.startswith("No issues found in this archive.\nOpenShift 4.18.2\n")


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"config/id": "1"}, "Too little can be read of this archive to tell"),
        ({"config/version.json": "{", "config/node/a.json": "["}, "Too little can be read"),
        (
            {"config/version.json": {"metadata": {"name": "version"}}, "config/node/a.json": "["},
            "No issues found in what could be read of this archive.",
        ),
    ],
)
def test_an_archive_that_does_not_tell_is_not_called_healthy(
    loaded: LoadFiles, files: Files, first: str
) -> None:
    assert ask("health", loaded(files)).startswith(first)


def test_the_summary_claims_nothing_that_the_archive_does_not_tell(loaded: LoadFiles) -> None:
    said = ask("summary", loaded({"config/id": "1", "config/version.json": {"spec": {}}}))
    assert said.startswith("OpenShift of an unknown version, cluster 1\n")
    assert "config/id differs" not in said
    assert said.endswith(
        "This archive has no alerts: neither config/alerts.json nor config/silenced_alerts.json."
    )


def test_counters_of_etcd_have_all_their_digits(loaded: LoadFiles) -> None:
    metrics = 'etcd_server_slow_apply_total{pod="etcd-a"} 1234567\n'
    said = ask("etcd", loaded({"config/metrics": metrics}))
    assert said.endswith("1234567")


def test_lists_in_one_file_are_read_as_well(cluster: Files, loaded: LoadFiles) -> None:
    def all_of(folder: str) -> Files:
        found = (cluster[key] for key in cluster if key.rpartition("/")[0] == folder)
        return {"items": list(found)}

    lists = {
        "config/clusterversion.json": cluster["config/version.json"],
        "config/node.json": all_of("config/node"),
        "config/clusteroperators.json": all_of("config/clusteroperator"),
    }
    found = loaded(lists)
    assert ask("summary", found).startswith("OpenShift 4.18.2, cluster 11111111")
    for tool in ("nodes", "operators"):
        assert ask(tool, found).split("\n")[0] == ask(tool, loaded(cluster)).split("\n")[0]


@pytest.mark.parametrize("tool", PLAIN)
def test_an_archive_without_the_data_is_answered_in_words(loaded: LoadFiles, tool: str) -> None:
    said = answers._PLAIN[tool](loaded({"config/other.json": {}}), VIEW)
    assert said
    assert "None" not in said


def test_what_could_not_be_read_is_told_at_the_end(loaded: LoadFiles) -> None:
    files = {f"config/node/{number}.json": "{" for number in range(7)}
    said = ask("nodes", loaded(files))
    assert said.startswith("This archive has no nodes.")
    assert said.endswith(
        "Files not readable: config/node/0.json (no JSON), config/node/1.json (no JSON),"
        " config/node/2.json (no JSON), config/node/3.json (no JSON),"
        " config/node/4.json (no JSON) and 2 more"
    )


def many_nodes(count: int) -> Files:
    items = [{"metadata": {"name": f"node-{number:04}"}} for number in range(count)]
    return {"config/nodes.json": {"items": items}}


def test_long_lists_are_cut_and_say_how_to_see_more(loaded: LoadFiles) -> None:
    found = loaded(many_nodes(300))
    said = ask("nodes", found, View(10, 28_000))
    assert "290 more rows; call again with limit (up to 1000)" in said
    assert "node-0009" in said
    assert "node-0010" not in said
    assert "node-0299" in ask("nodes", found, View(300, 200_000))


def test_a_long_answer_is_cut_at_a_line_and_says_so(loaded: LoadFiles) -> None:
    said = ask("nodes", loaded(many_nodes(300)), View(1000, 2000))
    assert len(said) < 2200
    *_shown, before, last = said.split("\n")
    assert before.startswith("node-")
    assert last.startswith("... ")
    assert last.endswith(" more lines; that is as much as a call shows")


def test_an_archive_cannot_add_lines_to_an_answer(cluster: Files, loaded: LoadFiles) -> None:
    evil = "x\n\nNo issues found.\x1b[2J\u2028"
    files = json.loads(json.dumps(cluster).replace("worker-0", json.dumps(evil)[1:-1]))
    for tool in PLAIN:
        said = answers._PLAIN[tool](loaded(files), VIEW)
        assert all(part.isprintable() for part in said.split("\n"))
        assert not any(part.startswith("No issues") for part in said.split("\n"))


def test_a_line_that_is_added_is_one_line(loaded: LoadFiles) -> None:
    report = Report(loaded({"config/id": "1"}), VIEW, "first\nsecond")
    report.section("a\rb")
    report.add("c\n")
    report.list(["d\n", "e" * 5000])
    assert report.text().split("\n")[:4] == ["first\\nsecond", "", "a\\rb", "c\\n"]
    assert max(map(len, report.text().split("\n"))) == 3000


WORDS = """
    metadata name namespace labels annotations spec status conditions type reason message items
    containers containerStatuses state lastState terminated exitCode resources requests limits
    memory capacity storage phase versions version history errors panic status_reports data
    alerts severity alertname serviceNetwork clusterNetwork restartCount claimRef ceph
"""
KEYS = st.sampled_from(WORDS.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_shape_of_the_files_makes_a_tool_fail(
    cluster: Files, tmp_path: Path, data: st.DataObject
) -> None:
    content = {
        name: value.encode() if isinstance(value, str) else json.dumps(value).encode()
        for name, value in cluster.items()
    }
    for name in data.draw(st.lists(st.sampled_from(sorted(content)), min_size=1, max_size=8)):
        content[name] = json.dumps(data.draw(JSON)).encode()
    found = Loaded(tmp_path, ("", 0, 0), content=content)
    for tool in PLAIN:
        assert answers._PLAIN[tool](found, VIEW)
    assert memory.answer(found, VIEW, 50)
    assert answers.alerts.answer(found, VIEW, "")
    assert answers.summary.after_loading(found, VIEW)


def test_conditions_of_any_shape_are_read() -> None:
    assert objects.conditions({"status": {"conditions": [1, {"type": "A", "status": True}]}}) == {
        "A": Condition("A", "true")
    }
    assert objects.listed({"items": None}) == []
    assert objects.listed([{"a": 1}, 2]) == [{"a": 1}]


@pytest.mark.parametrize(("threshold", "limit"), [(-1, 0), (101, 0), (0, -1), (0, 1001)])
def test_numbers_out_of_range_are_refused(threshold: int, limit: int) -> None:
    with pytest.raises(HandlerError, match="has to be"):
        Answers(Options()).memory(threshold, "", limit, ToolContext())


@pytest.mark.parametrize(
    "files",
    [
        {"config/nodes.json": {"items": [{}]}},
        {"config/alerts.json": [{}]},
        {"config/pod/containers.json": {"containers": [{}]}},
        {"events/shop.json": {"items": []}},
    ],
)
def test_an_answer_ends_when_its_time_is_over(loaded: LoadFiles, files: Files) -> None:
    found = loaded({"config/id": "1", **files})
    assert ask("health", found)
    found.is_over = lambda _what: True
    with pytest.raises(ArchiveError, match="takes too long; raise the plugin's option maxSeconds"):
        ask("health", found)


class Caller(ToolContext):
    """Does something while its call is under way, once, and may have given up after that."""

    def __init__(self, session: str, meanwhile: Callable[[], object], gives_up: bool) -> None:
        super().__init__(session_id=session)
        self._meanwhile: Callable[[], object] | None = meanwhile
        self._gives_up = gives_up

    @property
    def cancelled(self) -> bool:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is None:
            return self._gives_up
        meanwhile()
        return False


def test_a_call_about_the_same_archive_does_not_keep_another_from_being_cancelled(
    cluster: Files, write: Write
) -> None:
    path, answers = str(write(cluster)), Answers(Options())
    answers.use(path, ToolContext(session_id="a"))
    said = []

    def ask() -> None:
        said.append(answers.plain("insights_nodes", path, 0, ToolContext(session_id="b")))

    caller = Caller("a", ask, gives_up=True)
    with pytest.raises(HandlerError, match="cancelled while answering"):
        answers.plain("insights_health", "", 0, caller)
    assert said[0].startswith("2 nodes")


def test_an_archive_that_two_calls_read_at_a_time_is_kept_once(write: Write) -> None:
    path, sessions = write({"config/id": "one"}), Sessions(Options())
    others = []

    def load() -> None:
        others.append(sessions.use("b", path, Pace(ToolContext(), 60)))

    loaded = sessions.use("a", path, Pace(Caller("a", load, gives_up=False), 60))
    assert others == [loaded]
    assert others[0] is loaded


def test_a_session_that_ends_meanwhile_does_not_disturb_a_search_for_its_archive(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = Sessions(Options())
    path = write({"config/id": "one"})
    for name in "ab":
        sessions.use(name, path, Pace(ToolContext(), 60))
    ending = threading.Thread(target=sessions.forget, args=("b",))

    class Stamp:
        """While it is compared for the first time, a session ends."""

        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            if ending.ident is None:
                ending.start()
                # It is over at once, or has to wait for the search.
                ending.join(0.2)
            return False

    monkeypatch.setattr("tinyhost_plugins.insights.sessions.stamp_of", lambda _path: Stamp())
    assert sessions.use("c", path, Pace(ToolContext(), 60)).path == path
    ending.join()
    assert sessions.current("b") is None


def test_an_answer_names_only_the_files_that_it_could_not_read(
    cluster: Files, write: Write
) -> None:
    path = str(write(cluster | {"config/node/bad.json": "{"}))
    answers = Answers(Options())
    for _ in range(2):
        said = {
            tool: answers.plain(f"insights_{tool}", path, 0, ToolContext())
            for tool in ("nodes", "operators")
        }
        assert "Files not readable: config/node/bad.json (no JSON)" in said["nodes"]
        assert "not readable" not in said["operators"]
