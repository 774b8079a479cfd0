"""Tools made of functions. Used while a plugin starts, so nothing slow to import is used."""

from tinyhost_sdk import Tool
from tinyhost_sdk.signature import adapt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def reading_tool(
    name: str, description: str, fn: "Callable[..., str]", texts: "Mapping[str, str]"
) -> Tool:
    """A tool that only reads, whose arguments are checked against the function's signature.

    texts: what each argument is. typing.Annotated would say the same, but typing takes longer to
    import than all of this.
    """
    schema, execute = adapt(fn, name)
    for key, kind in schema["properties"].items():
        schema["properties"][key] = {**kind, "description": texts[key]}
    return Tool(name, description, schema, execute, permission="read")
