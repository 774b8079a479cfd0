"""Every combination, against a grid written out by hand and against the published table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.asking import Consent, Question, Reply
from tinyhost.dispatch import Answer, PermissionResult
from tinyhost.errors import ConfigError
from tinyhost.hooks import PermissionOutput
from tinyhost.permissions import (
    Action,
    Decision,
    FailedGuard,
    Mode,
    Origin,
    RuleVerdict,
    ToolUse,
    decide_call,
)

RULES = ("none", "allow", "ask", "deny")
PLUGINS = ("none", "allow", "ask", "deny")
GUARDS = ("none", "ask", "deny", "skip")
EFFECTS = {"effects": True, "unknown": None, "harmless": False}
PERSON = ("once", "session", "project", "no", "headless")

# D denied, A asked, Y allowed, . left to the default of the call's origin.
# One row for each rule and plugin; one letter for each guard failure: none ask deny skip.
STANDARD = {
    ("none", "none"): ".AD.",
    ("none", "allow"): ".AD.",
    ("none", "ask"): "AADA",
    ("none", "deny"): "DDDD",
    ("allow", "none"): "YADY",
    ("allow", "allow"): "YADY",
    ("allow", "ask"): "AADA",
    ("allow", "deny"): "DDDD",
    ("ask", "none"): "AADA",
    ("ask", "allow"): "AADA",
    ("ask", "ask"): "AADA",
    ("ask", "deny"): "DDDD",
    ("deny", "none"): "DDDD",
    ("deny", "allow"): "DDDD",
    ("deny", "ask"): "DDDD",
    ("deny", "deny"): "DDDD",
}
STRICT = STANDARD | {("none", "none"): "AADA", ("none", "allow"): "AADA"}
DEFAULTS = {Origin.PERSON: "Y", Origin.CLIENT: "Y", Origin.PROGRAM: "A"}
LETTERS = {"D": Action.DENY, "A": Action.ASK, "Y": Action.ALLOW}
ANSWERS = {
    "once": Action.ALLOW,
    "session": Action.ALLOW,
    "project": Action.ALLOW,
    "no": Action.DENY,
    "headless": Action.DENY,
}

ALL = list(itertools.product(RULES, PLUGINS, GUARDS, Origin, Mode, EFFECTS))
DOCS = Path(__file__).parents[2] / "docs" / "hooks.md"


def rule_verdict(rule: str) -> RuleVerdict:
    return RuleVerdict() if rule == "none" else RuleVerdict(Action(rule), "a*", "f:1")


def permission_output(said: bool | str) -> PermissionOutput:
    if isinstance(said, bool):
        return PermissionOutput(allowed=said)
    return PermissionOutput(ask=True, reason="why")


def plugin_result(*said: bool | str | None) -> PermissionResult:
    answers = [
        Answer(f"p{i}", f"id{i}", None if a is None else permission_output(a), None, None, 1)
        for i, a in enumerate(said)
    ]
    if "ask" in said:
        asks = f"p{said.index('ask')}"
        return PermissionResult(hook="permission.ask", answers=answers, ask=True, plugin=asks)
    allowed = False if False in said else (True if True in said else None)
    who = f"p{said.index(False)}" if False in said else ""
    return PermissionResult(hook="permission.ask", answers=answers, allowed=allowed, plugin=who)


PLUGIN_RESULTS = {
    "none": plugin_result(None),
    "allow": plugin_result(None, True),
    "ask": plugin_result(True, "ask"),
    "deny": plugin_result(True, False),
}


def guards(policy: str) -> list[FailedGuard]:
    return [] if policy == "none" else [FailedGuard("g", policy, "it crashed")]


def decide(
    rule: str, plugin: str, guard: str, origin: Origin, mode: Mode, effects: str
) -> Decision:
    return decide_call(
        rule_verdict(rule),
        PLUGIN_RESULTS[plugin],
        guards(guard),
        origin=origin,
        mode=mode,
        side_effects=EFFECTS[effects],
    )


def expected_letter(
    rule: str, plugin: str, guard: str, origin: Origin, mode: Mode, effects: str
) -> str:
    strict = mode is Mode.STRICT and effects != "harmless"
    return (STRICT if strict else STANDARD)[rule, plugin][GUARDS.index(guard)]


def test_every_combination_comes_out_as_in_the_grid() -> None:
    assert len(ALL) == 4 * 4 * 4 * 3 * 2 * 3
    for case in ALL:
        letter = expected_letter(*case)
        decision = decide(*case)
        assert decision.by_default is (letter == "."), case
        assert decision.action is LETTERS[DEFAULTS[case[3]] if letter == "." else letter], case
        assert decision.deciding, case


class Scripted:
    """Gives one answer and counts how often it is asked."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.asked = reply, 0

    async def ask(self, question: Question) -> Reply:
        self.asked += 1
        return self.reply

    def refusal(self, question: Question) -> str:
        return "refused"


