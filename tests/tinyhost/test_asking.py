from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio

from tinyhost.asking import Consent, Headless, Question, Reply, SessionGrants, save_project_rule
from tinyhost.config import load_config
from tinyhost.errors import TinyhostError
from tinyhost.permissions import Action, Decision, Policy, Reason, ReasonKind, ToolUse

DEFAULT = Reason(ReasonKind.DEFAULT, "program", "a program makes the call", Action.ASK)
MODE = Reason(ReasonKind.MODE, "strict", "the mode is strict", Action.ASK)
RULE = Reason(ReasonKind.RULE, "bash(git*)", "the rule asks about it", Action.ASK)
GUARD = Reason(ReasonKind.GUARD_FAILURE, "safety", "guard safety failed: hung", Action.ASK)


def bash(command: str = "git push", directory: str = "/proj") -> ToolUse:
    args = {"command": command}
    text = json.dumps(args)
    return ToolUse(tool_id="bash", args=args, args_text=text, directory=directory)


def question(*reasons: Reason, use: ToolUse | None = None, session: str = "s") -> Question:
    return Question(use=use or bash(), session_id=session, reasons=reasons or (DEFAULT,))


def ask(*reasons: Reason) -> Decision:
    return Decision(Action.ASK, reasons or (DEFAULT,))


async def never_saved(directory: str, rule: str) -> None:
    raise AssertionError(f"saved {rule}")


class Scripted:
    """Gives the replies in turn and keeps the questions."""

    def __init__(self, *replies: Reply) -> None:
        self.replies, self.questions = list(replies), []

    async def ask(self, question: Question) -> Reply:
        self.questions.append(question)
        await trio.lowlevel.checkpoint()
        return self.replies.pop(0)

    def refusal(self, question: Question) -> str:
        return "refused"


# --- questions


def test_a_question_shows_the_call() -> None:
    shown = question()
    assert (shown.tool_id, shown.directory) == ("bash", "/proj")
    assert shown.args_text == '{"command": "git push"}'


def test_a_project_rule_is_offered_where_it_helps() -> None:
    assert question(DEFAULT, MODE).project_rule == "bash(git push)"
    assert Reply.PROJECT in question(MODE).replies
    for reasons in ((RULE,), (GUARD,), (DEFAULT, GUARD)):
        assert question(*reasons).replies == [Reply.ONCE, Reply.SESSION, Reply.NO]
    assert question(use=bash(directory="")).project_rule is None


# --- nobody to ask


async def test_headless_is_a_no_that_names_the_rule_and_the_file() -> None:
    headless = Headless("/c.json")
    assert await headless.ask(question()) is Reply.NO
    assert headless.refusal(question(use=bash('git "push" *'))) == (
        "a program makes the call. Nobody can be asked here, so it is denied. To allow it:"
        ' add the rule "bash(git \\"push\\" \\\\*)" to permissions.allow in /c.json'
    )


def test_headless_names_the_way_out_of_every_cause() -> None:
    text = Headless("/c.json").refusal(question(RULE, GUARD, MODE, DEFAULT))
    assert "change that rule in /c.json" in text
    assert "`tinyhost plugin restart safety`" in text
    assert "settings.safety.onGuardFailure" in text
    assert text.count("permissions.allow") == 1


def test_headless_repeats_no_long_command() -> None:
    text = Headless("/c.json").refusal(question(use=bash("x" * 5000)))
    assert 'a rule such as "bash(PATTERN)"' in text
    assert "xxx" not in text


# --- grants


def other_tool(**args: Any) -> ToolUse:
    return ToolUse(tool_id="write", args=args, args_text=json.dumps(args), directory="/proj")


def test_a_grant_is_for_the_session_the_tool_and_the_command() -> None:
    grants = SessionGrants()
    grants.grant(question())
    assert grants.covers(question())
    assert not grants.covers(question(session="other"))
    assert not grants.covers(question(use=bash("git push -f")))
    assert not grants.covers(question(use=other_tool(command="git push")))


def test_a_grant_for_a_tool_without_a_command_is_for_any_arguments() -> None:
    grants = SessionGrants()
    grants.grant(question(use=other_tool(path="/a")))
    assert grants.covers(question(use=other_tool(path="/b")))
    assert not grants.covers(question(use=other_tool(path="/b", command="x")))


