"""What is read of an archive, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins._shared.archive import ArchiveError
from tinyhost_plugins._shared.report import View
from tinyhost_plugins.insights import loading, metrics
from tinyhost_plugins.insights.loading import Loaded, NotAnArchive, load
from tinyhost_plugins.insights.options import Options
from tinyhost_plugins.insights.report import Report

Write = Callable[..., Path]
LoadFiles = Callable[[dict[str, Any]], Loaded]


def test_the_files_that_tools_look_at_are_kept_and_the_others_listed(
    cluster: dict[str, Any], loaded: LoadFiles
) -> None:
    found = loaded(cluster)
    assert found.count == len(cluster)
    assert set(found.content) == set(cluster) - {
        "config/secrets/openshift-config/support/data.json"
    }
    assert found.root == ""


@pytest.mark.parametrize("root", ["insights-2026-03-01/", "./x/"])
def test_a_folder_around_everything_is_seen_through(
    cluster: dict[str, Any], write: Write, root: str
) -> None:
    found = load(write(cluster, root), Options())
    assert found.root == root.removeprefix("./")
    assert found.count == len(cluster)


def test_of_two_clusters_in_an_archive_the_first_by_name_is_read(write: Write) -> None:
    files = {"b/config/id": "two", "a/config/id": "one", "c/other": ""}
    found = load(write(files), Options())
    assert found.text("config/id") == "one"
    assert found.other_roots == ["b/"]
    assert found.count == 1


def test_a_file_whose_name_begins_with_dots_is_a_file(loaded: LoadFiles) -> None:
    found = loaded({"..data": "x", "config/node/..data.json": {}, "config/id": "1"})
    assert found.count == 3
    assert "config/node/..data.json" in found.content


@pytest.mark.parametrize("files", [{}, {"other": "x"}, {"a/b/config/id": "1"}, {"config": "x"}])
def test_an_archive_without_config_is_refused(write: Write, files: dict[str, Any]) -> None:
    with pytest.raises(NotAnArchive, match="it has no folder config"):
        load(write(files), Options())


@pytest.mark.parametrize("gather", [".", "image"])
@pytest.mark.parametrize("inside", [".", "insights-operator"])
def test_a_must_gather_is_refused_with_the_archives_in_it(
    write: Write, tmp_path: Path, gather: str, inside: str
) -> None:
    folder = tmp_path / "top" / gather / "insights-data" / inside
    folder.mkdir(parents=True)
    (folder / "insights-2026.tar.gz").write_bytes(write({"config/id": "1"}).read_bytes())
    for path in (tmp_path / "top", folder.parent, folder):
        with pytest.raises(
            NotAnArchive, match=r"it holds \S*insights-2026\.tar\.gz: give the path"
        ):
            load(path, Options())


def test_a_folder_is_refused_with_the_archives_in_it(write: Write) -> None:
    path = write({"config/id": "1"})
    with pytest.raises(
        NotAnArchive, match=r"is a folder; it holds archive\.tar\.gz: give the path"
    ):
        load(path.parent, Options())
    path.unlink()
    with pytest.raises(NotAnArchive, match="is a folder; give the path of the archive"):
        load(path.parent, Options())


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="cannot be opened: No such file"):
        load(tmp_path / "none.tar.gz", Options())


def test_files_over_the_limits_are_left_out_and_named(write: Write) -> None:
    files = {f"config/node/{name}.json": "x" * 1000 for name in "abc"}
    path = write(files | {"config/pod/a/b.json": "x" * 5000})
    found = load(path, Options({"maxFileBytes": 4096, "maxMemoryBytes": 2500}))
    assert sorted(found.content) == ["config/node/a.json", "config/node/b.json"]
    assert found.left_out == {
        "config/node/c.json": "maxMemoryBytes is used up",
        "config/pod/a/b.json": "5000 bytes, over maxFileBytes",
    }


def test_reading_ends_when_the_time_of_the_call_is_over(write: Write) -> None:
    path = write({"config/id": "1", "config/other": "2"})
    looks = iter([False, True])
    with pytest.raises(ArchiveError, match="takes too long; raise the plugin's option maxSeconds"):
        load(path, Options(), lambda _what: next(looks))


def test_names_count_as_memory_and_few_of_those_left_out_are_kept(write: Write) -> None:
    files = {f"config/node/{number:0200}.json": "x" for number in range(300)}
    found = load(write(files), Options({"maxMemoryBytes": 21_800}))
    assert len(found.content) == 100
    assert (len(found.left_out), found.left_out_count) == (100, 200)
    assert " and 195 more" in Report(found, View(10), "x").text()


def test_an_archive_of_very_many_objects_is_not_read_whole(write: Write) -> None:
    files = {
        f"config/{name}.json": "{}" * (loading._MOST_OBJECTS // 2) for name in ("node", "nodes")
    }
    found = load(write(files | {"config/version.json": {}}), Options())
    assert sorted(found.content) == ["config/node.json", "config/nodes.json"]
    assert found.left_out == {"config/version.json": "over 1000000 JSON objects in the archive"}


def test_a_flood_of_samples_is_cut_and_told(loaded: LoadFiles) -> None:
    found = loaded({"config/id": "1", "config/metrics": "a 1\n" * (metrics._MOST + 1) + "b 1\n"})
    assert sum(1 for _ in metrics.samples(found, "b")) == 1
    assert found.left_out == {}
    assert sum(1 for _ in metrics.samples(found, "a")) == metrics._MOST
    assert found.left_out == {"config/metrics": "over 100000 samples of a"}


def test_a_line_of_metrics_ends_at_a_newline_alone(loaded: LoadFiles) -> None:
    found = loaded({"config/id": "1", "config/metrics": 'a{x="one\u2028two\x0c"} 7\n'})
    assert list(metrics.samples(found, "a")) == [metrics.Sample({"x": "one\u2028two\x0c"}, 7)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options({"maxEntries": 3}), "more than the 3 entries"),
        (Options({"maxTotalBytes": 2000}), "unpacks to more than the 2000 bytes"),
    ],
)
def test_archives_over_the_limits_are_refused(
    cluster: dict[str, Any], write: Write, options: Options, said: str
) -> None:
    with pytest.raises(ArchiveError, match=said):
        load(write(cluster), options)


def test_files_that_are_no_json_are_noted_once_and_give_nothing(loaded: LoadFiles) -> None:
    files = {"config/node/a.json": "{", "config/node/b.json": "[" * 100_000}
    found = loaded(files | {"config/node/c.json": {"metadata": {"name": "c"}}})
    for _again in range(2):
        assert [raw["metadata"]["name"] for raw in found.objects("config/node/")] == ["c"]
    assert found.faults == {
        "config/node/a.json": "no JSON",
        "config/node/b.json": "nested too deeply",
    }


def test_nothing_is_written(
    cluster: dict[str, Any], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(cluster)
    monkeypatch.setenv("TMPDIR", str(path.parent))
    load(path, Options())
    assert list(path.parent.iterdir()) == [path]