async def test_the_person_settles_asks_and_nothing_else() -> None:
    use = ToolUse(tool_id="bash", args={"command": "ls"}, args_text="{}", directory="/d")

    async def save(directory: str, rule: str) -> None:
        assert (directory, rule) == ("/d", "bash(ls)")

    for case, person in itertools.product(ALL, PERSON):
        asker = Scripted(Reply.NO if person == "headless" else Reply(person))
        before = decide(*case)
        after = await Consent(asker, save).settle(before, use, "s")
        if before.action is Action.ASK:
            assert (after.action, asker.asked) == (ANSWERS[person], 1), (case, person)
        else:
            assert (after, asker.asked) == (before, 0), (case, person)


def published() -> Iterator[tuple[list[str], str]]:
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| rules "))
    for line in itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :]):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield cells[:5], cells[5]


def test_the_published_table_says_the_same() -> None:
    rows = list(published())
    assert len(rows) == 11
    for case in ALL:
        rule, plugin, guard, origin, mode, effects = case
        shown_guard = "none" if guard == "skip" else guard
        shown_mode = "standard" if effects == "harmless" else mode.value
        facts = [rule, plugin, shown_guard, shown_mode, origin.value]
        outcome = next(
            outcome
            for cells, outcome in rows
            if all(cell in ("any", fact) for cell, fact in zip(cells, facts, strict=True))
        )
        decision = decide(*case)
        if outcome == "leave":
            assert (decision.action, decision.by_default) == (Action.ALLOW, True), case
        else:
            assert decision.action.value == outcome, case


STRENGTH = {Action.ALLOW: 0, Action.ASK: 1, Action.DENY: 2}


@given(
    st.sampled_from(RULES),
    st.lists(st.sampled_from([None, True, False]), max_size=4),
    st.lists(st.sampled_from(["ask", "deny", "skip", "?"]), max_size=3),
    st.sampled_from(list(Origin)),
    st.sampled_from(list(Mode)),
    st.sampled_from([True, False, None]),
    st.sampled_from([None, True, False, "ask", "deny", "skip", "?"]),
)
def test_no_answer_and_no_failure_of_a_plugin_widens(
    rule: str,
    said: list[bool | None],
    policies: list[str],
    origin: Origin,
    mode: Mode,
    side_effects: bool | None,
    more: bool | str | None,
) -> None:
    def decided(said: list[bool | None], policies: list[str]) -> Decision:
        failed = [FailedGuard("g", policy, "x") for policy in policies]
        return decide_call(
            rule_verdict(rule),
            plugin_result(*said),
            failed,
            origin=origin,
            mode=mode,
            side_effects=side_effects,
        )

    before = decided(said, policies)
    if isinstance(more, str):
        after = decided(said, [*policies, more])
    else:
        after = decided([*said, more], policies)
    assert STRENGTH[after.action] >= STRENGTH[before.action]
    # What was left to the client stays so, or is asked or denied; it never becomes a yes.
    assert after.by_default or after.action is not Action.ALLOW or not before.by_default


async def test_an_answer_counts_once_when_its_rule_cannot_be_written() -> None:
    async def save(directory: str, rule: str) -> None:
        raise ConfigError("read-only", file="/f")

    asker = Scripted(Reply.PROJECT)
    consent = Consent(asker, save)
    use = ToolUse(tool_id="bash", args={"command": "ls"}, directory="/d")
    ask = decide("none", "none", "none", Origin.PROGRAM, Mode.STANDARD, "unknown")
    for _ in range(2):
        settled = await consent.settle(ask, use, "s")
        assert settled.action is Action.ALLOW
        assert "read-only" in settled.explain()
    assert asker.asked == 2


@pytest.mark.parametrize("policy", ["", "Deny", "off"])
def test_a_guard_policy_that_is_not_known_asks(policy: str) -> None:
    failed = [FailedGuard("g", policy, "x")]
    decision = decide_call(
        rule_verdict("allow"), plugin_result(), failed, origin=Origin.PERSON, mode=Mode.STANDARD
    )
    assert decision.action is Action.ASK
