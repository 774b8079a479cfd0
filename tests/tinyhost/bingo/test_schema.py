"""schema/plugin.json is what the types say."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

import tinyhost.bingo
from tinyhost.bingo import schema

FILE = Path(__file__).parents[3] / "schema" / "plugin.json"
DOCUMENT = json.loads(FILE.read_text())


def parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def test_the_committed_document_is_the_generated_one() -> None:
    hint = "write it anew: python -m tinyhost.bingo.schema > schema/plugin.json"
    assert FILE.read_text() == schema.text(), hint


def test_every_member_is_in_camel_case() -> None:
    members = {key for part in parts(DOCUMENT["$defs"]) for key in part.get("properties", {})}
    assert len(members) > 150
    assert [key for key in members if not re.fullmatch(r"[a-z][a-zA-Z0-9]*", key)] == []


def test_every_reference_leads_somewhere_and_everything_is_reached() -> None:
    named = {part["$ref"] for part in parts(DOCUMENT) if "$ref" in part}
    assert named == {f"#/$defs/{name}" for name in DOCUMENT["$defs"]}


def test_it_is_a_schema() -> None:
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(DOCUMENT)


def test_there_are_nine_methods_and_five_notifications_and_no_name_is_used_twice() -> None:
    assert len(DOCUMENT["methods"]) == 9
    assert len(DOCUMENT["notifications"]) == 5
    assert not set(DOCUMENT["methods"]) & set(DOCUMENT["notifications"])


def test_no_word_of_a_hooks_outcome_allows() -> None:
    words = {
        DOCUMENT["$defs"][ref["$ref"].rpartition("/")[2]]["properties"]["kind"]["const"]
        for ref in DOCUMENT["$defs"]["HookOutcome"]["oneOf"]
    }
    assert words == {"continue", "deny", "ask", "block", "redirect"}


def test_no_two_types_have_one_name() -> None:
    types = Counter(
        kind.__name__
        for info in pkgutil.iter_modules(tinyhost.bingo.__path__)
        for kind in vars(importlib.import_module(f"tinyhost.bingo.{info.name}")).values()
        if isinstance(kind, type)
        and attrs.has(kind)
        and kind.__module__ == f"tinyhost.bingo.{info.name}"
    )
    shared = [name for name, count in types.items() if count > 1 and name in DOCUMENT["$defs"]]
    assert shared == []
