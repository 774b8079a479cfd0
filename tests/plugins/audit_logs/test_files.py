"""Where logs are found, and where they are not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.audit_logs.files import LogFile, find, in_area
from tinyhost_sdk import HandlerError


def labels(path: Path) -> list[str]:
    return [file.label for file in find(str(path), "", ())]


@pytest.fixture
def full(gather: Any) -> Any:
    """Every place that must-gather's script writes to."""
    for area in ("openshift-apiserver", "kube-apiserver", "oauth-apiserver", "oauth-server"):
        gather.add(b"", area=area, name="master-1-audit.log.gz")
        gather.add(b"", area=area, name="master-0-audit-2026-01-02T10-00-00.000.log.gz")
    gather.add(b"", area="kube-apiserver", name="master-0-termination.log.gz")
    gather.add(b"", area="etcd", name="master-0-etcd-health-probe.log.gz")
    gather.add(b"", area="monitoring/metrics-server-5d9f", name="audit.log")
    gather.add(b"", area=".", name="kube-apiserver.audit_logs_listing")
    return gather


def test_a_path_may_begin_at_home(full: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(full.root.parent))
    assert find(f"~/{full.root.name}", "/", ()) == find(str(full.root), "", ())
    with pytest.raises(HandlerError, match="cannot read '~nobody-has-this-name'"):
        find("~nobody-has-this-name", "/", ())


def test_all_areas_of_a_must_gather_are_found_in_a_stable_order(full: Any) -> None:
    found = find(str(full.root), "", ())
    assert [(file.label, file.area, file.node) for file in found] == [
        *(
            (f"{area}/{name}.log.gz", area, name.split("-audit")[0])
            for area in ("kube-apiserver", "openshift-apiserver", "oauth-apiserver", "oauth-server")
            for name in ("master-0-audit-2026-01-02T10-00-00.000", "master-1-audit")
        ),
        ("monitoring/metrics-server-5d9f/audit.log", "monitoring", "metrics-server-5d9f"),
        ("etcd/master-0-etcd-health-probe.log.gz", "etcd", ""),
    ]


def test_every_folder_on_the_way_stands_for_the_same_logs(full: Any) -> None:
    wanted = labels(full.root)
    for folder in (full.root.parent, full.image, full.audit_logs):
        assert labels(folder) == wanted


def test_one_area_and_one_log_can_be_named(full: Any) -> None:
    found = find(str(full.audit_logs / "oauth-server"), "", ())
    assert {file.area for file in found} == {"oauth-server"}
    assert found[0].label == "oauth-server/master-0-audit-2026-01-02T10-00-00.000.log.gz"
    assert len(find(str(full.audit_logs / "monitoring"), "", ())) == 1
    [one] = find(str(full.audit_logs / "oauth-server" / "master-1-audit.log.gz"), "", ())
    assert (one.area, one.node, one.label) == ("oauth-server", "master-1", "master-1-audit.log.gz")


def test_a_folder_with_logs_of_any_kind_is_read_but_not_what_is_below(tmp_path: Path) -> None:
    (tmp_path / "kubernetes" / "deeper").mkdir(parents=True)
    for name in ("audit.log", "audit-2026.log.gz", "notes.txt", "deeper/audit.log"):
        (tmp_path / "kubernetes" / name).touch()
    assert labels(tmp_path / "kubernetes") == [
        "kubernetes/audit-2026.log.gz",
        "kubernetes/audit.log",
    ]


def test_a_relative_path_starts_at_the_folder_of_the_caller(full: Any) -> None:
    relative = full.image.relative_to(full.root.parent)
    assert len(find(str(relative), str(full.root.parent), ())) == 10


@pytest.mark.parametrize(("levels", "found"), [(4, True), (5, False)])
def test_a_must_gather_may_be_four_levels_below(tmp_path: Path, levels: int, found: bool) -> None:
    area = tmp_path.joinpath(*"abcde"[:levels], "audit_logs", "kube-apiserver")
    area.mkdir(parents=True)
    (area / "audit.log").touch()
    if found:
        assert labels(tmp_path) == ["kube-apiserver/audit.log"]
    else:
        with pytest.raises(HandlerError, match="up to 4 levels below"):
            labels(tmp_path)


@pytest.mark.parametrize(("levels", "found"), [(4, 1), (5, 0)])
def test_a_log_may_be_four_levels_below_its_audit_logs(
    gather: Any, levels: int, found: int
) -> None:
    gather.add(b"", name="here-audit.log")
    gather.add(b"", area="/".join("abcde"[:levels]), name="there-audit.log")
    assert len(labels(gather.root)) == 1 + found


def test_a_node_in_the_name_goes_before_the_pod(gather: Any) -> None:
    gather.add(b"", area="monitoring/pod", name="master-3-audit.log")
    [file] = find(str(gather.root), "", ())
    assert file.node == "master-3"


