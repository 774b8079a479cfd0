"""Views and the text that they fold to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.bingo.forms import read_any, write
from tinyhost.bingo.views import View, fold

TABLE = {"kind": "table", "headers": ["file", "words"], "rows": [["a", "1"], ["b", "2"]]}
TREE = {
    "kind": "tree",
    "nodes": [
        {"label": "a", "tone": "good", "children": [{"label": "b", "badge": "x", "tone": "bad"}]}
    ],
}


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ({"kind": "text", "text": "a\nb"}, "a\nb"),
        ({"kind": "markdown", "text": "*a*"}, "*a*"),
        ({"kind": "code", "lang": "py", "text": "x"}, "x"),
        ({"kind": "diff", "unified": "-a\n+b"}, "-a\n+b"),
        ({"kind": "list", "items": ["a", "b"]}, "- a\n- b"),
        (TABLE, "file · words\na · 1\nb · 2"),
        ({"kind": "keyValue", "rows": [["a", "1"], ["b", "2"]]}, "a: 1\nb: 2"),
        ({"kind": "progress", "value": 1, "total": 3, "label": "copy"}, "copy 33 %"),
        ({"kind": "progress", "value": 1, "total": 4}, "25 %"),
        ({"kind": "progress", "value": 7, "total": 0, "label": "files"}, "files 7"),
        ({"kind": "progress", "value": 7}, "7"),
        ({"kind": "badge", "text": "ok", "tone": "good"}, "[ok]"),
        (TREE, "a\n  b [x]"),
        (
            {"kind": "stack", "children": [{"kind": "badge", "text": "a"}, TABLE]},
            "[a]\nfile · words\na · 1\nb · 2",
        ),
        ({"kind": "columns", "children": []}, ""),
        ({"kind": "panel", "title": "t", "child": {"kind": "text", "text": "x"}}, "t\nx"),
        (
            {
                "kind": "actions",
                "items": [{"label": "Go", "action": "g", "key": "g"}, {"label": "No"}],
            },
            "[Go] [No]",
        ),
        ({"kind": "custom", "customKind": "c", "data": 1, "fold": "seen"}, "seen"),
        ({"kind": "hologram", "fold": "flat", "z": 3}, "flat"),
        ({"kind": "hologram"}, "[hologram]"),
    ],
)
def test_every_kind_folds_to_its_text(view: dict[str, Any], text: str) -> None:
    assert fold(read_any(View, view)) == text


def test_an_unknown_kind_keeps_all_that_it_was() -> None:
    view = {"kind": "hologram", "fold": "flat", "z": 3}
    assert write(read_any(View, view)) == {
        "kind": "custom",
        "customKind": "hologram",
        "data": view,
        "fold": "flat",
    }


@pytest.mark.parametrize(
    "view", [{"kind": "table"}, {"text": "x"}, {"kind": "panel", "title": "t"}]
)
def test_a_known_kind_with_bad_members_is_an_error(view: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is missing|is null"):
        read_any(View, view)


@given(st.text(), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))
def test_a_word_that_is_no_kind_becomes_a_custom_view(kind: str, more: Any) -> None:
    view = {**more, "kind": f"x-{kind}"}
    read = read_any(View, view)
    assert (read.custom_kind, read.data, fold(read)) == (f"x-{kind}", view, f"[x-{kind}]")
