"""What a person gets who installs the wheel, and nothing else."""

from __future__ import annotations

import configparser
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None, status: int = 0) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    source = out / "source"
    run("git", "clone", "-q", ROOT, source, cwd=out)
    changed = run("git", "ls-files", "-mo", "--exclude-standard", "-z", cwd=ROOT)
    for name in filter(None, changed.split("\0")):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            target.write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out, source, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with the wheel; gives its bin folder."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", venv, cwd=venv)
    run(venv / "bin" / "pip", "install", "-q", wheel, cwd=venv)
    return venv / "bin"


def clean_env(folder: Path) -> dict[str, str]:
    """No virtual environment is active, and the person has no configuration."""
    return {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TINYHOST_CONFIG_DIR": str(folder / "config"),
        "TINYHOST_STATE_DIR": str(folder / "state"),
    }


def test_the_wheel_holds_the_packages_and_their_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "tinyhost",
        "tinyhost_cli",
        "tinyhost_plugins",
        "tinyhost_registry",
        "tinyhost_sdk",
    }
    assert "tinyhost/data/config.schema.json" in names
    assert "tinyhost/py.typed" in names
    assert "tinyhost_cli/templates/sh/plugin.tmpl" in names
    assert sum(name.startswith("tinyhost_registry/") for name in names) == 31


def test_a_real_plugin_loads_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    env = clean_env(tmp_path)
    said = run(installed / "tinyhost", "plugin", "load", "safety-net", cwd=empty, env=env)
    assert "safety-net" in said
    assert "permission.ask" in said
    asked = {"toolName": "bash", "toolArgs": json.dumps({"command": "rm -rf /"})}
    said = run(
        *(installed / "tinyhost", "hook", "invoke", "permission.ask", "--plugin", "safety-net"),
        *("--json", "--input", json.dumps(asked)),
        cwd=empty,
        env=env,
        status=1,
    )
    answer = json.loads(said)
    assert answer["output"]["allowed"] is False
    assert answer["plugins"][0]["name"] == "safety-net"
    assert list(empty.iterdir()) == []


def test_the_sdk_needs_none_of_the_hosts_libraries(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys, tinyhost_sdk;"
        "found = {'trio', 'attrs', 'attr', 'cattrs', 'click', 'msgspec', 'json'} & set(sys.modules);"
        "sys.exit(str(found) if found else 0)"
    )
    run(installed / "python", "-c", code, cwd=tmp_path, env=clean_env(tmp_path))


# --- every shipped plugin, by the program that the wheel installs

