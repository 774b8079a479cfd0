"""Declaring plugins: both ways build the same thing, and mistakes are named at once."""

import pytest

from tinyhost_sdk import DefinitionError, Hooks, Plugin, Tool, ToolContext, ToolResult, names

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}


def greet(args, context):
    """Say hello."""
    return "hello"


def no_arguments():
    return "hello"


def test_objects_and_decorators_build_the_same_manifest():
    first = Plugin(
        "p",
        version="2",
        tools=[Tool("greet", "Say hello.", SCHEMA, greet, "read")],
        hooks=Hooks(permission_ask=lambda event: None, custom={"my.event": lambda value: None}),
    )
    second = Plugin("p", version="2")
    second.hook("my.event", custom=True)(lambda value: None)
    second.hook("permission.ask")(lambda event: None)
    second.tool(parameters=SCHEMA, permission="read")(greet)
    assert first.manifest() == second.manifest()
    assert first.manifest() == {
        "id": "p",
        "version": "2",
        "tools": [
            {
                "name": "greet",
                "description": "Say hello.",
                "inputSchema": SCHEMA,
                "permission": "read",
            }
        ],
        "hooks": ["permission.ask", "my.event"],
        "protocol": {
            "concurrency": 1,
            "cancel": False,
            "progress": True,
            "maxLineBytes": 10 * 1024 * 1024,
        },
    }


def test_decorators_give_the_function_back():
    plugin = Plugin("p")
    assert plugin.tool(no_arguments) is no_arguments
    assert plugin.tool(name="g", parameters=SCHEMA)(greet) is greet
    assert plugin.hook("session.end")(print) is print
    assert plugin.on_initialize(print) is print


def test_a_bare_decorator_takes_name_and_description_from_the_function():
    plugin = Plugin("p")

    @plugin.tool
    def shout(text: str) -> str:
        """Say it

        loudly.
        """
        return text.upper()

    (entry,) = plugin.manifest()["tools"]
    assert entry["name"] == "shout"
    assert entry["description"] == "Say it\n\nloudly."
    assert entry["inputSchema"]["required"] == ["text"]


def test_empty_parentheses_and_given_names_work_too():
    plugin = Plugin("p")

    @plugin.tool()
    def one() -> None: ...

    @plugin.tool(name="second", description="Text.")
    def two() -> None: ...

    entries = plugin.manifest()["tools"]
    assert [(entry["name"], entry["description"]) for entry in entries] == [
        ("one", ""),
        ("second", "Text."),
    ]


def test_only_handlers_that_are_set_are_advertised_in_the_fixed_order():
    assert Plugin("p").manifest()["hooks"] == []
    hooks = Hooks(
        dispose=lambda: None,
        tool_execute_after=lambda event: None,
        tool_execute_before=lambda event: None,
        shell_env=lambda event: None,
        permission_ask=lambda event: None,
        session_end=lambda event: None,
        session_start=lambda event: None,
        custom={"b": lambda value: None, "a": lambda value: None},
    )
    assert hooks.names() == [*names.HOOKS, "b", "a"]


def test_concurrency_is_announced_with_cancel():
    protocol = Plugin("p", concurrency=4, max_line_bytes=2048).manifest()["protocol"]
    assert protocol == {"concurrency": 4, "cancel": True, "progress": True, "maxLineBytes": 2048}


def test_a_schema_without_a_type_is_an_object_schema():
    assert Tool("t", "", None, greet).parameters == {"type": "object"}
    assert Tool("t", "", {}, greet).parameters == {"type": "object"}


def later():
    yield


async def soon(args, context):
    return ""


class Box:
    def method(self, args, context):
        return ""


