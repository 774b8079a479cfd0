"""Lists of Kubernetes Secrets of which a part was cut out lose all values that still stand there."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tinyhost_plugins.log_sanitizer.sanitize import sanitize

NOTE = (
    "[90000 characters of 99999 are left out here; the whole, as the tool put it out, is in /x.txt]"
)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def manifest(number: int, kind: str = "Secret") -> dict[str, Any]:
    data = {"url": encoded(f"host {number} open sesame"), "user": encoded(f"someuser{number}")}
    # In the order in which kubectl writes them: the data come before the kind.
    head = {"apiVersion": "v1", "data": data, "kind": kind}
    return {**head, "metadata": {"name": f"s{number}", "namespace": "x"}, "type": "Opaque"}


ITEMS = [manifest(number) for number in range(4)]
VALUES = [value for item in ITEMS for value in item["data"].values()]
ALONE = json.dumps({"apiVersion": "v1", "items": ITEMS, "kind": "List"})
INDENTED = json.dumps(json.loads(ALONE), indent=4)
RAW = json.dumps(
    {
        "kind": "SecretList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7"},
        "items": [{"metadata": item["metadata"], "data": item["data"]} for item in ITEMS],
    }
)


def as_yaml(item: dict[str, Any], dash: str = "- ") -> str:
    pad = " " * len(dash)
    data = "".join(f"{pad}  {key}: {value}\n" for key, value in item["data"].items())
    return (
        f"{dash}apiVersion: v1\n{pad}data:\n{data}{pad}kind: {item['kind']}\n{pad}metadata:\n"
        f"{pad}  name: {item['metadata']['name']}\n{pad}type: Opaque\n"
    )


YAML = "apiVersion: v1\nitems:\n" + "".join(map(as_yaml, ITEMS)) + "kind: List\n"
DOCUMENTS = "---\n".join(as_yaml(item, "") for item in ITEMS)


@pytest.mark.parametrize(
    ("text", "step"),
    [(ALONE, 1), (INDENTED, 3), (YAML, 1), (DOCUMENTS, 1)],
    ids=["line", "indented", "YAML", "documents"],
)
def test_wherever_a_list_is_cut_no_whole_value_is_left(text: str, step: int) -> None:
    for at in range(60, len(text) // 2 - 60, step):
        for cut in (f"{text[:at]}\n{NOTE}\n{text[-at:]}", text[:at]):
            masked = sanitize(cut).text
            assert not [value for value in VALUES if value in masked], (at, cut)
        assert NOTE in sanitize(f"{text[:at]}\n{NOTE}\n{text[-at:]}").text


def test_the_beginning_of_a_list_as_the_api_gives_it_is_masked() -> None:
    for at in range(60, len(RAW), 3):
        masked = sanitize(RAW[:at]).text
        assert not [value for value in VALUES if value in masked], at


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"apiVersion": "v1", "data": {"mode": "fast"}, "kind": "ConfigMap"}) + ", x",
        '{"items": [' + json.dumps(manifest(1, "ConfigMap")) + ", {",
        '{"status": "ok", "data": {"name": "abcdefgh", "id": "12345678"}, "next": ',
        '{"apiVersion": "v1", "data": {"mode": "not in base64", "level": "ZmFzdA=="',
        "apiVersion: v1\nitems:\n" + as_yaml(manifest(1, "ConfigMap")) + NOTE,
        "apiVersion: v1\ndata:\n  mode: not in base64\n  level: ZmFzdA==\n" + NOTE,
        "metadata:\n  name: ZmFzdA==\n\n  label: ZmFzdA==\nkind: Secret\n",
    ],
)
def test_what_belongs_to_others_is_left(text: str) -> None:
    assert sanitize(text).text == text
