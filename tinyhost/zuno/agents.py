"""The agents of a manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .package import Agent
from .reading import Reader, shown

_KNOWN = (
    "model",
    "variant",
    "reasoning",
    "temperature",
    "top_p",
    "prompt",
    "disable",
    "description",
    "mode",
    "hidden",
    "options",
    "color",
    "steps",
    "tools",
    "delegates",
    "requiredSkills",
    "permission",
    "name",
    "maxSteps",
)
_REASONING = ("off", "low", "medium", "high", "xhigh", "max")
_MODES = ("subagent", "primary", "all")
_COLORS = ("primary", "secondary", "accent", "success", "warning", "error", "info")
_PERMISSION_MODES = ("standard", "strict", "allow_all")
_ACTIONS = ("ask", "allow", "deny")
# Tools whose rules have no patterns.
_BARE = frozenset(
    {
        "plan_get",
        "plan_update",
        "todo_get",
        "todo_update",
        "question",
        "webfetch",
        "web_search",
        "doom_loop",
    }
)


def read_agent(reader: Reader, name: str) -> Agent:
    """Keys that are not known go to the model's provider, as options do."""
    if reader.has("name"):
        reader.say("name", f"an agent is named by its key, {shown(name)}, and cannot rename itself")
    if reader.flag("disable"):
        reader.say("disable", "an agent of a package cannot be disabled there; leave it out")
    if reader.has("maxSteps"):
        reader.say("maxSteps", "is called steps")
    model = _model(reader)
    mode, rules = _permission(reader)
    unknown = {key: value for key, value in reader.value.items() if key not in _KNOWN}
    options = reader.members("options") if reader.value.get("options") is not None else {}
    return Agent(
        name=name,
        model=model,
        variant=reader.text("variant"),
        reasoning=reader.choice("reasoning", _REASONING),
        temperature=reader.number("temperature"),
        top_p=reader.number("top_p"),
        prompt=reader.text("prompt", filled=False),
        description=reader.text("description", filled=False),
        mode=reader.choice("mode", _MODES),
        hidden=reader.flag("hidden"),
        color=_color(reader),
        steps=reader.whole("steps", 1),
        tools=_names(reader, "tools"),
        delegates=_names(reader, "delegates"),
        required_skills=_names(reader, "requiredSkills"),
        permission_mode=mode,
        permission_rules=rules,
        options={**unknown, **options},
    )


def _model(reader: Reader) -> str | None:
    model = reader.text("model")
    if model is not None and not re.fullmatch(r"[^/\s]+/\S+", model):
        reader.say("model", f"is {shown(model)}, not provider/model")
    given = [key for key in ("variant", "reasoning") if reader.value.get(key) is not None]
    for key in given:
        if reader.value.get("model") is None:
            reader.say(key, "needs a model beside it")
    if len(given) == 2:
        reader.say("variant", "cannot be given together with reasoning")
    return model


def _color(reader: Reader) -> str | None:
    color = reader.text("color")
    if color is not None and color not in _COLORS and not re.fullmatch("#[0-9A-Fa-f]{6}", color):
        reader.say("color", f"is {shown(color)}, neither #rrggbb nor one of {', '.join(_COLORS)}")
    return color


def _names(reader: Reader, key: str) -> Sequence[str] | None:
    if reader.value.get(key) is None:
        return None
    before = len(reader.problems)
    names = reader.texts(key)
    if not names and len(reader.problems) == before:
        reader.say(key, "must not be empty; leave it out")
    if any(not name.strip() for name in names):
        reader.say(key, "holds a blank name")
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            reader.say(key, f"{shown(name)} is repeated")
    return tuple(names)


def _permission(reader: Reader) -> tuple[str | None, Mapping[str, str | Mapping[str, str]]]:
    if reader.value.get("permission") is None:
        return None, {}
    inner = Reader(
        reader.problems, reader.value["permission"], reader.at("permission"), ("mode", "rules")
    )
    rules: dict[str, str | Mapping[str, str]] = {}
    given = Reader(reader.problems, inner.value.get("rules", {}), inner.at("rules"))
    for tool, value in given.value.items():
        if isinstance(value, dict) and tool in _BARE:
            given.say(tool, "takes an action, and no patterns")
        elif isinstance(value, dict):
            patterns = Reader(reader.problems, value, given.at(tool))
            rules[tool] = {
                pattern: patterns.choice(pattern, _ACTIONS) or "deny" for pattern in value
            }
        else:
            rules[tool] = _action(given, tool)
    return inner.choice("mode", _PERMISSION_MODES), rules


def _action(reader: Reader, tool: str) -> str:
    if reader.value[tool] is None:
        reader.say(tool, f"is null, not one of {', '.join(_ACTIONS)}")
    return reader.choice(tool, _ACTIONS) or "deny"
