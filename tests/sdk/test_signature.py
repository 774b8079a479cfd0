"""Schemas from signatures, and calls whose arguments were checked against them."""

import enum
import functools
import typing
from typing import Annotated, Any, Literal, Optional

import pytest

from tinyhost_sdk import DefinitionError, Plugin, ToolContext, testing


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Later:
    """Defined so that a text annotation can name it; it has no JSON form."""


def schema_of(fn, name="t"):
    plugin = Plugin("p")
    plugin.tool(name=name)(fn)
    return plugin.manifest()["tools"][0]["inputSchema"]


def call(fn, args):
    plugin = Plugin("p")
    plugin.tool(name="t")(fn)
    with testing.drive(plugin) as driver:
        return driver.call_tool("t", args)


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (typing.List[int], {"type": "array", "items": {"type": "integer"}}),  # noqa: UP006
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Colour, {"enum": ["red", "blue"]}),
        (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
        (Annotated[int, 5], {"type": "integer"}),
        (
            "list[str] | None",
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        ),
        ("Annotated[str, 'A name.']", {"type": "string", "description": "A name."}),
    ],
)
def test_an_annotation_becomes_a_schema(annotation, schema):
    def tool(value):
        return ""

    tool.__annotations__["value"] = annotation
    assert schema_of(tool) == {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
    }


def test_parameters_with_defaults_are_not_required_and_tell_simple_defaults():
    def tool(a, b: int = 3, *, c: str | None = None, d: list[str] = ()):
        return ""

    schema = schema_of(tool)
    assert schema["required"] == ["a"]
    assert schema["properties"]["a"] == {}
    assert schema["properties"]["b"] == {"type": "integer", "default": 3}
    assert "default" not in schema["properties"]["c"]
    assert "default" not in schema["properties"]["d"]


def test_a_function_without_parameters_takes_none():
    assert schema_of(lambda: "") == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert "there are none" in call(lambda: "", {"x": 1}).content


def test_the_context_goes_in_by_name_or_by_annotation_and_is_not_in_the_schema():
    def by_name(text: str, context):
        return f"{text} {type(context).__name__}"

    def by_annotation(ctx: ToolContext, text: str):
        return f"{text} {type(ctx).__name__}"

    def by_text(text: str, ctx: "ToolContext"):
        return f"{text} {type(ctx).__name__}"

    for tool in (by_name, by_annotation, by_text):
        assert list(schema_of(tool)["properties"]) == ["text"]
        assert call(tool, {"text": "a"}).content == "a ToolContext"


def test_methods_and_wrapped_functions_show_their_own_parameters():
    class Box:
        def method(self, text: str):
            return text

    @functools.wraps(Box.method)
    def wrapper(*args, **kwargs):
        return Box.method(None, **kwargs)

    assert list(schema_of(Box().method)["properties"]) == ["text"]
    assert call(Box().method, {"text": "a"}).content == "a"
    assert list(schema_of(wrapper)["properties"]) == ["self", "text"]


def unresolved(value: "NotThere"):  # noqa: F821
    return ""


def without_form(value: "Later"):
    return ""


def any_number(*values):
    return ""


def any_names(**values):
    return ""


def by_position(value, /):
    return ""


def keys_that_are_not_text(value: dict[int, str]):
    return ""


def two_contexts(context, other: ToolContext):
    return ""


async def asynchronous():
    return ""


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (unresolved, "tool t: the annotation of value has no value .*NotThere"),
        (without_form, "tool t: parameter value: .*Later.* has no JSON Schema; use str"),
        (keys_that_are_not_text, "parameter value: dict.int, str. has no JSON Schema"),
        (any_number, "give parameters= instead"),
        (any_names, "give parameters= instead"),
        (by_position, "give parameters= instead"),
        (two_contexts, "context and other are both the context"),
        (functools.partial(any_names), "has no signature; give parameters= instead"),
        (asynchronous, "use a plain function"),
    ],
)
def test_a_signature_without_a_json_form_is_an_error_at_the_definition(fn, text):
    with pytest.raises(DefinitionError, match=text):
        schema_of(fn)


@pytest.mark.parametrize(
    ("annotation", "given", "received"),
    [
        (int, 3, 3),
        (int, 3.0, 3),
        (int, 2**70, 2**70),
        (float, 3, 3.0),
        (float, 0.5, 0.5),
        (str | None, None, None),
        (int | str, "a", "a"),
        (list[float], [1, 2.5], [1.0, 2.5]),
        (dict[str, list[int]], {"a": [1]}, {"a": [1]}),
        (list, [1, "a"], [1, "a"]),
        (Literal["a", 1], 1, 1),
        (Colour, "red", Colour.RED),
        (Any, {"a": None}, {"a": None}),
    ],
)
def test_fitting_arguments_arrive_as_the_annotated_type(annotation, given, received):
    seen = []

    def tool(value):
        seen.append(value)

    tool.__annotations__["value"] = annotation
    assert call(tool, {"value": given}).is_error is False
    assert repr(seen) == repr([received])


@pytest.mark.parametrize(
    ("annotation", "given", "text"),
    [
        (str, 3, "value must be a string, not an integer"),
        (int, True, "value must be an integer, not a boolean"),
        (int, "3", "value must be an integer, not a string"),
        (int, 3.5, "value must be an integer, not a number"),
        (float, "x", "value must be a number, not a string"),
        (float, 10**400, "value is too large a number"),
        (bool, 1, "value must be true or false, not an integer"),
        (list[int], [1, "a"], "value[1] must be an integer, not a string"),
        (list[int], 1, "value must be a list, not an integer"),
        (dict[str, int], {"a": None}, "value.a must be an integer, not null"),
        (dict[str, int], [], "value must be an object, not a list"),
        (str | None, 3, "value must be a string or null, not an integer"),
        (list[int] | None, ["a"], "value[0] must be an integer, not a string"),
        (int | str, None, "value must be an integer or a string, not null"),
        (Literal["a", 1], True, "value must be one of 'a', 1, not True"),
        (Colour, "green", "value must be one of 'red', 'blue', not 'green'"),
    ],
)
def test_a_wrong_argument_is_a_failed_result_that_says_what_is_wanted(annotation, given, text):
    def tool(value):
        raise AssertionError("called with a wrong argument")

    tool.__annotations__["value"] = annotation
    result = call(tool, {"value": given})
    assert result.is_error
    assert result.content == f"wrong arguments for t: {text}"


def test_all_faults_are_told_at_once():
    def tool(name: str, count: int):
        return ""

    result = call(tool, {"nmae": "x", "count": "1"})
    assert result.is_error
    assert result.content == (
        "wrong arguments for t: name is missing: it must be a string;"
        " count must be an integer, not a string;"
        " unknown argument nmae; the arguments are: name, count"
    )


def test_defaults_fill_what_is_not_given():
    def tool(name: str = "you", times: int = 2):
        return name * times

    assert call(tool, None).content == "youyou"
    assert call(tool, {"times": 1}).content == "you"


def test_null_for_what_has_a_default_is_as_if_it_were_not_given():
    def tool(a: str, b: int = 3, c: str | None = "kept"):
        return f"{a} {b} {c}"

    assert call(tool, {"a": "x", "b": None, "c": None}).content == "x 3 None"
    refused = call(tool, {"a": None})
    assert refused.is_error
    assert "a must be a string, not null" in refused.content
