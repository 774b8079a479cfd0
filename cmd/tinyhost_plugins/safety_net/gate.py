"""From a tool call to a verdict: find the commands, judge each, word the reason."""

from __future__ import annotations

import traceback

from . import arguments, contained
from .catalog import Finding
from .judge import judge
from .policy import Policy

# Up to here the parser is done in a moment, whatever the text is.
_SMALL = 2048  # characters
_MAX_REASONS = 3


def objection(tool: str, args: str, permission: str, policy: Policy) -> str:
    """Why a tool call must not run, as text for a person; "" when nothing speaks against it."""
    try:
        found = arguments.commands(tool, args, permission, policy)
    except arguments.Unreadable as error:
        findings = [Finding("unchecked", str(error))]
    else:
        size = sum(_size(command) for command in found)
        findings = (
            judge_all(found, policy) if size <= _SMALL else contained.judge_all(found, policy)
        )
    wanted = [finding for finding in findings if finding.rule not in policy.allow]
    return " ".join(finding.text() for finding in _one_for_each_rule(wanted)[:_MAX_REASONS])


def judge_all(commands: list[arguments.Command], policy: Policy) -> list[Finding]:
    """The findings about all commands. A failure in here is one too: a host may let a call
    through when its guard answers with an error.
    """
    findings: list[Finding] = []
    try:
        for command, stdin, cwd in commands:
            findings.extend(judge(command, policy, stdin=stdin, cwd=cwd))
    except Exception as error:
        traceback.print_exc()
        findings.append(Finding("unchecked", f"safety-net itself failed: {type(error).__name__}"))
    return findings


def _one_for_each_rule(findings: list[Finding]) -> list[Finding]:
    return list({finding.rule: finding for finding in reversed(findings)}.values())[::-1]


def _size(command: arguments.Command) -> int:
    text, stdin, _ = command
    size = len(text) if isinstance(text, str) else sum(map(len, text))
    return size + len(stdin or "")
