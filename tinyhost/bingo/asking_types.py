"""What a person is asked on bingo's wire, and what they can answer."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import attrs

from .forms import Choice, tagged


class OptionRole(enum.StrEnum):
    """What choosing an option means."""

    ALLOWING = "allowing"
    REFUSING = "refusing"


@tagged("kind", "diff")
@attrs.frozen(kw_only=True)
class PreviewDiff:
    """A unified diff."""

    unified: str


@tagged("kind", "command")
@attrs.frozen(kw_only=True)
class PreviewCommand:
    """A command, and where it would run."""

    command: str
    cwd: str


@tagged("kind", "url")
@attrs.frozen(kw_only=True)
class PreviewUrl:
    """An address."""

    url: str


Preview = Annotated[PreviewDiff | PreviewCommand | PreviewUrl, Choice("Preview")]


@attrs.frozen(kw_only=True)
class QuestionOption:
    """One answer that can be chosen."""

    id: str
    label: str
    description: str | None = None
    role: OptionRole | None = None
    preview: Preview | None = None


@tagged("kind", "question")
@attrs.frozen(kw_only=True)
class Question:
    """A question: to choose from options, to answer in words, or either."""

    question: str
    options: tuple[QuestionOption, ...]
    header: str | None = None
    free_text: bool = False
    multi: bool = False


@tagged("kind", "permission")
@attrs.frozen(kw_only=True)
class InteractionPermission:
    """Whether a tool may run."""

    tool: str
    summary: str
    preview: Preview | None = None
    session_scope: str | None = None


@tagged("kind", "form")
@attrs.frozen(kw_only=True)
class InteractionForm:
    """Several questions."""

    questions: tuple[Question, ...]
    title: str | None = None


@tagged("kind", "confirm")
@attrs.frozen(kw_only=True)
class InteractionConfirm:
    """Whether to go on."""

    title: str
    detail: str


@tagged("kind", "browser")
@attrs.frozen(kw_only=True)
class LoginBrowser:
    """Log in at an address."""

    url: str


@tagged("kind", "device")
@attrs.frozen(kw_only=True)
class LoginDevice:
    """Log in on another device."""

    url: str
    code: str


@tagged("kind", "paste")
@attrs.frozen(kw_only=True)
class LoginPaste:
    """Paste a key."""


LoginFlow = Annotated[LoginBrowser | LoginDevice | LoginPaste, Choice("LoginFlow")]


@tagged("kind", "login")
@attrs.frozen(kw_only=True)
class InteractionLogin:
    """Log in to a provider."""

    provider: str
    flow: LoginFlow


InteractionKind = Annotated[
    InteractionPermission | Question | InteractionForm | InteractionConfirm | InteractionLogin,
    Choice("InteractionKind"),
]


@tagged("kind", "allowOnce")
@attrs.frozen(kw_only=True)
class AnswerAllowOnce:
    """Yes, this time."""


@tagged("kind", "allowSession")
@attrs.frozen(kw_only=True)
class AnswerAllowSession:
    """Yes, for all that scope says."""

    scope: str


@tagged("kind", "deny")
@attrs.frozen(kw_only=True)
class AnswerDeny:
    """No."""

    feedback: str | None = None


@tagged("kind", "choice")
@attrs.frozen(kw_only=True)
class AnswerChoice:
    """The ids of what was chosen; other: what was typed in place of it."""

    ids: tuple[str, ...]
    other: str | None = None


@tagged("kind", "text")
@attrs.frozen(kw_only=True)
class AnswerText:
    """What was typed."""

    text: str


@tagged("kind", "confirm")
@attrs.frozen(kw_only=True)
class AnswerConfirm:
    """Go on."""


@tagged("kind", "cancel")
@attrs.frozen(kw_only=True)
class AnswerCancel:
    """No answer."""


@tagged("kind", "form")
@attrs.frozen(kw_only=True)
class AnswerForm:
    """An answer to each question of a form."""

    answers: tuple[Any, ...]


Answer = Annotated[
    AnswerAllowOnce
    | AnswerAllowSession
    | AnswerDeny
    | AnswerChoice
    | AnswerText
    | AnswerConfirm
    | AnswerCancel
    | AnswerForm,
    Choice("Answer"),
]
