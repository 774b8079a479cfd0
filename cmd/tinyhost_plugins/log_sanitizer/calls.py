"""What the plugin does about a call: before it with its arguments, after it with its output."""

from __future__ import annotations

import traceback
from collections import Counter

from tinyhost_sdk import HandlerError, ToolExecuteBefore, ToolExecuteBeforeOutput

from .notes import Notes
from .options import DENY, MASK, Options
from .sanitize import Rules, sanitize


def before(
    event: ToolExecuteBefore, options: Options, notes: Notes
) -> ToolExecuteBeforeOutput | None:
    """Note, deny or mask secrets in arguments. Raises HandlerError for a denial.

    The arguments are rewritten with the option "args": "mask" alone: a tool that gets a marker
    in place of a token does something else than was asked of it.
    """
    if len(event.tool_args) > options.max_characters:
        if options.args in (DENY, MASK):
            raise HandlerError(
                f"log-sanitizer: the arguments are longer than {options.max_characters} characters,"
                ' so they are not checked. Pass a file, or raise its option "maxCharacters".'
            )
        return None
    try:
        masked, counts = sanitize(event.tool_args, _rules(options))
    except Exception:
        # An error keeps the tool from running, and for a note that would be too much.
        if options.args in (DENY, MASK):
            raise
        traceback.print_exc()
        return None
    if not counts:
        return None
    if options.args == DENY:
        raise HandlerError(
            f"log-sanitizer: the arguments hold {listed(counts)}, so the call was not made."
            " Instead: name an environment variable or a file that holds the secret."
        )
    if options.args == MASK:
        text = f"log-sanitizer: {listed(counts)} in the arguments was replaced before the call."
        return ToolExecuteBeforeOutput(text, masked)
    if not notes.new(event.session_id, set(counts)):
        return None
    return ToolExecuteBeforeOutput(
        f"log-sanitizer: the arguments hold {listed(counts)}. They were used unchanged; next time,"
        " name an environment variable or a file that holds the secret."
    )


def after(output: str, options: Options) -> str:
    """The output without its secrets. When that fails, nothing of the output is left.

    A host passes an output on when its plugin answers with an error, so an error in here
    would let secrets through.
    """
    left_out = len(output) - options.max_characters
    try:
        text = sanitize(output[: options.max_characters], _rules(options)).text
    except Exception as error:
        traceback.print_exc()
        return (
            f"[log-sanitizer failed ({type(error).__name__}), so this output of {len(output)}"
            ' characters is withheld. Its log has the details; "skipTools" leaves a tool alone.]'
        )
    if left_out <= 0:
        return text
    return (
        f"{text}\n[log-sanitizer left out {left_out} of {len(output)} characters, which it did"
        ' not check. Ask for less, or raise its option "maxCharacters".]'
    )


def listed(counts: Counter[str]) -> str:
    """The classes and how many of each, such as "2 x password, jwt"."""
    return ", ".join(
        f"{count} x {label}" if count > 1 else label for label, count in sorted(counts.items())
    )


def _rules(options: Options) -> Rules:
    return Rules(options.allow, options.names)
