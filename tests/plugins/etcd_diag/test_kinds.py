"""Keys taken apart, and words for kinds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.kinds import candidates, is_secret, place, shown, title
from tinyhost_plugins.etcd_diag.options import PREFIXES


@pytest.mark.parametrize(
    ("key", "kind", "namespace", "name"),
    [
        ("/registry/pods/shop/web-1", "pods", "shop", "web-1"),
        ("/kubernetes.io/namespaces/shop", "namespaces", "", "shop"),
        ("/kubernetes.io/services/specs/shop/web", "services/specs", "shop", "web"),
        ("/kubernetes.io/services/endpoints/shop/web", "services/endpoints", "shop", "web"),
        ("/registry/ranges/serviceips", "ranges", "", "serviceips"),
        ("/openshift.io/oauth/clients/console", "oauth/clients", "", "console"),
        (
            "/kubernetes.io/config.openshift.io/dnses/cluster",
            "config.openshift.io/dnses",
            "",
            "cluster",
        ),
        ("/kubernetes.io/acme.io/orders/shop/tls", "acme.io/orders", "shop", "tls"),
        ("/registry/pods/", "pods", "", ""),
        ("/registry/", "", "", ""),
    ],
)
def test_a_key_is_taken_apart(key: str, kind: str, namespace: str, name: str) -> None:
    assert place(key, PREFIXES)[1:] == (kind, namespace, name)


def test_other_keys_have_their_first_word_as_kind() -> None:
    assert place("/coreos.com/network/config", PREFIXES) == (
        *("", "coreos.com", "", "/coreos.com/network/config"),
    )


@given(st.text())
def test_any_text_is_a_key(key: str) -> None:
    found = place(key, PREFIXES)
    assert not found.prefix or key.startswith(found.prefix)
    assert isinstance(shown(key), str)
    assert isinstance(title(found.kind), str)
    assert candidates(key, [found.kind])


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("Pod", ["pods"]),
        ("po", ["pods"]),
        ("networkpolicy", ["networkpolicies"]),
        ("deployments.apps", ["deployments"]),
        ("order.acme.io", ["acme.io/orders"]),
        ("acme.io/orders", ["acme.io/orders"]),
        ("service", ["services/specs", "example.io/services"]),
        ("ingress", ["ingress"]),
        # What OpenShift keeps under other names than oc has for it.
        ("oauthaccesstokens", ["oauth/accesstokens"]),
        ("OAuthClient", ["oauth/clients"]),
        ("oauthclients.oauth.openshift.io", ["oauth/clients"]),
        ("identity", ["useridentities"]),
        ("mcp", ["machineconfiguration.openshift.io/machineconfigpools"]),
        ("sc", ["storageclasses"]),
    ],
)
def test_words_for_kinds_are_understood(word: str, kinds: list[str]) -> None:
    known = [
        *("pods", "networkpolicies", "deployments", "acme.io/orders", "services/specs"),
        *("ingress", "example.io/services", "oauth/accesstokens", "oauth/clients"),
        *("useridentities", "machineconfiguration.openshift.io/machineconfigpools"),
        "storageclasses",
    ]
    assert candidates(word, known) == kinds


def test_the_names_of_tokens_are_cut() -> None:
    assert shown("/openshift.io/oauth/accesstokens/0123456789secret") == (
        "/openshift.io/oauth/accesstokens/0123456789…"
    )
    # Also below a prefix that nobody has told of, and below that of an API group.
    assert shown("/mine/oauth/authorizetokens/0123456789secret").endswith("/0123456789…")
    assert shown("/r/oauth.openshift.io/oauthaccesstokens/0123456789secret").endswith(
        "/0123456789…"
    )
    assert shown("/kubernetes.io/pods/a/0123456789secret").endswith("secret")


def test_kinds_that_hold_secrets_are_known() -> None:
    for kind in ("secrets", "oauth/clients", "oauth.openshift.io/oauthaccesstokens"):
        assert is_secret(kind)
    assert not is_secret("configmaps")
