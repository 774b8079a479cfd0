"""Whether a call may go ahead: rules, plugins, failed guards, mode and origin, in that order.

Everything here is computed from what is passed in; nothing is read, asked or remembered.
The published table is in docs/permissions.md.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from tinyhost import paths
from tinyhost.config import Config
from tinyhost.config_values import PatternEntry, Problem, nearest
from tinyhost.dispatch import PermissionResult
from tinyhost.errors import cut
from tinyhost.hooks import PermissionOutput
from tinyhost.model import PluginSettings
from tinyhost.patterns import Pattern, Subject, parse_pattern

DEFAULT_CATEGORY = "plugin"
SHELL_HOOKS = "shell-hooks"  # the plugin that runs the commands under `hooks`

# Entries that can only allow: without them less goes ahead, not more.
_HARMLESS = re.compile(r"permissions\.(allow|categories|projects\..*\.allow\[\d+\]$)", re.DOTALL)
_STRICT = ("permissions", "hooks")
# Mistakes with which a shell hook that could have stopped a call may be lost: all under `hooks`
# but those at hooks that stop nothing.
_LOST_HOOK = re.compile(
    r"hooks(?!\.(?:session\.start|session\.end|tool\.execute\.after|shell\.env|dispose)(?![a-z]))\b"
)


class Action(enum.StrEnum):
    """What a rule says of a call, or what is decided. Listed from the strongest."""

    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"


class Mode(enum.StrEnum):
    """How calls with side effects are treated that no rule covers."""

    STANDARD = "standard"
    STRICT = "strict"


class Origin(enum.StrEnum):
    """Where a call comes from."""

    PERSON = "person"  # typed at a terminal: what no rule covers is their consent
    CLIENT = "client"  # a bridge or MCP: what no rule covers is left to the client
    PROGRAM = "program"  # the library, HTTP, other programs: what no rule covers is asked


class ReasonKind(enum.StrEnum):
    """Who or what had a say in a decision."""

    RULE = "rule"
    PLUGIN = "plugin"
    GUARD_FAILURE = "guard-failure"
    MODE = "mode"
    DEFAULT = "default"
    PERSON = "person"


@attrs.frozen(kw_only=True)
class ToolUse:
    """A call that is to be judged.

    tool_id: the id that rules name; args: the arguments, args_text: their JSON text as the
    tool gets it. plugin: the name of the plugin whose tool it is, None for a tool of the
    host or of its client; permission: the category that the tool claims. side_effects: False
    only where the host itself knows that there are none, None where nobody knows.
    directory: the session's, absolute; "" for none, and then no project's rules apply.
    """

    tool_id: str
    args: Any = None
    args_text: str = ""
    plugin: str | None = None
    permission: str = ""
    side_effects: bool | None = None
    directory: str = ""

    @property
    def subject(self) -> Subject:
        """What argument patterns are matched against."""
        return Subject.of(self.args, self.args_text, self.directory)


@attrs.frozen
class Rule:
    """source: "file:line" of the rule. directory: the only one it counts in, "" for all."""

    action: Action
    pattern: Pattern
    source: str
    directory: str = ""


@attrs.frozen
class RuleVerdict:
    """The strongest rule that matches, and of those the first; action None when none does."""

    action: Action | None = None
    rule: str = ""
    source: str = ""


@attrs.frozen(kw_only=True)
class Policy:
    """What the configuration says. categories: by plugin name, what it may claim."""

    rules: Sequence[Rule] = ()
    mode: Mode = Mode.STANDARD
    categories: Mapping[str, frozenset[str]] = attrs.field(factory=dict)

    @classmethod
    def from_config(cls, config: Config) -> tuple[Policy, Sequence[Problem]]:
        """The policy of a configuration, and what is wrong with its permissions.

        Where a rule or a shell hook could not be read that might have denied or asked, every
        call is asked about until the file is corrected: a mistake in it must not allow anything.
        """
        form = config.permissions
        rules = [rule for action in Action for rule in _rules(action, getattr(form, action.value))]
        for directory, project in (form.projects or {}).items():
            where = str(paths.absolute(directory))
            rules += _rules(Action.ALLOW, project.allow, where)
        problems = [p for p in config.problems if re.match(r"permissions\b", p.key)]
        rules += [_ask_always(p) for p in problems if not _harmless(p)]
        rules += [_ask_always(p) for p in config.problems if _is_misspelt(p)]
        rules += _lost_hooks(config)
        policy = cls(
            rules=tuple(rules),
            mode=Mode(form.mode or Mode.STANDARD),
            categories={name: frozenset(v) for name, v in (form.categories or {}).items()},
        )
        return policy, problems

    def honoured_category(self, plugin: str | None, wish: str) -> str:
        """The category to judge a tool by: a plugin's wish only where it is listed for it."""
        if plugin is None:
            return wish or DEFAULT_CATEGORY
        return wish if wish in self.categories.get(plugin, ()) else DEFAULT_CATEGORY

    def with_project_rule(self, directory: str, pattern: str) -> Policy:
        """This policy and one rule more, as after writing it to the file."""
        where = str(paths.absolute(directory))
        rule = Rule(Action.ALLOW, parse_pattern(pattern), "added by the person", where)
        return attrs.evolve(self, rules=(*self.rules, rule))

    def decide(self, use: ToolUse) -> RuleVerdict:
        """What the rules say: deny before ask before allow, wherever they stand."""
        honoured = self.honoured_category(use.plugin, use.permission)
        subject = use.subject
        directory = str(paths.absolute(use.directory)) if use.directory[:1] == "/" else ""
        for action in Action:
            for rule in self.rules:
                if rule.action is not action or rule.directory not in ("", directory):
                    continue
                if action is Action.ALLOW:
                    matched = rule.pattern.covers(use.tool_id, honoured, subject)
                else:
                    # A claimed category always counts against the tool.
                    claimed = (honoured, use.permission)
                    matched = rule.pattern.touches(use.tool_id, claimed, subject)
                if matched:
                    return RuleVerdict(action, rule.pattern.text, rule.source)
        return RuleVerdict()


