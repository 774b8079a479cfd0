"""A Containerfile as stages, with its variables put in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import instruction as instructions
from . import lines
from .expand import Expanded, Lookup, Unknown, expand
from .form import FormError
from .instruction import Instruction, Pair
from .lines import Line, Problem
from .reference import Reference, parse_reference
from .scope import GlobalScope, StageScope

SCRATCH = "scratch"
# Every stage can continue the one before it, so looking up a name may ask each of them.
MOST_STAGES = 500
_EXPANDED = ("ADD", "COPY", "EXPOSE", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR")


class TooManyStagesError(ValueError):
    """More stages than any real file has."""


class Setting(NamedTuple):
    """One name and value of an ARG, ENV or LABEL. value: None for an ARG without a default.

    written: the value as it stands in the file.
    """

    name: Expanded
    value: Expanded | None
    written: str


class Step(NamedTuple):
    """An instruction in its place: its words and pairs with variables put in.

    later: what an ONBUILD does, in the build of another image.
    """

    instruction: Instruction
    words: tuple[Expanded, ...] = ()
    settings: tuple[Setting, ...] = ()
    later: Step | None = None

    @property
    def name(self) -> str:
        return self.instruction.name

    @property
    def line(self) -> int:
        return self.instruction.line


class Stage:
    """index: from 0. name: as AS gives it, in lower case, or "". base: what FROM names.

    parent: the stage that it continues, when base is the name of one. labels: its own, each
    with the value that it has in the end.
    """

    def __init__(self, index: int, step: Instruction, base: Expanded, parent: Stage | None) -> None:
        self.index = index
        self.line = step.line
        self.name = step.words[2].lower() if len(step.words) == 3 else ""
        self.base = base
        self.parent = parent
        self.steps: list[Step] = []
        self.labels: dict[str, str] = {}
        self.scope: StageScope = StageScope(
            None if parent is None else parent.scope, closed=base.text == SCRATCH
        )

    @property
    def image(self) -> Reference:
        return parse_reference(self.base.text)

    @property
    def has_known_name(self) -> bool:
        """Whether the file says which image this is; its tag may be unknown all the same."""
        # What is not known stands in the text as ${NAME}.
        return not self.base.unknown or "$" not in self.image.name

    @property
    def label(self) -> str:
        """How messages call it."""
        return f'stage "{self.name:.40}"' if self.name else f"stage {self.index}"

    def lineage(self) -> Iterator[Stage]:
        """This stage and those it continues, itself first."""
        stage: Stage | None = self
        while stage is not None:
            yield stage
            stage = stage.parent

    def own(self, *names: str) -> Iterator[Step]:
        """The steps of this stage that have one of the names."""
        return (step for step in self.steps if step.name in names)


class Containerfile(NamedTuple):
    """arguments: ARG before the first FROM. problems: what a builder rejects, by line."""

    stages: list[Stage]
    arguments: list[Step]
    problems: list[Problem]

    @property
    def final(self) -> Stage | None:
        """The stage that is built when none is asked for."""
        return self.stages[-1] if self.stages else None

    def shipped(self) -> set[int]:
        """Indexes of the final stage and of those it continues."""
        return set() if self.final is None else {stage.index for stage in self.final.lineage()}

    def steps(self) -> Iterator[Step]:
        """All steps in the order of the file; in place of an ONBUILD, what it does."""
        yield from self.arguments
        for stage in self.stages:
            yield from (step.later or step for step in stage.steps)


def read(text: str) -> Containerfile:
    """Read a Containerfile. Problems do not stop it. Raises TooManyStagesError."""
    source = lines.read(text)
    builder = _Builder(source.escape, source.problems)
    for line in source.lines:
        builder.add(line)
    if not builder.stages:
        fix = "Begin with FROM and the name of a base image"
        source.problems.append(Problem(1, "there is no FROM instruction", fix))
    source.problems.sort(key=lambda problem: problem.line)
    return Containerfile(builder.stages, builder.arguments, source.problems)


class _Builder:
    def __init__(self, escape: str, problems: list[Problem]) -> None:
        self.stages: list[Stage] = []
        self.arguments: list[Step] = []
        self._by_name: dict[str, Stage] = {}
        self._globals = GlobalScope()
        self._escape = escape
        self._problems = problems
        self._early = False

    def add(self, line: Line) -> None:
        try:
            instruction = instructions.parse(line, self._escape)
            if instruction.name == "FROM":
                self._begin(instruction)
            elif self.stages:
                self._continue(self.stages[-1], instruction)
            else:
                self._before(instruction)
        except FormError as error:
            self._reject(line.start, str(error), "Correct the line; a build stops at it")

    def _reject(self, line: int, text: str, fix: str) -> None:
        self._problems.append(Problem(line, text, fix))

    def _begin(self, instruction: Instruction) -> None:
        if len(self.stages) >= MOST_STAGES:
            raise TooManyStagesError(f"there are more than {MOST_STAGES} stages")
        base = expand(instruction.words[0], self._globals, self._escape)
        parent = self._by_name.get(base.text.lower())
        stage = Stage(len(self.stages), instruction, base, parent)
        self.stages.append(stage)
        if stage.name:
            self._by_name[stage.name] = stage
        if not base.text:
            self._reject(
                instruction.line,
                f"the base image {instruction.words[0]:.60} is empty",
                "Declare the variable with ARG before the first FROM; an ARG in a stage does not count",
            )

    def _before(self, instruction: Instruction) -> None:
        if instruction.name == "ARG":
            # Here, and only here, a later variable of the line can name an earlier one.
            for pair in instruction.pairs:
                self._declare(self._step(instruction._replace(pairs=(pair,)), self._globals))
        elif not self._early:
            self._early = True
            text = f"{instruction.name} stands before the first FROM"
            self._reject(instruction.line, text, "Move it below FROM; only ARG may stand above")

    def _declare(self, step: Step) -> None:
        self.arguments.append(step)
        for setting in step.settings:
            value = setting.value
            known = value is None or not value.unknown
            text = None if value is None else value.text
            self._globals.declare(setting.name.text, text if known else None)

    def _continue(self, stage: Stage, instruction: Instruction) -> None:
        step = self._step(instruction, stage.scope)
        if step.name == "ONBUILD":
            inner = instructions.triggered(instruction, self._escape)
            step = step._replace(later=self._step(inner, Unknown))
        stage.steps.append(step)
        if step.name == "LABEL":
            stage.labels.update(
                (label.name.text, label.value.text) for label in step.settings if label.value
            )
        if step.name not in ("ARG", "ENV"):
            return
        for setting in step.settings:
            name, value = setting.name.text, setting.value
            if value is None:
                stage.scope.set_arg(name, self._globals.default(name))
                continue
            known = Unknown(value.unknown[0]) if value.unknown else value.text
            (stage.scope.set_env if step.name == "ENV" else stage.scope.set_arg)(name, known)

    def _step(self, instruction: Instruction, lookup: Lookup) -> Step:
        def put_in(word: str) -> Expanded:
            return expand(word, lookup, self._escape)

        def setting(pair: Pair) -> Setting:
            value = None if pair.value is None else put_in(pair.value)
            return Setting(put_in(pair.name), value, pair.value or "")

        if instruction.name in _EXPANDED:
            words = tuple(put_in(word) for word in instruction.words)
        else:
            words = tuple(Expanded(word) for word in instruction.words)
        return Step(instruction, words, tuple(setting(pair) for pair in instruction.pairs))
