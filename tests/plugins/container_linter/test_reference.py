"""Names of images."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.container_linter.reference import Reference, parse_reference

SHA = "sha256:" + "0f" * 32


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ubuntu", ("", "ubuntu", "", "")),
        ("ubuntu:22.04", ("", "ubuntu", "22.04", "")),
        ("library/ubuntu:22.04", ("", "library/ubuntu", "22.04", "")),
        ("localhost:5000/img", ("localhost:5000", "img", "", "")),
        ("localhost:5000/team/img:1", ("localhost:5000", "team/img", "1", "")),
        ("localhost/img:1", ("localhost", "img", "1", "")),
        ("quay.io/a/b:c", ("quay.io", "a/b", "c", "")),
        (f"quay.io/a/b@{SHA}", ("quay.io", "a/b", "", SHA)),
        (f"quay.io/a/b:c@{SHA}", ("quay.io", "a/b", "c", SHA)),
        ("docker://quay.io/a/b:c", ("quay.io", "a/b", "c", "")),
        ("[::1]:5000/img:1", ("[::1]:5000", "img", "1", "")),
        ("", ("", "", "", "")),
    ],
)
def test_a_name_is_taken_apart(text: str, parts: tuple[str, str, str, str]) -> None:
    assert parse_reference(text) == Reference(*parts)


@pytest.mark.parametrize("text", ["oci:./image", "docker-archive:x.tar", "dir:/x"])
def test_an_image_in_a_folder_is_local(text: str) -> None:
    assert parse_reference(text).local


@given(st.text(alphabet="ab:/@.5", max_size=40))
def test_nothing_of_a_name_is_lost(text: str) -> None:
    image = parse_reference(text)
    kept = sum(map(len, (image.registry, image.repository, image.tag, image.digest)))
    assert len(text) - 4 <= kept <= len(text)