def _rules(
    action: Action, entries: Sequence[PatternEntry] | None, directory: str = ""
) -> Iterator[Rule]:
    for entry in entries or ():
        yield Rule(action, entry.pattern, f"{entry.file}:{entry.node.line}", directory)


def _harmless(problem: Problem) -> bool:
    return problem.harmless or _HARMLESS.match(problem.key) is not None


def _is_misspelt(problem: Problem) -> bool:
    """Whether a key at the top is none, and may be meant for one that holds rules or guards."""
    key = problem.key
    return key.isidentifier() and key not in _STRICT and bool(nearest(key, _STRICT))


def _ask_always(problem: Problem, action: Action = Action.ASK) -> Rule:
    pattern = attrs.evolve(parse_pattern("*"), text="(unreadable)")
    return Rule(action, pattern, f"until it is corrected: {problem}")


def _lost_hooks(config: Config) -> Iterator[Rule]:
    """A guard that is written wrongly is one that failed: its policy says what that means."""
    policy = config.settings_for(SHELL_HOOKS).on_guard_failure
    if policy != "skip":
        action = Action.DENY if policy == "deny" else Action.ASK
        for problem in config.problems:
            if _LOST_HOOK.match(problem.key) and not problem.harmless:
                yield _ask_always(problem, action)


@attrs.frozen
class FailedGuard:
    """A plugin that declared permission.ask and gave no usable answer.

    policy: its onGuardFailure, "ask", "deny" or "skip". error: what went wrong, in words.
    """

    plugin: str
    policy: str
    error: str


def failed_guards(
    asked: PermissionResult, settings_for: Callable[[str], PluginSettings]
) -> Sequence[FailedGuard]:
    """The guards that failed when they were asked, each with its policy."""
    return [
        FailedGuard(
            answer.plugin, settings_for(answer.plugin).on_guard_failure, cut(str(answer.error), 500)
        )
        for answer in asked.failures
    ]


@attrs.frozen
class Reason:
    """One say in a decision. action None: it was heard and changed nothing.

    who: the rule's pattern, the plugin's name, the mode, the origin.
    """

    kind: ReasonKind
    who: str
    text: str
    action: Action | None

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """For --json output and the journal."""
        return {
            "kind": self.kind.value,
            "who": self.who,
            "text": self.text,
            "action": self.action.value if self.action else None,
        }


