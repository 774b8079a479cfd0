"""The tools for snapshots, on what a real etcd has saved."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tinyhost_plugins.etcd_diag import snapshot_tools
from tinyhost_plugins.etcd_diag.plugin import build
from tinyhost_sdk import testing

from .conftest import SECRET, Saved, running_etcd

LARGE = 2 * 1024 * 1024 * 1024


@pytest.fixture
def opened(driver: testing.Driver, saved: Saved) -> testing.Driver:
    ask(driver, "etcd_snapshot_open", path=str(saved.path))
    return driver


def ask(driver: testing.Driver, tool: str, **args: object) -> str:
    result = driver.call_tool(tool, args)
    assert not result.is_error, result.content
    return result.content


def refused(driver: testing.Driver, tool: str, **args: object) -> str:
    result = driver.call_tool(tool, args)
    assert result.is_error, result.content
    return result.content


def row(table: str, kind: str) -> list[str]:
    return next(re.split(r" {2,}", line) for line in table.splitlines() if line.startswith(kind))


def test_a_snapshot_opens_with_the_numbers_that_etcd_and_etcdctl_give(
    driver: testing.Driver, saved: Saved
) -> None:
    text = ask(driver, "etcd_snapshot_open", path=str(saved.path))
    first = text.splitlines()[0]
    assert first.startswith(f"snapshot.db: {len(saved.keys)} keys at revision {saved.revision}, ")
    assert first.endswith("hash ok")
    assert saved.status["revision"] == saved.revision
    entries = re.findall(r"(\w+) ([\d,]+)(?:,|$)", text.split("buckets: ")[1].splitlines()[0])
    assert sum(int(number.replace(",", "")) for _, number in entries) == saved.status["totalKey"]
    assert "member: m0 http://127.0.0.1:" in text
    assert "clusterVersion: 3.4.0" in text
    assert re.search(r"compacted up to \d+", text)


def test_every_key_that_etcd_has_is_found_and_no_other(
    opened: testing.Driver, saved: Saved
) -> None:
    text = ask(opened, "etcd_snapshot_search", pattern=".", max=1000)
    found = [line.split("B  ", 1)[1] for line in text.splitlines()[2:]]
    shown = [key.replace("sha256~abcdefghijkl", "sha256~abc…") for key in saved.keys]
    assert found == shown


def test_kinds_are_counted_with_history_and_deletions(opened: testing.Driver) -> None:
    table = ask(opened, "etcd_snapshot_resources")
    assert row(table, "events")[1:3] == ["registry", "100"]
    pods = row(table, "pods")
    assert pods[1:3] == ["kubernetes.io", "1"]
    # web-3 was deleted after the compaction, which took away web-2 and the history of web-1.
    assert pods[-2:] == ["1", "1"]
    assert row(table, "certificates.cert-manager.io")[2] == "1"
    assert row(table, "services/specs")[2] == "1"
    assert row(table, "plain-key")[1:3] == ["-", "1"]
    assert row(table, "minions")[-2:] == ["2", "0"]


def test_kinds_can_be_sorted_by_size(opened: testing.Driver) -> None:
    by_count = ask(opened, "etcd_snapshot_resources", sort_by="anything").splitlines()
    by_size = ask(opened, "etcd_snapshot_resources", sort_by="size").splitlines()
    assert by_count[3].startswith("events")
    assert by_size[3].startswith("configmaps")
    assert sorted(by_count[2:]) == sorted(by_size[2:])


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "key"),
    [
        ("pods", "shop", "web-1", "/kubernetes.io/pods/shop/web-1"),
        ("Pod", "shop", "web-1", "/kubernetes.io/pods/shop/web-1"),
        ("svc", "shop", "web", "/kubernetes.io/services/specs/shop/web"),
        ("node", "", "node-a", "/kubernetes.io/minions/node-a"),
        ("event", "shop", "web.007", "/registry/events/shop/web.007"),
        ("certificate", "shop", "tls", "/kubernetes.io/cert-manager.io/certificates/shop/tls"),
        ("certificates.cert-manager.io", "shop", "tls", "/kubernetes.io/cert-manager.io/cert"),
    ],
)
def test_objects_are_found_by_the_names_that_people_use(
    opened: testing.Driver, kind: str, namespace: str, name: str, key: str
) -> None:
    text = ask(opened, "etcd_snapshot_get", kind=kind, namespace=namespace, name=name)
    assert text.startswith(key)


def test_of_protobuf_the_type_and_the_metadata_are_shown(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_get", kind="pods", namespace="shop", name="web-1")
    assert "version 6, created at revision 2, last changed at" in text
    for line in (
        *("apiVersion: v1", "kind: Pod", "name: web-1", "namespace: shop", "uid: uid-1"),
        *("created: 2023-11-14T22:13:20Z", "labels: app=web", "annotations (names): note/name"),
    ):
        assert line in text.splitlines()
    assert "note-value" not in text


def test_a_lease_is_named(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_get", kind="masterleases", name="10.0.0.1")
    assert re.search(r"lease [0-9a-f]{8,}", text)
    # Its metadata has another name, so it may be anything, and is not shown.
    assert "uid-1" not in text


def test_a_secret_shows_its_keys_count_and_nothing_of_its_values(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_get", kind="secrets", namespace="shop", name="login")
    assert '"redacted": 2' in text
    assert '"redacted": 1' in text
    assert '"type": "Opaque"' in text
    assert SECRET not in text
    assert "hunter2" not in text
    assert "characters)" in text


def test_a_config_map_is_shown_without_the_password_in_it(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_get", kind="cm", namespace="shop", name="settings")
    assert '"colour": "blue"' in text
    assert "mode=fast" in text
    assert "swordfish99" not in text


def test_an_encrypted_value_names_its_provider_only(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_get", kind="secrets", namespace="shop", name="sealed")
    assert "encrypted at rest (aescbc:v1:key1)" in text
    assert len(text.splitlines()) == 2


def test_a_long_value_is_cut_and_the_text_says_how_to_see_more(opened: testing.Driver) -> None:
    args = {"kind": "configmaps", "namespace": "shop", "name": "large"}
    short = ask(opened, "etcd_snapshot_get", **args)
    assert len(short) < 25_000
    assert '"max_chars" allows more' in short
    assert "x" * 60_000 in ask(opened, "etcd_snapshot_get", max_chars=100_000, **args)


def test_a_deleted_object_is_called_deleted_and_an_absent_one_absent(
    opened: testing.Driver,
) -> None:
    gone = ask(opened, "etcd_snapshot_get", kind="pods", namespace="shop", name="web-3")
    assert "does not exist any more: its newest revision is a deletion" in gone
    for name in ("web-2", "web-9"):
        never = ask(opened, "etcd_snapshot_get", kind="pods", namespace="shop", name=name)
        assert never.startswith(f"there is no /kubernetes.io/pods/shop/{name} in the snapshot")


def test_a_name_that_no_object_can_have_is_absent(opened: testing.Driver) -> None:
    for name in ("\ud800", "a\nb", "x" * 5000):
        text = ask(opened, "etcd_snapshot_get", kind="pods", name=name)
        assert text.startswith("there is no /kubernetes.io/pods/")
        assert len(text.splitlines()) == 2
        assert len(text) < 500


def test_a_forgotten_namespace_is_found_out(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_get", kind="pods", name="web-1")
    assert "of that name there are:\n  /kubernetes.io/pods/shop/web-1" in text


def test_a_search_takes_expressions_and_says_how_many_more_there_are(
    opened: testing.Driver,
) -> None:
    text = ask(opened, "etcd_snapshot_search", pattern=r"events/.*00\d$", max=3)
    lines = text.splitlines()
    assert lines[0].startswith("10 keys match")
    assert [line.rsplit(".", 1)[1] for line in lines[2:5]] == ["000", "001", "002"]
    assert lines[5].startswith("7 more matches")


def test_a_search_for_what_is_no_expression_looks_for_the_text(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_search", pattern="web-1[")
    assert text == "no key matches 'web-1[', as plain text, for it is no valid expression"
    assert ask(opened, "etcd_snapshot_search", pattern="pods/shop/web").startswith("1 key match")


def test_a_search_for_nothing_is_refused(opened: testing.Driver) -> None:
    assert "is empty" in refused(opened, "etcd_snapshot_search", pattern="")


def test_what_is_hidden_of_a_key_cannot_be_searched_for(opened: testing.Driver) -> None:
    for pattern in ("abcdefghijkl", "sha256~abcd", "accesstokens/sha256~[a-z]{4}", "tokens/.{12}"):
        assert ask(opened, "etcd_snapshot_search", pattern=pattern).startswith("no key matches")
    assert ask(opened, "etcd_snapshot_search", pattern="tokens/sha").startswith("1 key matches")


def test_storage_names_the_largest_and_the_most_changed_keys(opened: testing.Driver) -> None:
    text = ask(opened, "etcd_snapshot_storage")
    largest = text.split("largest values (top 20):\n")[1].splitlines()[0]
    assert largest.split() == ["58.6", "KiB", "/kubernetes.io/configmaps/shop/large"]
    busiest = text.split("since they were created):\n")[1].splitlines()[0]
    assert busiest.split() == ["6", "/kubernetes.io/pods/shop/web-1"]
    # What is as it was created has not changed.
    assert "         1  /" not in text
    assert re.search(r"pages: [\d,]+ of 4.0 KiB, \d+ free", text)


def test_free_pages_call_for_a_defragmentation_and_history_for_a_compaction(
    driver: testing.Driver, tmp_path: Path
) -> None:
    with running_etcd(tmp_path) as etcd:
        for number in range(40):
            etcd.put("/registry/configmaps/a/b", b"%d" % number * 10_000)
        etcd.save(tmp_path / "history.db")
        etcd.compact(etcd.revision())
        etcd.save(tmp_path / "free.db")
        etcd.etcdctl("defrag")
        etcd.save(tmp_path / "small.db")
    sizes = []
    for name, advice in (
        ("history.db", "the replaced revisions take more than the current ones"),
        ("free.db", "more than half of the file is free; defragment"),
        ("small.db", "neither defragmentation nor compaction would win much"),
    ):
        assert (
            ask(driver, "etcd_snapshot_open", path=str(tmp_path / name))
            .splitlines()[0]
            .endswith("hash ok")
        )
        text = ask(driver, "etcd_snapshot_storage")
        assert f"advice: {advice}" in text
        sizes.append((tmp_path / name).stat().st_size)
    assert sizes[2] < sizes[1]


def test_the_copy_of_a_database_opens_without_a_hash(
    driver: testing.Driver, tmp_path: Path
) -> None:
    with running_etcd(tmp_path) as etcd:
        etcd.put("/registry/pods/a/b", b"1")
    text = ask(driver, "etcd_snapshot_open", path=str(tmp_path / "data" / "member" / "snap" / "db"))
    assert text.splitlines()[0].startswith("db: 1 key at revision 2, ")
    assert text.splitlines()[0].endswith("hash none")


def test_a_changed_byte_is_noticed(driver: testing.Driver, saved: Saved, tmp_path: Path) -> None:
    content = bytearray(saved.path.read_bytes())
    at = content.index(b"x" * 1000)
    content[at] = ord("y")
    (tmp_path / "changed.db").write_bytes(content)
    text = ask(driver, "etcd_snapshot_open", path=str(tmp_path / "changed.db"))
    assert text.splitlines()[0].endswith("hash WRONG")
    assert "was changed or damaged after it was saved" in text


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_cut_snapshot_is_refused_or_called_short(
    driver: testing.Driver, saved: Saved, tmp_path: Path, keep: float
) -> None:
    content = saved.path.read_bytes()
    (tmp_path / "cut.db").write_bytes(content[: int(len(content) * keep)])
    result = driver.call_tool("etcd_snapshot_open", {"path": str(tmp_path / "cut.db")})
    assert (
        "is not a sound etcd snapshot" in result.content or "missing at the end" in result.content
    )


@pytest.mark.parametrize("more", [-5, -31, 1, 480])
def test_a_snapshot_without_a_whole_hash_is_no_copy_of_a_database(
    driver: testing.Driver, saved: Saved, tmp_path: Path, more: int
) -> None:
    content = saved.path.read_bytes()
    (tmp_path / "cut.db").write_bytes(content[: len(content) + more] + b"\0" * more)
    lines = ask(driver, "etcd_snapshot_open", path=str(tmp_path / "cut.db")).splitlines()
    assert lines[0].endswith("hash cut off")
    assert "no SHA-256: the file was CUT OFF, or something was added" in lines[3]


def test_an_older_file_stays_open_when_the_new_one_is_bad(
    opened: testing.Driver, tmp_path: Path
) -> None:
    (tmp_path / "bad.db").write_bytes(b"no database" * 1000)
    text = refused(opened, "etcd_snapshot_open", path=str(tmp_path / "bad.db"))
    assert "neither of the two meta pages is valid" in text
    assert "kinds" in ask(opened, "etcd_snapshot_resources").splitlines()[0]


def test_a_second_snapshot_takes_the_place_of_the_first(
    opened: testing.Driver, tmp_path: Path
) -> None:
    with running_etcd(tmp_path) as etcd:
        etcd.put("/registry/pods/other/one", b"1")
        etcd.save(tmp_path / "other.db")
    ask(opened, "etcd_snapshot_open", path=str(tmp_path / "other.db"))
    assert "/registry/pods/other/one" in ask(opened, "etcd_snapshot_search", pattern="pods")


def test_a_file_that_changes_after_it_was_opened_is_not_read_any_more(
    driver: testing.Driver, saved: Saved, tmp_path: Path
) -> None:
    path = tmp_path / "copy.db"
    shutil.copy(saved.path, path)
    ask(driver, "etcd_snapshot_open", path=str(path))
    os.truncate(path, 4096)
    for tool, args in (
        ("etcd_snapshot_resources", {}),
        ("etcd_snapshot_search", {"pattern": "pods"}),
        ("etcd_snapshot_get", {"kind": "pods", "name": "x"}),
        ("etcd_snapshot_storage", {}),
    ):
        assert "has changed since it was opened" in refused(driver, tool, **args)


def test_what_is_no_snapshot_is_refused_in_one_line(
    driver: testing.Driver, tmp_path: Path, saved: Saved
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "packed.db.gz").write_bytes(b"\x1f\x8b" + bytes(5000))
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(LARGE + 1)
    for name, reason in (
        ("absent", "No such file or directory"),
        ("", "is not a file"),
        ("pipe", "is not a file"),
        ("empty", "is empty"),
        ("packed.db.gz", "is compressed: gunzip it"),
        ("sparse", "more than the limit of 2GiB"),
    ):
        text = refused(driver, "etcd_snapshot_open", path=str(tmp_path / name))
        assert reason in text
        assert "\n" not in text
    assert '"path" is missing or empty' in refused(driver, "etcd_snapshot_open", path=" ")


def test_the_limit_of_the_size_can_be_set(tmp_path: Path) -> None:
    with (tmp_path / "big.db").open("wb") as file:
        file.truncate(1024 * 1024 + 1)
    with testing.drive(build(), {"maxSnapshotMiB": 1}) as driver:
        text = refused(driver, "etcd_snapshot_open", path=str(tmp_path / "big.db"))
    assert "more than the limit of 1MiB" in text


def test_too_many_keys_are_refused(driver: testing.Driver, tmp_path: Path) -> None:
    with running_etcd(tmp_path) as etcd:
        for start in range(0, 1100, 100):
            etcd.put_many({f"/registry/pods/a/p{start + n}": b"1" for n in range(100)})
        etcd.save(tmp_path / "many.db")
    with testing.drive(build(), {"maxKeys": 1000}) as small:
        text = refused(small, "etcd_snapshot_open", path=str(tmp_path / "many.db"))
    assert "has more than 1,000 keys" in text
    assert "1,100 keys" in ask(driver, "etcd_snapshot_open", path=str(tmp_path / "many.db"))


def test_an_etcd_of_no_kubernetes_has_other_prefixes(tmp_path: Path) -> None:
    with running_etcd(tmp_path) as etcd:
        etcd.put("/my-cluster/pods/a/b", b"{}")
        etcd.save(tmp_path / "own.db")
    with testing.drive(build(), {"prefixes": ["/my-cluster/"]}) as driver:
        result = driver.call_tool("etcd_snapshot_open", {"path": "own.db"}, directory=str(tmp_path))
        assert row(result.content, "pods")[1:3] == ["my-cluster", "1"]
        text = ask(driver, "etcd_snapshot_get", kind="pods", namespace="a", name="b")
        assert text.startswith("/my-cluster/pods/a/b: 2 B, JSON")


def test_each_tool_opens_the_snapshot_that_it_is_given(
    driver: testing.Driver, saved: Saved, tmp_path: Path
) -> None:
    path = tmp_path / "copy.db"
    shutil.copy(saved.path, path)
    for tool, args in (
        ("etcd_snapshot_resources", {}),
        ("etcd_snapshot_get", {"kind": "pods", "namespace": "shop", "name": "web-1"}),
        ("etcd_snapshot_search", {"pattern": "pods"}),
        ("etcd_snapshot_storage", {}),
    ):
        with testing.drive(build()) as another:
            ask(another, tool, path=str(path), **args)
        ask(driver, tool, path=str(path), **args)
        ask(driver, tool, **args)
        # A file that has changed is opened again.
        os.utime(path, (1, len(tool)))
        assert "has changed" in refused(driver, tool, **args)
        ask(driver, tool, path=str(path), **args)


def test_without_an_open_snapshot_the_tools_say_what_to_do(driver: testing.Driver) -> None:
    for tool in ("resources", "storage"):
        assert "call etcd_snapshot_open" in refused(driver, f"etcd_snapshot_{tool}")


def test_the_match_is_in_the_part_that_is_shown_of_a_long_key() -> None:
    key = b"/registry/configmaps/" + b"n" * 200 + b"/kube-root" + b"x" * 100
    start = key.index(b"kube-root")
    shown = snapshot_tools._matching(key, (start, start + 9))
    assert "/registry/config" in shown
    assert "/kube-rootx" in shown
    assert len(shown) <= 200
    assert snapshot_tools._matching(b"/registry/pods/a", (0, 1)) == "/registry/pods/a"
