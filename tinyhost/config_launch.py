"""Values of config.json that put a plugin behind a launcher: see remote.

{"settings": {"quay": {"launch": ["ssh", "box"], "remoteCommand": ["quay-plugin", "--fast"]}}}
"""

from __future__ import annotations

from tinyhost.config_values import Form, Place
from tinyhost.jsonc import Node

# Stands for a value that cannot be used. It is kept, as the plugin must not be started
# here, or as another command, because of a mistake in its settings.
UNREADABLE = ("",)


def _read_words(node: Node, place: Place) -> tuple[str, ...]:
    if node.kind != "array":
        place.error(node, 'must be an array of words such as ["ssh", "box"]')
        return UNREADABLE
    for index, item in enumerate(node.items):
        if item.kind != "string" or "\0" in item.value:
            place.at(index).error(item, "must be a string")
            return UNREADABLE
    words = tuple(str(item.value) for item in node.items)
    if words and (not words[0] or words[0].startswith("-")):
        place.at(0).error(node.items[0], "must be the name of a program")
        return UNREADABLE
    return words


WORDS = Form(
    {
        "type": "array",
        # Not a word that a launcher would take for one of its own options.
        "prefixItems": [{"type": "string", "pattern": "^[^-]"}],
        "items": {"type": "string"},
    },
    _read_words,
)