GATHER = {
    "cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml": """\
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec: {channel: stable-4.16, clusterID: 11111111-2222-3333-4444-555555555555}
status:
  desired: {version: 4.16.3}
  history: [{state: Completed, version: 4.16.3, startedTime: "2026-01-01T00:00:00Z"}]
""",
    "namespaces/openshift-ingress-operator/operator.openshift.io/ingresscontrollers/default.yaml": """\
apiVersion: operator.openshift.io/v1
kind: IngressController
metadata: {name: default, namespace: openshift-ingress-operator}
spec: {replicas: 2}
status: {availableReplicas: 2, domain: apps.example.com}
""",
    "namespaces/openshift-etcd/pods/etcd-a/etcd-a.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: etcd-a, namespace: openshift-etcd}
""",
    "namespaces/openshift-etcd/pods/etcd-a/etcd/etcd/logs/current.log": (
        '2026-01-01T00:00:00.000000000Z {"level":"warn","ts":"2026-01-01T00:00:00.000Z",'
        '"msg":"apply request took too long","took":"250ms","expected-duration":"100ms"}\n'
    ),
}
AUDIT = {
    "kind": "Event",
    "auditID": "1",
    "stage": "ResponseComplete",
    "requestURI": "/api/v1/pods",
    "verb": "list",
    "user": {"username": "somebody"},
    "objectRef": {"resource": "pods"},
    "responseStatus": {"code": 200},
    "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
    "stageTimestamp": "2026-01-01T00:00:00.100000Z",
}
TOOLS = [
    ("audit-logs", "audit_top", {"path": "audit.log", "by": "user"}, "somebody"),
    ("container-linter", "container_lint", {"content": "FROM debian:12\n"}, "non-ubi-base"),
    ("etcd-diag", "etcd_diag_stats", {"path": "gather"}, "etcd-a"),
    ("ingress-inspect", "ingress_controllers", {"path": "gather"}, "apps.example.com"),
    ("insights", "insights_summary", {"archive": "insights.tar.gz"}, "OpenShift 4.16.3"),
    ("ocp-context-injection", "cluster_context", {}, "not connected"),
    ("ocp-must-gather", "mg_cluster_version", {"path": "gather"}, "4.16.3"),
    ("pilot", "pilot_issues_list", {"owner": "o", "repo": "r"}, "passEnv"),
    ("telemetry", "telemetry_report", {}, "sessions"),
]
FAILING = {"ocp-context-injection", "pilot"}  # without a cluster, and without a token


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the tools are asked about."""
    folder = tmp_path_factory.mktemp("evidence")
    for name, text in GATHER.items():
        file = folder / "gather" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "audit.log").write_text(json.dumps(AUDIT) + "\n")
    version = {
        "metadata": {"name": "version"},
        "spec": {"clusterID": "11111111-2222-3333-4444-555555555555"},
        "status": {"desired": {"version": "4.16.3"}, "history": []},
    }
    data = json.dumps(version).encode()
    with tarfile.open(folder / "insights.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("config/version.json")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return folder


@pytest.mark.parametrize(("plugin", "tool", "args", "said"), TOOLS, ids=[row[0] for row in TOOLS])
def test_a_tool_of_each_plugin_answers(
    installed: Path,
    evidence: Path,
    tmp_path: Path,
    plugin: str,
    tool: str,
    args: dict[str, str],
    said: str,
) -> None:
    told = run(
        *(installed / "tinyhost", "tool", "call", f"plugin__{plugin}__{tool}"),
        *("--plugin", plugin, "--args", json.dumps(args)),
        cwd=evidence,
        env=clean_env(tmp_path),
        status=1 if plugin in FAILING else 0,
    )
    assert said in told


def test_the_sanitizer_takes_secrets_out(installed: Path, tmp_path: Path) -> None:
    output = {"toolName": "read", "toolArgs": "{}", "output": "password=hunter2-Xq9vTz81kLm"}
    told = run(
        *(installed / "tinyhost", "hook", "invoke", "tool.execute.after"),
        *("--plugin", "log-sanitizer", "--json", "--input", json.dumps(output)),
        cwd=tmp_path,
        env=clean_env(tmp_path),
    )
    assert "hunter2-Xq9vTz81kLm" not in json.dumps(json.loads(told)["output"])


def test_every_console_script_of_a_plugin_is_tried_here() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    scripts = config["options.entry_points"]["console_scripts"].split("\n")
    names = {line.split("=")[0].strip() for line in scripts if "tinyhost-plugin-" in line}
    tried = {row[0] for row in TOOLS} | {"log-sanitizer", "safety-net"}
    assert names == {f"tinyhost-plugin-{name}" for name in tried}


def test_a_host_serves_without_any_extra_and_says_what_an_extra_is_for(
    installed: Path, tmp_path: Path
) -> None:
    env = clean_env(tmp_path)
    tinyhost = installed / "tinyhost"
    serving = subprocess.Popen(
        [tinyhost, "serve"], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True
    )
    assert serving.stderr is not None
    try:
        while "control: " not in (line := serving.stderr.readline()):
            assert line
        run(tinyhost, "plugin", "load", "safety-net", cwd=tmp_path, env=env)
        run(tinyhost, "run", "--", "rm", "-rf", "/", cwd=tmp_path, env=env, status=126)
        run(tinyhost, "stop", cwd=tmp_path, env=env)
        assert serving.wait(30) == 0
    finally:
        serving.kill()
        serving.wait()
        serving.stderr.close()
    for option, extra in (("--http", "http"), ("--mcp", "mcp"), ("--otel", "otel")):
        done = subprocess.run(
            [tinyhost, "serve", option], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert done.returncode == 3
        assert f"tinyhost-runtime[{extra}]" in done.stderr