def test_a_grant_does_not_cover_a_new_cause() -> None:
    grants = SessionGrants()
    grants.grant(question(DEFAULT))
    assert not grants.covers(question(DEFAULT, GUARD))
    assert not grants.covers(question(RULE))
    grants.grant(question(DEFAULT, GUARD))
    assert grants.covers(question(GUARD))
    assert grants.covers(question(DEFAULT))


def test_grants_end_with_their_session() -> None:
    grants = SessionGrants()
    grants.grant(question())
    grants.forget("s")
    grants.forget("never there")
    assert not grants.covers(question())


# --- settling


async def test_once_is_asked_again_and_always_is_not() -> None:
    asker = Scripted(Reply.ONCE, Reply.SESSION)
    consent = Consent(asker, never_saved)
    for _ in range(4):
        settled = await consent.settle(ask(), bash(), "s")
        assert settled.action is Action.ALLOW
        assert settled.reasons[0].kind is ReasonKind.PERSON
        assert settled.reasons[1:] == (DEFAULT,)
    assert len(asker.questions) == 2


async def test_no_denies_with_the_askers_text() -> None:
    settled = await Consent(Scripted(Reply.NO), never_saved).settle(ask(), bash(), "s")
    assert (settled.action, settled.explain()) == (Action.DENY, "refused")


@pytest.mark.parametrize("error", [RuntimeError("no window"), TinyhostError("no window")])
async def test_an_asker_that_fails_is_a_no(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Scripted):
        async def ask(self, question: Question) -> Reply:
            raise error

    caplog.set_level("INFO")
    settled = await Consent(Broken(), never_saved).settle(ask(), bash(), "s")
    assert settled.action is Action.DENY
    [record] = caplog.records
    assert "no window" in caplog.text
    # A fault of the program's is told with all that is known of it; a person who left is none.
    assert (record.exc_info is None) == isinstance(error, TinyhostError)


async def test_calls_at_the_same_time_are_asked_about_one_after_the_other() -> None:
    asking = 0

    class Alone(Scripted):
        async def ask(self, question: Question) -> Reply:
            nonlocal asking
            asking += 1
            assert asking == 1
            reply = await super().ask(question)
            asking -= 1
            return reply

    asker = Alone(Reply.SESSION, Reply.SESSION, Reply.SESSION)
    consent = Consent(asker, never_saved)
    async with trio.open_nursery() as nursery:
        for command in ("a", "a", "a", "b", "c"):
            nursery.start_soon(consent.settle, ask(), bash(command), "s")
    assert sorted(q.use.args["command"] for q in asker.questions) == ["a", "b", "c"]


async def test_a_project_answer_writes_a_rule_that_is_then_a_rule(tmp_path: Path) -> None:
    file = tmp_path / "config.json"

    async def save(directory: str, rule: str) -> None:
        await save_project_rule(str(file), directory, rule)

    use = bash("rm *; echo \\?")
    settled = await Consent(Scripted(Reply.PROJECT), save).settle(ask(), use, "s")
    assert settled.explain() == "the person allows it, always for this project"
    policy, problems = Policy.from_config(load_config(file))
    assert problems == []
    assert policy.decide(use).action is Action.ALLOW
    assert policy.decide(bash("rm x; echo \\?")).action is None
    assert policy.decide(bash("rm *; echo \\?", directory="/other")).action is None


async def test_a_project_answer_that_was_not_offered_counts_for_the_session() -> None:
    asker = Scripted(Reply.PROJECT)
    consent = Consent(asker, never_saved)
    for _ in range(2):
        settled = await consent.settle(ask(RULE), bash(), "s")
        assert settled.explain() == "the person allows it, always for this session"
    assert len(asker.questions) == 1


async def test_each_caller_asks_its_own_person_side_by_side() -> None:
    both = trio.Event()
    waiting = 0

    class Slow(Scripted):
        async def ask(self, question: Question) -> Reply:
            nonlocal waiting
            waiting += 1
            if waiting == 2:
                both.set()
            await both.wait()
            return await super().ask(question)

    first, second = Slow(Reply.ONCE), Slow(Reply.NO)
    consent = Consent(Scripted(), never_saved)
    settled: dict[str, Action] = {}

    async def settle(name: str, asker: Slow) -> None:
        settled[name] = (await consent.settle(ask(), bash(name), name, asker)).action

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(settle, "first", first)
            nursery.start_soon(settle, "second", second)
    assert settled == {"first": Action.ALLOW, "second": Action.DENY}
    assert [len(first.questions), len(second.questions)] == [1, 1]
