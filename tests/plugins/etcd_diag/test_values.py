"""What is shown of values, and what never is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.kinds import Place
from tinyhost_plugins.etcd_diag.values import show

from .conftest import SECRET, SECRET_OBJECT, field, protobuf

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
