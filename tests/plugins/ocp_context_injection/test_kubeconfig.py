"""Private copies of kubeconfigs, made by a real kubectl."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.ocp_context_injection.kubeconfig import (
    Access,
    NoContext,
    copy_kubeconfig,
    own_kubeconfig,
    write_private,
)
from tinyhost_plugins.ocp_context_injection.oc import Failed, Oc, OcError, find

TOKEN = "sha256~s3cret-t0ken-value"
USER = {"token": TOKEN}


def kubeconfig(user: Any = None, context: Any = None, cluster: Any = None) -> dict[str, Any]:
    named = {"cluster": "one", "user": "me", "namespace": "shop", **(context or {})}
    given = {"server": "https://api.one.example:6443", **(cluster or {})}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "shop/one/me",
        "clusters": [
            {"name": "one", "cluster": given},
            {"name": "other", "cluster": {"server": "https://x", "certificate-authority": "no"}},
        ],
        "users": [
            {"name": "me", "user": USER if user is None else user},
            {"name": "other", "user": {"token": "other-token", "client-key": "nowhere"}},
        ],
        "contexts": [
            {"name": "shop/one/me", "context": named},
            {"name": "other", "context": {"cluster": "other", "user": "other"}},
        ],
    }


class Home:
    """A home with a kubeconfig in it."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.kube = folder / ".kube"
        self.kube.mkdir()
        self.file = self.kube / "config"
        self.target = target
        self.folder = folder
        self.sources = str(self.file)

    def write(self, value: Any, name: str = "config") -> None:
        (self.kube / name).write_text(json.dumps(value))

    def copy(self) -> Access:
        before = self.listing()
        folder = str(self.target.parent / "folder")
        access = copy_kubeconfig(Oc(find("kubectl"), self.sources, folder), self.target)
        assert self.listing() == before
        return access

    def listing(self) -> dict[str, tuple[bytes, int]]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return Home(folder, tmp_path / "copy")


def test_a_copy_has_the_current_context_alone_and_is_for_oneself(person: Home) -> None:
    person.write(kubeconfig())
    access = person.copy()
    assert access == Access(
        *("shop/one/me", "one", "https://api.one.example:6443", "me", "shop", TOKEN, False, False),
        (TOKEN,),
    )
    value = json.loads(person.target.read_text())
    assert [entry["name"] for entry in value["contexts"]] == ["shop/one/me"]
    assert [entry["user"] for entry in value["users"]] == [USER]
    assert stat.S_IMODE(person.target.stat().st_mode) == 0o600


@pytest.mark.parametrize("key", ["server", "proxy-url"])
def test_a_password_in_a_url_is_a_secret(person: Home, key: str) -> None:
    person.write(kubeconfig(cluster={key: "https://me:hush-hush@api.one.example:6443"}))
    assert person.copy().secrets == (TOKEN, "hush-hush")


def test_files_that_a_kubeconfig_names_are_put_into_the_copy(person: Home) -> None:
    (person.kube / "ca.crt").write_text("a certificate")
    (person.kube / "token").write_text(f"{TOKEN}\n")
    cluster = {"certificate-authority": "ca.crt", "tls-server-name": "x"}
    person.write(kubeconfig({"tokenFile": "token"}, cluster=cluster))
    assert person.copy().token == TOKEN
    value = json.loads(person.target.read_text())
    given = value["clusters"][0]["cluster"]
    assert "certificate-authority" not in given
    assert given["certificate-authority-data"] == "YSBjZXJ0aWZpY2F0ZQ=="
    assert value["users"][0]["user"]["tokenFile"] == str(person.kube / "token")


def test_paths_of_a_login_begin_where_the_file_lies_that_it_is_in(person: Home) -> None:
    helper = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "bin/log-in",
        "interactiveMode": "Never",
    }
    (person.kube / "later").mkdir()
    person.write({**kubeconfig(), "users": []}, "first")
    person.write(kubeconfig({"exec": helper}), "later/second")
    for sources, folder in (
        (["first", "none", "later/second", "first"], "later"),
        (["later/second"], "later"),
        (["first", "later/second"], "later"),
    ):
        person.sources = ":".join(str(person.kube / name) for name in sources)
        assert person.copy().helped
        user = json.loads(person.target.read_text())["users"][0]["user"]
        assert user["exec"]["command"] == str(person.kube / folder / "bin/log-in")
        person.target.unlink()
    person.write(kubeconfig({"exec": {**helper, "command": "log-in"}}), "later/second")
    person.copy()
    user = json.loads(person.target.read_text())["users"][0]["user"]
    assert user["exec"]["command"] == "log-in"


def test_several_kubeconfigs_are_read_as_the_program_reads_them(person: Home) -> None:
    whole = kubeconfig()
    person.write({**whole, "users": []}, "first")
    person.write({**whole, "current-context": "other"}, "second")
    person.sources = f"{person.kube / 'first'}:{person.kube / 'none'}:{person.kube / 'second'}"
    access = person.copy()
    assert (access.context, access.token) == ("shop/one/me", TOKEN)


def test_a_refresh_token_stays_with_the_person(person: Home) -> None:
    config = {"id-token": "id-token-value", "refresh-token": "refresh-me", "client-id": "x"}
    person.write(kubeconfig({"auth-provider": {"name": "oidc", "config": config}}))
    access = person.copy()
    assert "refresh" not in person.target.read_text()
    assert "id-token-value" in access.secrets
    assert access.token == ""


def test_without_a_context_there_is_none(person: Home) -> None:
    said = f"the kubeconfig {person.file} has no current context; log in first"
    for value in ({}, {**kubeconfig(), "current-context": ""}):
        person.write(value)
        with pytest.raises(NoContext, match=said):
            person.copy()
    person.file.unlink()
    with pytest.raises(NoContext, match=f"there is no kubeconfig at {person.file}; log in first"):
        person.copy()
    assert not person.target.exists()


def test_who_sets_the_variable_is_told_how_it_gets_here(
    person: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    person.write({})
    with pytest.raises(NoContext, match="seen here only when passEnv in the settings names it"):
        person.copy()
    monkeypatch.setenv("KUBECONFIG", str(person.file))
    with pytest.raises(NoContext, match=r"log in first$"):
        person.copy()


def test_a_context_without_its_cluster_is_an_error(person: Home) -> None:
    person.write(kubeconfig(context={"cluster": "gone"}))
    with pytest.raises(OcError):
        person.copy()
    person.file.write_text("{")
    with pytest.raises(Failed, match="kubectl config view"):
        person.copy()


def test_a_kubeconfig_in_its_former_place_is_not_moved(person: Home) -> None:
    person.write(kubeconfig(), ".kubeconfig")
    person.sources = own_kubeconfig(os.environ)
    assert person.sources == str(person.file)
    with pytest.raises(NoContext):
        person.copy()
    assert own_kubeconfig({"KUBECONFIG": "a:b"}) == "a:b"


def test_a_private_file_is_never_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(victim)
    for target in (link, victim, tmp_path / "none" / "x"):
        with pytest.raises(OcError, match="cannot be written"):
            write_private(target, "theirs")
    assert victim.read_text() == "mine"