def test_links_are_not_followed(gather: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "master-9-audit.log").touch()
    gather.add(b"")
    (gather.audit_logs / "oauth-server").symlink_to(outside)
    (gather.audit_logs / "kube-apiserver" / "x-audit.log").symlink_to(
        outside / "master-9-audit.log"
    )
    os.mkfifo(gather.audit_logs / "kube-apiserver" / "y-audit.log")
    assert labels(gather.root) == ["kube-apiserver/master-0-audit.log"]


def test_an_image_without_logs_beside_is_no_matter(full: Any) -> None:
    (full.root / "another-image" / "audit_logs" / "kube-apiserver").mkdir(parents=True)
    assert len(labels(full.root)) == 10


def test_several_must_gathers_are_refused_and_named(full: Any) -> None:
    other = full.root / "other-image" / "audit_logs" / "kube-apiserver"
    other.mkdir(parents=True)
    (other / "audit.log").touch()
    with pytest.raises(HandlerError, match=r"several must-gathers; name one of: .*other-image"):
        labels(full.root)


def test_names_in_messages_are_escaped(gather: Any) -> None:
    gather.add(b"", area="x\x1b[2J")
    with pytest.raises(HandlerError, match=r"one of: x\\x1b\[2J$"):
        in_area(find(str(gather.root), "", ()), "nothing")


def test_no_logs_is_an_error_that_says_what_was_expected_and_how_to_get_it(gather: Any) -> None:
    with pytest.raises(HandlerError) as caught:
        labels(gather.root)
    for part in (
        "audit_logs/kube-apiserver",
        "audit_logs/openshift-apiserver",
        "audit_logs/oauth-apiserver",
        "oc adm must-gather -- /usr/bin/gather_audit_logs",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("path", "text"),
    [("nowhere", "there is no /.*nowhere"), ("a\0b", "cannot read"), ("x" * 300, "cannot read")],
)
def test_a_path_that_is_none_is_an_error(tmp_path: Path, path: str, text: str) -> None:
    with pytest.raises(HandlerError, match=text):
        find(path, str(tmp_path), ())


def test_an_error_names_a_long_path_once_and_cut(tmp_path: Path) -> None:
    with pytest.raises(HandlerError) as caught:
        find("x" * 5000, str(tmp_path), ())
    assert str(caught.value).endswith("xxx: File name too long")
    assert len(str(caught.value)) < 450


@pytest.mark.parametrize("name", ["must-gather.tar.gz", "x.TGZ", "audit_logs.zip"])
def test_an_archive_is_not_read_as_a_log(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(HandlerError, match="is an archive; unpack it and give the folder"):
        labels(tmp_path / name)


def test_a_log_that_is_there_packed_as_well_is_read_once(gather: Any, event: Any, ask: Any) -> None:
    gather.add([event()], name="m-audit.log.gz")
    gather.add([event()], name="m-audit.log")
    gather.add([event()], name="n-audit.log.gz")
    content = ask("audit_top", by="node").content
    assert content.startswith("Top 2 of 2 values of node, in 2 events")
    assert "Also there packed, and not read again: 1 log." in content


def test_a_folder_that_cannot_be_read_is_told_and_the_others_are_read(
    gather: Any, event: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gather.add([event()])
    gather.add([event()], area="oauth-apiserver")
    scandir = os.scandir

    def forbidden(folder: Any) -> Any:
        # The tests may be run by root, who may read everything.
        if str(folder).endswith("oauth-apiserver"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr("tinyhost_plugins.audit_logs.files.os.scandir", forbidden)
    content = ask("audit_top", by="verb").content
    assert content.startswith("Top 1 of 1 value of verb, in 1 event\n")
    assert "INCOMPLETE, not read: oauth-apiserver: " in content
    assert "\nRead 1 of 2 logs of 1 node; events: kube-apiserver 1." in content


def test_a_pipe_is_no_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "audit.log")
    with pytest.raises(HandlerError, match="neither a folder nor a file"):
        labels(tmp_path / "audit.log")


def test_only_what_is_below_the_roots_is_read(full: Any, tmp_path: Path) -> None:
    assert find(str(full.root), "", (str(tmp_path),))
    for path in (full.root, full.root / "sub" / ".." / ".."):
        with pytest.raises(HandlerError, match="outside of the folders that may be read: /srv"):
            find(str(path), "", ("/srv",))
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed" / "link").symlink_to(full.root)
    with pytest.raises(HandlerError, match="outside"):
        find(str(tmp_path / "allowed" / "link"), "", (str(tmp_path / "allowed"),))


def test_an_area_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    files = [LogFile("", "", area, "", 0) for area in ("kube-apiserver", "etcd", "etcd")]
    assert in_area(files, "etcd") == files[1:]
    with pytest.raises(HandlerError, match=r"must be one of: kube-apiserver, etcd$"):
        in_area(files, "nothing")
