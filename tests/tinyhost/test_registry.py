from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from tinyhost import registry
from tinyhost.registry import Registry, RegistryEntry

NAMES = [
    "aap-bridge",
    "audit-logs",
    "container-linter",
    "etcd-diag",
    "ingress-inspect",
    "insights",
    "lightwell",
    "log-sanitizer",
    "ocp-context-injection",
    "ocp-must-gather",
    "ocp-obs-logging",
    "ocp-obs-metrics",
    "ocp-odf",
    "ocp-virt",
    "pilot",
    "quay",
    "rh-api-catalog",
    "rh-dev-content",
    "rh-ecosystem-catalog",
    "rhacm",
    "rhacs",
    "rhdh",
    "rhdp-provisioner",
    "rhoai-mlflow",
    "rhoai-pipelines",
    "rhoai-serving",
    "safety-net",
    "satellite",
    "tekton",
    "telemetry",
]

GOOD = 'name = "good"\ncategory = "sre"\ndescription = "Good"\nbinary = "tinyhost-plugin-good"\n'


def write(folder: Path, **files: str) -> Registry:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return Registry(folder)


def test_all_known_plugins_are_there_in_the_order_of_their_files() -> None:
    assert [entry.name for entry in registry.entries()] == NAMES
    assert registry.problems() == []


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_every_entry_is_complete(entry: RegistryEntry) -> None:
    assert entry.binary == f"tinyhost-plugin-{entry.name}"
    assert entry.package == "tinyhost-runtime"
    assert entry.category in registry.categories()
    assert 20 <= len(entry.description) <= 120
    assert not entry.description.endswith(".")


def test_the_lists_are_the_callers_own() -> None:
    registry.entries().clear()
    registry.categories().clear()
    assert len(registry.entries()) == 30
    assert len(registry.categories()) == 6
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        registry.entries()[0].name = "x"  # type: ignore[misc]


def test_lookup_finds_an_entry_or_nothing() -> None:
    found = registry.lookup("safety-net")
    assert found is not None
    assert found.category == "security"
    assert registry.lookup("no-such-plugin") is None


def test_a_category_lists_its_entries() -> None:
    security = [entry.name for entry in registry.by_category("security")]
    expected = ["container-linter", "lightwell", "log-sanitizer", "rhacs", "safety-net"]
    assert security == expected
    assert registry.by_category("none") == []
    counts = {slug: len(registry.by_category(slug)) for slug in registry.categories()}
    assert counts == {
        "sre": 10,
        "security": 5,
        "ai-ml": 3,
        "platform": 5,
        "developer": 5,
        "essential": 2,
    }


def test_search_looks_at_name_description_and_category() -> None:
    assert [entry.name for entry in registry.search("TEKTON")] == ["tekton"]
    assert "ocp-obs-metrics" in [entry.name for entry in registry.search("promql")]
    assert {entry.name for entry in registry.search("ai-ml")} >= {"rhoai-mlflow", "rhoai-serving"}
    assert registry.search("no such words") == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("bad", "name = ", "Invalid"),
        ("bad", GOOD, "must be called good.toml"),
        ("bad", 'name = "bad"\ncategory = "sre"', "required field missing @ entry.description"),
        ("bad", GOOD.replace("good", "bad").replace("sre", "srx"), "unknown category"),
        ("bad", GOOD.replace("good", "bad") + "size = 1\n", "extra fields found (size)"),
        ("bad", GOOD.replace("good", "bad") + "repo = 1\n", "expected str @ entry.repo"),
        ("bad", GOOD.replace('"good"', '"../x"'), "must not contain"),
        ("bad", GOOD.replace('"good"', '"bad"').replace("tinyhost-", "/bin/"), "file name"),
        ("bad", 'name = 3\ncategory = "sre"\ndescription = "x"', "expected str @ entry.name"),
    ],
)
def test_a_broken_file_is_reported_and_the_others_work(
    name: str, text: str, reason: str, tmp_path: Path
) -> None:
    found = write(tmp_path, **{name: text, "good": GOOD})
    assert [entry.name for entry in found.entries()] == ["good"]
    [problem] = found.problems()
    assert problem.file == f"{name}.toml"
    assert reason in problem.message


def test_bytes_that_are_not_text_break_only_their_file(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    found = write(tmp_path, good=GOOD)
    assert len(found.entries()) == len(found.problems()) == 1


def test_shipped_means_that_the_installed_package_declares_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "some_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[console_scripts]\ntinyhost-plugin-a = a:main\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def entry(name: str, package: str) -> RegistryEntry:
        binary = f"tinyhost-plugin-{name}"
        text = {"name": name, "category": "sre", "description": "x"}
        return RegistryEntry(**text, binary=binary, package=package)

    assert entry("a", "some-package").shipped
    assert not entry("b", "some-package").shipped
    assert not entry("a", "no-such-package").shipped
    assert not entry("a", "").shipped


def test_shipped_is_also_a_program_beside_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tinyhost-plugin-b").write_text("")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    text = {"name": "b", "category": "sre", "description": "x"}
    assert RegistryEntry(**text, binary="tinyhost-plugin-b").shipped
    assert not RegistryEntry(**text, binary="tinyhost-plugin-c").shipped


def test_it_works_from_any_folder(tmp_path: Path) -> None:
    code = "from tinyhost import registry; print(len(registry.entries()))"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout == "30\n"


def test_an_installed_registry_package_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tinyhost_registry"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "good.toml").write_text(GOOD)
    command = [sys.executable, "-c", "from tinyhost import registry; print(registry.entries())"]
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "name='good'" in run.stdout
    assert "safety-net" not in run.stdout


def test_a_strangers_registry_folder_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "registry").mkdir()
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = something-else\n")
    monkeypatch.setattr(registry, "__file__", str(tmp_path / "tinyhost" / "registry.py"))
    monkeypatch.setitem(sys.modules, "tinyhost_registry", None)
    registry.default.cache_clear()
    try:
        with pytest.raises(ModuleNotFoundError, match="install it again"):
            registry.entries()
    finally:
        registry.default.cache_clear()
