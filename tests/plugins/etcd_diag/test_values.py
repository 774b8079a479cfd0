"""What is shown of values, and what never is."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.kinds import Place
from tinyhost_plugins.etcd_diag.values import show

from .conftest import SECRET, SECRET_OBJECT, b64, field, protobuf

POD = Place("/registry/", "pods", "shop", "web-1")
SECRETS = Place("/registry/", "secrets", "shop", "login")
OTHER = Place("/registry/", "acme.io/things", "shop", "login")


def test_two_kinds_of_protobuf_are_told_apart() -> None:
    assert "kind: Pod" in show(protobuf("v1", "Pod", "web-1"), POD).body
    text = show(protobuf("apps/v1", "Deployment", "web-1"), POD).body
    assert text.splitlines()[:2] == ["apiVersion: apps/v1", "kind: Deployment"]


def test_a_secret_in_protobuf_shows_no_content() -> None:
    content = field(2, field(1, b"password") + field(2, SECRET.encode()))
    shown = show(protobuf("v1", "Secret", "login", "shop", content), SECRETS)
    assert SECRET not in shown.body
    assert "name: login" in shown.body


def test_metadata_that_has_another_name_is_not_shown() -> None:
    body = show(protobuf("v1", "Thing", "something-else"), POD).body
    assert body.splitlines() == ["apiVersion: v1", "kind: Thing"]


def test_protobuf_that_is_cut_is_called_damaged() -> None:
    assert show(protobuf("v1", "Pod", "web-1")[:30], POD).form.startswith("damaged")
    assert show(b"k8s\0", POD).body == ""


def test_a_secret_is_known_by_its_kind_or_by_its_key() -> None:
    for value, place in (
        (SECRET_OBJECT, OTHER),
        ({**SECRET_OBJECT, "kind": "Custom"}, SECRETS),
        ({"kind": "OAuthAccessToken", "refreshToken": SECRET}, OTHER),
        ({"kind": "OAuthClient", "secret": SECRET, "redirectURIs": [SECRET]}, OTHER),
    ):
        body = show(json.dumps(value).encode(), place).body
        assert SECRET not in body
        assert "redacted" in body


def test_a_secret_that_is_no_object_is_not_shown() -> None:
    assert SECRET not in show(json.dumps([SECRET]).encode(), SECRETS).body


def test_a_secret_within_another_object_is_masked() -> None:
    template = {"kind": "Template", "objects": [SECRET_OBJECT]}
    body = show(json.dumps(template).encode(), OTHER).body
    assert SECRET not in body
    assert "hunter2" not in body


def test_the_copy_that_kubectl_keeps_and_managed_fields_are_left_out() -> None:
    value = {
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "a" * 500,
                "note": "stays",
            },
            "managedFields": [{"manager": "someone"}],
        },
    }
    body = show(json.dumps(value).encode(), OTHER).body
    assert "a" * 500 not in body
    assert "someone" not in body
    assert '"note": "stays"' in body


def test_files_in_a_machine_config_are_not_shown() -> None:
    # Each in a spelling in which nobody would find a token.
    pull_secret = json.dumps({"auths": {"quay.io": {"auth": SECRET}}})
    files = [
        "data:," + quote(pull_secret),
        "data:text/plain;charset=utf-8;base64," + b64(pull_secret.encode()),
        "data:, with blanks " + pull_secret,
        "data:;base64," + b64(pull_secret.encode()),
        "data:,",
    ]
    value = {
        "kind": "MachineConfig",
        "spec": {
            "files": [{"source": file} for file in files],
            "users": [{"name": "core", "passwordHash": "$6$salt$hash-of-it"}],
            "text": json.dumps({"source": files[0]}),
        },
    }
    body = show(json.dumps(value).encode(), OTHER).body
    for hidden in ("auths", SECRET, b64(pull_secret.encode())[:20], "hash-of-it"):
        assert hidden not in body
    assert f'"data:text/plain;charset=utf-8;base64,({len(b64(pull_secret.encode()))}' in body
    assert '"data:,"' in body
    assert '"core"' in body


@pytest.mark.parametrize("spelling", ["passwordHash", "password_hash", "PasswordHash"])
def test_hashes_of_passwords_are_not_shown_and_what_is_said_of_them_is(spelling: str) -> None:
    hashes = [
        "$6$salt$hash-of-it",
        "$y$j9T$abcdefgh$abcdefgh",
        "{SSHA}abcdefgh",
        "ab01FAX.bQRSU",
        "zebra",
    ]
    value = {
        "users": [{spelling: one} for one in hashes] + [{spelling: hashes}],
        "text": json.dumps({spelling: hashes[0]}),
        "properties": {spelling: {"type": "string", "description": "as crypt has it"}},
    }
    body = show(json.dumps(value).encode(), OTHER).body
    assert not [one for one in hashes if one in body]
    assert "as crypt has it" in body


def test_binary_data_of_a_config_map_is_not_shown() -> None:
    value = {"kind": "ConfigMap", "binaryData": {"kubeconfig": SECRET, "odd": [SECRET]}}
    body = show(json.dumps(value).encode(), OTHER).body
    assert SECRET not in body
    assert f'"kubeconfig": "({len(SECRET)} characters)"' in body


@pytest.mark.parametrize(
    "metadata",
    [
        {"annotations": {"note": {"inside": SECRET}}},
        {"annotations": [SECRET]},
        {"annotations": SECRET},
        {"data": {"password": SECRET}},
    ],
)
def test_odd_metadata_of_a_secret_is_not_shown(metadata: object) -> None:
    body = show(json.dumps({"kind": "Secret", "metadata": metadata}).encode(), OTHER).body
    assert SECRET not in body


def test_what_a_terminal_would_obey_is_escaped() -> None:
    text = "é \x1b[2J \x7f \x9b31m \u202e \u2028"
    body = show(json.dumps({"kind": "ConfigMap", "data": {"text": text}}).encode(), OTHER).body
    assert body.replace("\n", "").isprintable()
    assert json.loads(body)["data"]["text"] == text
    assert "é" in body


def test_deep_json_is_no_defect() -> None:
    assert show(b"[" * 100_000, OTHER).body == ""
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    assert show(deep, OTHER).form == "JSON"


@given(st.binary(max_size=300))
def test_any_value_can_be_shown(value: bytes) -> None:
    for start in (b"", b"k8s\0", b"k8s:enc:"):
        shown = show(start + value, SECRETS)
        assert shown.form


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_any_json_can_be_shown(value: object) -> None:
    document = json.dumps({"kind": "Secret", "metadata": value, "data": value})
    assert show(document.encode(), OTHER).form == "JSON"
