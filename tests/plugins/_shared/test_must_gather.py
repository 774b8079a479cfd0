"""Must-gathers: roots, objects, files and log lines, also those made to do harm."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from trees import write_tree

from tinyhost_plugins._shared.must_gather import (
    Limits,
    MustGatherError,
    Resource,
    open_must_gather,
)
from tinyhost_plugins._shared.must_gather_yaml import FormatError, documents, scalar

ROUTES = "namespaces/shop/route.openshift.io/routes"
NODES = "cluster-scoped-resources/core/nodes"


def named(name: str, **more: Any) -> str:
    return yaml.safe_dump({"kind": "Route", "metadata": {"name": name}, **more})


def names(found: Any) -> list[str]:
    return [resource.name for resource in found]


# Roots


def test_a_root_is_found_below_the_folder_of_the_gather(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"must-gather.local.1/image/{NODES}/a.yaml": named("a")})
    write_tree(tmp_path, {"must-gather.local.1/image/namespaces/shop/core/x.yaml": named("x")})
    mg = open_must_gather(str(tmp_path))
    assert mg.root == tmp_path / "must-gather.local.1" / "image"
    assert mg.parts == ("cluster-scoped-resources", "namespaces")
    assert mg.missing[:2] == ("host_service_logs", "monitoring")
    assert mg.namespaces == ("shop",)
    assert mg.others == ()


def test_of_several_images_the_fullest_is_taken_and_the_others_are_named(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a-storage/namespaces/odf/core/pods.yaml": named("x")})
    write_tree(tmp_path, {f"b-main/{NODES}/a.yaml": named("a")})
    write_tree(
        tmp_path, {"b-main/cluster-scoped-resources/config.openshift.io/clusterversions/v.yaml": ""}
    )
    write_tree(tmp_path, {"c-virt/namespaces/cnv/core/pods.yaml": named("x")})
    mg = open_must_gather(tmp_path)
    assert mg.root.name == "b-main"
    assert [other.name for other in mg.others] == ["a-storage", "c-virt"]
    assert open_must_gather(tmp_path / "c-virt").namespaces == ("cnv",)


def test_a_root_within_a_root_is_no_other_one(tmp_path: Path) -> None:
    write_tree(tmp_path, {"namespaces/namespaces/core/pods.yaml": named("x")})
    assert open_must_gather(tmp_path).others == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", "does not exist; give the folder"),
        ("file", "is not a folder"),
        ("empty", "is no must-gather: no folder in it has cluster-scoped-resources or namespaces"),
        ("gather/namespaces/shop", "it seems to be a part of the one in"),
        ("x.tar.gz", "is an archive; unpack it"),
        ("held", "it has y.tar.gz, which may have to be unpacked"),
        ("a\0b", "cannot be opened"),
        ("~no-such-user-here/x", "cannot be opened"),
        ("loop", "cannot be opened|does not exist"),
    ],
)
def test_what_is_no_must_gather_is_refused_in_words(tmp_path: Path, name: str, said: str) -> None:
    write_tree(tmp_path, {"file": "", "x.tar.gz": "", "held/y.tar.gz": ""})
    write_tree(tmp_path, {"gather/namespaces/shop/core/pods.yaml": ""})
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    given = name if name.startswith("~") else f"{tmp_path}/{name}"
    with pytest.raises(MustGatherError, match=said):
        open_must_gather(given)


def test_the_path_itself_may_be_a_link_but_no_link_below_leads_to_a_root(tmp_path: Path) -> None:
    write_tree(tmp_path / "real", {"namespaces/shop/core/pods.yaml": named("x")})
    (tmp_path / "link").symlink_to("real")
    assert open_must_gather(tmp_path / "link").root == tmp_path / "real"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "inner").symlink_to("../real")
    with pytest.raises(MustGatherError, match="is no must-gather"):
        open_must_gather(tmp_path / "other")


# Objects


def test_lists_single_files_and_json_are_read_and_doubles_left_out(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            f"{ROUTES}.yaml": yaml.safe_dump(
                {"kind": "RouteList", "items": [{"metadata": {"name": "a"}}, "odd", None]}
            ),
            f"{ROUTES}/a.yaml": named("a", spec={"host": "second"}),
            f"{ROUTES}/b.json": json.dumps({"kind": "Route", "metadata": {"name": "b"}}),
            f"{ROUTES}/c.yml": "---\n" + named("c") + "---\n" + named("d") + "---\n",
            f"{ROUTES}/e.json": json.dumps([{"metadata": {"name": "e"}}, 1]),
            f"{ROUTES}/skip.txt": named("never"),
            "namespaces/bank/route.openshift.io/routes.json": json.dumps({"items": []}),
        },
    )
    mg = open_must_gather(tmp_path)
    found = list(mg.namespaced("shop", "route.openshift.io", "routes"))
    assert names(found) == ["a", "b", "c", "d", "e"]
    assert found[0].kind == "Route"
    assert found[0].namespace == "shop"
    assert found[0].source == f"{ROUTES}.yaml"
    assert names(mg.everywhere("route.openshift.io", "routes")) == ["a", "b", "c", "d", "e"]
    assert list(mg.namespaced("none", "core", "pods")) == []
    assert mg.faults == {}


def test_pods_are_read_from_their_own_folders_too(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "namespaces/shop/core/pods.yaml": "kind: PodList\nitems: [{metadata: {name: a}}]",
            "namespaces/shop/pods/a/a.yaml": named("a"),
            "namespaces/shop/pods/b/b.yaml": named("b"),
            "namespaces/shop/pods/only-logs/c/c/logs/current.log": "x",
        },
    )
    mg = open_must_gather(tmp_path)
    assert names(mg.namespaced("shop", "core", "pods")) == ["a", "b"]
    assert mg.faults == {}


@pytest.mark.parametrize("bad", ["..", "../..", "a/b", "", ".", "a\0"])
def test_a_namespace_or_kind_that_is_a_path_is_refused(tmp_path: Path, bad: str) -> None:
    mg = open_must_gather(write_tree(tmp_path, {f"{NODES}/a.yaml": named("a")}))
    for ask in (
        lambda: mg.namespaced(bad, "core", "pods"),
        lambda: mg.namespaced("a", bad, "pods"),
        lambda: mg.cluster("core", bad),
    ):
        with pytest.raises(MustGatherError, match="is no name"):
            ask()


def test_values_are_given_by_their_type_or_not_at_all() -> None:
    found = Resource(
        {
            "metadata": {"name": "a", "namespace": "n"},
            "spec": {"port": 80, "on": False, "list": [1, {"x": 2}], "part": 1.5, "none": None},
        },
        "file",
    )
    assert (found.name, found.namespace, found.kind) == ("a", "n", "")
    assert found.text("metadata", "name") == "a"
    assert found.text("spec", "port") is None
    assert found.scalar("spec", "port") == "80"
    assert found.scalar("spec", "on") == "false"
    assert found.integer("spec", "port") == 80
    assert found.integer("spec", "on") is None
    assert found.integer("spec", "part") is None
    assert found.flag("spec", "on") is False
    assert found.flag("spec", "port") is None
    assert found.items("spec", "list") == [1, {"x": 2}]
    assert found.items("spec") is None
    assert [value.integer("x") for value in found.objects("spec", "list")] == [2]
    assert found.mapping("spec", "list") is None
    assert found.values("spec").integer("port") == 80
    assert found.text("spec", "none", "deeper", "still") is None


def test_a_broken_file_is_noted_and_what_precedes_the_fault_is_kept(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            f"{NODES}/a.yaml": named("a") + "---\nb: [1,\n",
            f"{NODES}/b.yaml": named("b") + "x: {a: \x01}",
            f"{NODES}/c.yaml": named("c"),
            f"{NODES}/d.yaml": b"\xff\xfe\x00",
            f"{NODES}/e.yaml": "",
        },
    )
    mg = open_must_gather(tmp_path)
    assert names(mg.cluster("core", "nodes")) == ["a", "c"]
    assert set(mg.faults) == {f"{NODES}/{name}.yaml" for name in "abd"}
    assert mg.faults[f"{NODES}/a.yaml"].startswith("no valid YAML: ")


def test_a_file_that_is_too_large_is_noted(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {f"{NODES}/a.yaml": named("a") + "#" * 2000, f"{NODES}/b.yaml": named("b")}
    )
    mg = open_must_gather(tmp_path, Limits(file_bytes=1000))
    assert names(mg.cluster("core", "nodes")) == ["b"]
    assert "at most 1000 are read" in mg.faults[f"{NODES}/a.yaml"]


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(named("secret"))
    root = write_tree(tmp_path / "root", {f"{NODES}/a.yaml": named("a"), "namespaces/n/core/x": ""})
    (root / NODES / "link.yaml").symlink_to("../../../../secret.yaml")
    (root / "namespaces" / "m").symlink_to(tmp_path)
    os.mkfifo(root / NODES / "pipe.yaml")
    mg = open_must_gather(root)
    assert names(mg.cluster("core", "nodes")) == ["a"]
    assert mg.namespaces == ("n",)
    assert list(mg.namespaced("m", "core", "secret")) == []
    assert list(mg.find("**/secret.yaml")) == []
    assert mg.faults[f"{NODES}/link.yaml"] == "a link; not followed"
    for path in (f"{NODES}/link.yaml", "namespaces/m/secret.yaml"):
        with pytest.raises(MustGatherError, match="cannot be read"):
            mg.read_text(path, 100)
    with pytest.raises(MustGatherError, match="no plain file"):
        mg.read_text(f"{NODES}/pipe.yaml", 100)


@pytest.mark.parametrize("bad", ["../x", "a/../../x", "/etc/passwd", "a\0b"])
def test_a_path_or_pattern_that_leads_out_is_refused(tmp_path: Path, bad: str) -> None:
    mg = open_must_gather(write_tree(tmp_path, {f"{NODES}/a.yaml": named("a")}))
    with pytest.raises(MustGatherError):
        mg.read_text(bad, 100)
    with pytest.raises(MustGatherError):
        list(mg.find(bad))


def test_files_are_found_by_patterns_sorted(tmp_path: Path) -> None:
    files = ("monitoring/b.json", "monitoring/a/x.json", "monitoring/a/deep/y.json", "z.json")
    write_tree(tmp_path, dict.fromkeys(files, "") | {f"{NODES}/a.yaml": ""})
    mg = open_must_gather(tmp_path)

    def found(pattern: str) -> list[str]:
        return [mg.relative(path) for path in mg.find(pattern)]

    assert found("monitoring/*.json") == ["monitoring/b.json"]
    assert found("monitoring/**/*.json") == [
        "monitoring/b.json",
        "monitoring/a/x.json",
        "monitoring/a/deep/y.json",
    ]
    assert len(found("**/**/*.json")) == 4
    assert len(found("monitoring/**")) == 3
    assert found("monitoring/*/?.json") == ["monitoring/a/x.json"]
    assert found(str(tmp_path / "z.json")) == ["z.json"]
    assert found("none/**") == []


def test_a_search_that_looks_at_too_much_ends_and_is_noted(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{NODES}/{number}.yaml": "" for number in range(20)})
    mg = open_must_gather(tmp_path, Limits(entries=10))
    assert len(list(mg.find("**/*.yaml"))) < 10
    assert mg.faults["**/*.yaml"] == "the search ended after 10 entries"


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    mg = open_must_gather(write_tree(tmp_path, {"namespaces/x": "", f"{NODES}/a.yaml": "\xe4bc"}))
    assert mg.read_text(f"{NODES}/a.yaml", 4) == "\xe4bc"
    with pytest.raises(MustGatherError, match="has 4 bytes; at most 3 are read"):
        mg.read_text(mg.root / NODES / "a.yaml", 3)
    with pytest.raises(MustGatherError, match="No such file"):
        mg.read_text("namespaces/none", 3)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01 10:00:00.123456789 +0000 UTC m=+0.1\n", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00+02:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("no time", None),
        ("2026-13-01 10:00:00", None),
    ],
)
def test_the_time_of_gathering_is_read(tmp_path: Path, text: str, moment: datetime | None) -> None:
    mg = open_must_gather(write_tree(tmp_path / "1", {f"{NODES}/a.yaml": "", "timestamp": text}))
    assert mg.gathered() == moment
    # Of the whole, where the image's own folder does not say.
    write_tree(tmp_path / "2", {f"image/{NODES}/a.yaml": "", "timestamp": text})
    assert open_must_gather(tmp_path / "2").gathered() == moment
    assert open_must_gather(tmp_path / "2" / "image").gathered() is None


# YAML


# PyYAML writes YAML 1.1, which does not quote a few texts that are numbers in 1.2, as 0E0.
TEXTS = st.text(max_size=20).filter(lambda text: not isinstance(scalar(text), float))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


@given(st.lists(JSON) | st.dictionaries(st.text(), JSON))
def test_what_yaml_and_json_write_is_read_back(value: Any) -> None:
    assert list(documents(json.dumps(value))) == [value]
    assert list(documents(yaml.safe_dump(value))) == [value]


@given(st.text(max_size=200))
def test_any_text_gives_values_or_a_format_error(text: str) -> None:
    try:
        said = repr(list(documents(text)))
    except FormatError as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("", None),
        ("true", True),
        ("yes", "yes"),
        ("12", 12),
        ("-3", -3),
        ("0x1f", 31),
        ("1.5e3", 1500.0),
        ("1.2.3", "1.2.3"),
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"),
        ("1_000", "1_000"),
        (".", "."),
        ("-", "-"),
        ("1e999999", "1e999999"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_plain_scalars_have_the_types_of_yaml_1_2(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_keys_are_texts_whatever_they_look_like() -> None:
    assert list(documents("1e0: a\n~: b\n? &k 2\n: c\n*k : d\n")) == [
        {"1e0": "a", "~": "b", "2": "d"}
    ]


def test_quoted_numbers_and_tagged_values_stay_texts() -> None:
    text = "a: '1'\nb: !!int 3\nc: !!python/object:os.system x\n3: d\ntrue: e\n"
    assert list(documents(text)) == [{"a": "1", "b": "3", "c": "x", "3": "d", "true": "e"}]


def test_aliases_are_followed_but_not_into_a_bomb() -> None:
    assert list(documents("a: &x [1]\nb: *x")) == [{"a": [1], "b": [1]}]
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    for number in range(1, 12):
        lines.append(f"a{number}: &a{number} [{','.join([f'*a{number - 1}'] * 9)}]")
    with pytest.raises(FormatError, match="more values than are read"):
        list(documents("\n".join(lines)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x [*x]", "stands for nothing"),
        ("[" * 200 + "]" * 200 + "x", "nested deeper|no valid YAML"),
        ("".join(f"{' ' * n}b:\n" for n in range(300)), "nested deeper"),
        ("[" * 100_000, "nested"),
        ("? [a]\n: b", "a key that is no text"),
        ("a: b: c", "no valid YAML"),
    ],
)
def test_a_text_that_goes_past_a_bound_is_refused(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        list(documents(text))


def test_when_the_time_is_over_reading_ends_between_files_and_within_one(tmp_path: Path) -> None:
    pods = yaml.safe_dump({"items": [{"metadata": {"name": f"p{n}"}} for n in range(3000)]})
    write_tree(
        tmp_path,
        {
            f"{NODES}/a.yaml": named("a"),
            f"{NODES}/b.yaml": named("b"),
            "namespaces/one/core/pods.yaml": pods,
            "namespaces/two/core/pods.yaml": named("x"),
        },
    )
    mg = open_must_gather(tmp_path)
    asked: list[str] = []

    def is_over(what: str) -> bool:
        asked.append(what)
        return len(asked) > most

    mg.tree.is_over = is_over
    most = 2
    assert names(mg.cluster("core", "nodes")) == ["a"]
    assert (asked[0], mg.faults) == (f"reading {NODES}/a.yaml", {})
    asked.clear()
    most = 3
    assert names(mg.everywhere("core", "pods")) == []
    assert mg.faults == {"namespaces/one/core/pods.yaml": "the time was over"}


def test_who_allows_larger_files_allows_more_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tinyhost_plugins._shared.must_gather.MOST_VALUES", 20)
    text = "items: [{metadata: {name: a}, x: [" + "1, " * 50 + "1]}]\n"
    write_tree(tmp_path, {f"{NODES}.yaml": text})
    for size, found in ((500, []), (1600, ["a"])):
        mg = open_must_gather(tmp_path, Limits(file_bytes=size))
        assert names(mg.cluster("core", "nodes")) == found
        assert bool(mg.faults) is not bool(found)