def twice(hook):
    plugin = Plugin("p")
    plugin.hook(hook)(lambda *event: None)
    plugin.hook(hook)(lambda *event: None)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Plugin(""), "plugin id '' is not a name"),
        (lambda: Plugin(None), "plugin id None"),
        (lambda: Plugin("p", concurrency=0), "plugin p: concurrency"),
        (lambda: Plugin("p", concurrency=True), "plugin p: concurrency"),
        (lambda: Plugin("p", max_line_bytes=10), "plugin p: max_line_bytes"),
        (lambda: Plugin("p", version=1), "plugin p: version"),
        (lambda: Plugin("p", hooks={"dispose": print}), "hooks is a dict, not a Hooks"),
        (lambda: Plugin("p", tools=[greet]), "is not a Tool"),
        (lambda: Plugin("p", tools=[Tool("a", "", None, greet)] * 2), "two tools named a"),
        (lambda: Plugin("p", on_initialize=3), "on_initialize is a int, not a function"),
        (lambda: Tool("a b", "", None, greet), "tool name 'a b'"),
        (lambda: Tool("", "", None, greet), "tool name ''"),
        (lambda: Tool("é", "", None, greet), "tool name"),
        (lambda: Tool("a" * 65, "", None, greet), "tool name"),
        (lambda: Tool("a", None, None, greet), "tool a: the description"),
        (lambda: Tool("a", "", {"type": "string"}, greet), 'tool a: .*"type": "object"'),
        (lambda: Tool("a", "", {"x": {1}}, greet), "tool a: the parameters are not JSON"),
        (lambda: Tool("a", "", None, greet, ""), "tool a: permission"),
        (lambda: Tool("a", "", None, "greet"), "tool a: execute is a str, not a function"),
        (
            lambda: Tool("a", "", None, lambda args: ""),
            r"called with \(args, context\), but takes 1",
        ),
        (lambda: Tool("a", "", None, later), "use a plain function"),
        (lambda: Tool("a", "", None, soon), "use a plain function"),
        (lambda: Hooks(session_start=3), "hook session.start is a int"),
        (lambda: Hooks(dispose=lambda event: None), "hook dispose is called with"),
        (lambda: Hooks(shell_env=lambda: None), "hook shell.env is called with"),
        (lambda: Hooks(custom={"dispose": print}), "dispose is not a custom hook"),
        (lambda: Hooks(custom={" ": print}), "hook name"),
        (lambda: Hooks(custom={"mine": 3}), "hook mine is a int"),
        (lambda: Plugin("p").hook("permision.ask")(print), "no hook 'permision.ask': use one of"),
        (lambda: Plugin("p").hook(greet), "plugin p: which hook does greet handle"),
        (lambda: twice("permission.ask"), "permission.ask has two handlers"),
        (lambda: twice("dispose"), "dispose has two handlers"),
        (lambda: Plugin("p").tool(lambda: None), "tool name '<lambda>'"),
    ],
)
def test_a_mistake_is_an_error_at_the_definition_that_names_it(make, text):
    with pytest.raises(DefinitionError, match=text):
        make()


def test_on_initialize_can_be_set_once():
    plugin = Plugin("p", on_initialize=lambda event: None)
    with pytest.raises(DefinitionError, match="set twice"):
        plugin.on_initialize(print)


def test_methods_and_flexible_functions_can_be_handlers():
    Tool("a", "", None, Box().method)
    Tool("b", "", None, lambda *args: "")
    Tool("c", "", None, lambda args, context, more=1: "")


def test_a_context_can_be_made_for_a_test():
    context = ToolContext("s", "/d")
    assert (context.session_id, context.directory, context.cancelled) == ("s", "/d", False)
    context.progress("nobody listens")
    assert context.wait(0.001) is False
    with pytest.raises(TypeError, match="progress takes text, not a int"):
        context.progress(50)


def test_a_tool_result_holds_text_and_a_flag():
    assert ToolResult("a") == ToolResult("a", False) != ToolResult("a", True)
    assert len({ToolResult("a"), ToolResult("a")}) == 1
    assert repr(ToolResult("a", True)) == "ToolResult('a', is_error=True)"
    with pytest.raises(TypeError, match="made of text"):
        ToolResult(b"a")