@attrs.frozen
class Decision:
    """The outcome, and everything that was said, the deciding reasons first.

    by_default: no rule, guard, mode or person decided, only the call's origin. For the
    origin CLIENT such an "allow" means no more than that tinyhost has no objection: a bridge
    leaves the question to the client then, and must not answer it with yes.
    """

    action: Action
    reasons: Sequence[Reason]
    by_default: bool = False

    @property
    def deciding(self) -> Sequence[Reason]:
        """The reasons that made it what it is."""
        return [reason for reason in self.reasons if reason.action is self.action]

    def explain(self) -> str:
        """The deciding reasons as one text."""
        return "; ".join(map(str, self.deciding))

    def to_json(self) -> dict[str, Any]:
        """For --json output and the journal."""
        return {
            "action": self.action.value,
            "byDefault": self.by_default,
            "reasons": [reason.to_json() for reason in self.reasons],
        }


def decide_call(
    rule: RuleVerdict,
    plugins: PermissionResult,
    failed: Sequence[FailedGuard] = (),
    *,
    origin: Origin,
    mode: Mode = Mode.STANDARD,
    side_effects: bool | None = None,
) -> Decision:
    """Combine all that was said: deny > ask > allow > none, and then the origin's default.

    A plugin that allows has no objection and that is all: it overrides nothing, and is no
    consent. So no answer of a plugin, and no failure of one, ever makes a call go ahead that
    would not have gone ahead without it.
    """
    said = [*_rule_says(rule), *_plugins_say(plugins), *map(_guard_says, failed)]
    if mode is Mode.STRICT and rule.action is None and side_effects is not False:
        known = "has side effects" if side_effects else "may have side effects"
        text = f"the mode is strict, the call {known}, and no rule covers it"
        said.append(Reason(ReasonKind.MODE, mode.value, text, Action.ASK))
    for action in Action:
        if any(reason.action is action for reason in said):
            return Decision(action, _sorted(said, action))
    default = _default(origin)
    assert default.action is not None
    return Decision(default.action, _sorted([*said, default], default.action), by_default=True)


def _sorted(reasons: Sequence[Reason], action: Action) -> Sequence[Reason]:
    return tuple(sorted(reasons, key=lambda reason: reason.action is not action))


def _rule_says(rule: RuleVerdict) -> Iterator[Reason]:
    if rule.action is not None:
        verb = {Action.DENY: "denies", Action.ASK: "asks about", Action.ALLOW: "allows"}
        text = f'the rule "{cut(rule.rule, 200)}" ({rule.source}) {verb[rule.action]} it'
        yield Reason(ReasonKind.RULE, rule.rule, text, rule.action)


def _plugins_say(asked: PermissionResult) -> Iterator[Reason]:
    for answer in asked.answers:
        said = answer.output
        if not isinstance(said, PermissionOutput) or said.denies:
            continue
        if said.ask:
            why = f": {cut(said.reason)}" if said.reason else " and gives no reason"
            text = f"plugin {answer.plugin} wants the person asked{why}"
            yield Reason(ReasonKind.PLUGIN, answer.plugin, text, Action.ASK)
        else:
            text = f"plugin {answer.plugin} has no objection"
            yield Reason(ReasonKind.PLUGIN, answer.plugin, text, None)
    if asked.allowed is False:
        why = f": {cut(asked.reason)}" if asked.reason else " and gives no reason"
        text = f"plugin {asked.plugin} denies it{why}"
        yield Reason(ReasonKind.PLUGIN, asked.plugin, text, Action.DENY)


def _guard_says(guard: FailedGuard) -> Reason:
    text = f"guard {guard.plugin} failed: {guard.error}"
    # A policy that is not known is taken for the usual one.
    action = {"deny": Action.DENY, "skip": None}.get(guard.policy, Action.ASK)
    if action is None:
        text += '; its onGuardFailure is "skip"'
    return Reason(ReasonKind.GUARD_FAILURE, guard.plugin, text, action)


def _default(origin: Origin) -> Reason:
    text, action = {
        Origin.PERSON: ("the person gave the call, and no rule covers it", Action.ALLOW),
        Origin.CLIENT: ("no rule covers it; it is left to the client", Action.ALLOW),
        Origin.PROGRAM: ("a program makes the call, and no rule covers it", Action.ASK),
    }[origin]
    return Reason(ReasonKind.DEFAULT, origin.value, text, action)
