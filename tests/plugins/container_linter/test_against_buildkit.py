"""Our parser beside BuildKit's, on texts that are made up to be hard."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from tinyhost_plugins.container_linter import lines
from tinyhost_plugins.container_linter.form import SPACE, FormError
from tinyhost_plugins.container_linter.instruction import NAMES, Instruction, parse, triggered

ORACLE = Path(__file__).parent / "buildkit_parser.py"
Oracle = Callable[[str], "list[dict[str, Any]] | None"]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    process = subprocess.Popen(
        [sys.executable, ORACLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def ask(text: str) -> Any:
        stdin.write(json.dumps(text) + "\n")
        stdin.flush()
        return json.loads(stdout.readline())

    with process:
        yield ask
        stdin.close()
        assert process.wait(30) == 0


def words(instruction: Instruction) -> list[str]:
    """The words as BuildKit lists them."""
    if instruction.name == "ARG":
        return [
            pair.name if pair.value is None else f"{pair.name}={pair.value}"
            for pair in instruction.pairs
        ]
    if instruction.pairs:
        return [text for pair in instruction.pairs for text in (pair.name, pair.value or "")]
    return list(instruction.words)


def compare(text: str, theirs: list[dict[str, Any]] | None) -> None:
    source = lines.read(text)
    rejected = any(problem.fatal for problem in source.problems)
    ours: list[tuple[lines.Line, Instruction | None]] = []
    for line in source.lines:
        instruction = None
        try:
            instruction = parse(line, source.escape)
            if instruction.name == "ONBUILD":
                triggered(instruction, source.escape)
        except FormError:
            rejected = True
        ours.append((line, instruction))
    if theirs is None:
        assert rejected or not source.lines
        return
    # An instruction without a name is a problem to us, and to BuildKit only later.
    assert sum(problem.fatal for problem in source.problems) == sum(
        not one["name"] for one in theirs
    )
    theirs = [one for one in theirs if one["name"]]
    known = [
        line
        for line in source.lines
        if re.split(rf"[{SPACE}]", line.text.strip())[0].upper() in NAMES
    ]
    assert [(line.start, line.end) for line in source.lines] == [
        (one["start"], one["end"]) for one in theirs
    ]
    assert len(known) == sum(one["name"] in NAMES for one in theirs)
    for (line, instruction), one in zip(ours, theirs, strict=True):
        if one["name"] != "ONBUILD":  # the binding leaves them out there
            assert [[heredoc.name, heredoc.text] for heredoc in line.heredocs] == one["heredocs"]
        if instruction is None or instruction.name in ("ONBUILD", "HEALTHCHECK"):
            continue
        assert instruction.name == one["name"]
        assert list(instruction.flags) == one["flags"]
        assert words(instruction) == one["words"]
        assert instruction.exec_form == one["json"]


CASES = [
    "FROM a\n",
    "",
    "\n\n# only a comment\n",
    "from --platform=linux/amd64 a as b",
    "\ufeffFROM a",
    "# escape=`\nFROM a\nRUN a `\n b\nRUN c ``\nRUN d",
    "# comment first\n# escape=`\nFROM a\nRUN a `\nRUN b",
    "# foo=bar\n# escape=`\nFROM a\nRUN a \\\n b",
    "# escape=`\n# escape=`\nFROM a",
    " # escape=`\nFROM a\nRUN a `\n b",
    "\t#escape=`\nFROM a\nRUN a `\n b",
    "\n# escape=`\nFROM a\nRUN a `\n b",
    "# escape=`\nFROM a\nCOPY <<E C:\\x\\\nUSER b\nE\nRUN c",
    "FROM a\nCOPY a\u00a0b c\nEXPOSE 80\u300090\nVOLUME /a\u2003/b",
    "FROM a\nRUN\u2003cat <<E\nRUN b",
    "FROM a\nRUN ${ <<E\nE\n",
    "FROM a\nRUN ${A b} <<E\nE\n",
    "FROM a\nRUN ${A^^} <<E\nE\n",
    "FROM a\nRUN ${A:-b c} ${A+b} $A $ <<E\nE\n",
    "# escape=x\nFROM a",
    "#syntax = docker/dockerfile:1\n#escape=`\nFROM a\nRUN x `\n y",
    "FROM a\r\nRUN a \\\r\n  b\r\nRUN <<E\r\nx\r\nE\r\n",
    "FROM a\nRUN a \\  \n# comment \\\n\n   b\n# c\nRUN d",
    "FROM a\nRUN a \\\\\nRUN b",
    "FROM a\n# comment \\\nRUN b",
    "FROM a\nRUN a \\",
    "FROM a\nRUN a \\\n",
    "FROM a\nRUN cat <<A <<-'B' 3<<\"C D\" > x\n1\nA\n2\n\t\tB\n3\nC D\nRUN e",
    "FROM a\nRUN cat <<EOF\nFROM b\n# no comment\n\\\nEOF\nRUN c",
    "FROM a\nRUN cat <<EOF \\\n && b\nx\nEOF\n",
    'FROM a\nRUN echo "x <<EOF"\nRUN b',
    "FROM a\nRUN echo it's <<EOF\nRUN b",
    "FROM a\nRUN cat <<<word\nRUN b",
    "FROM a\nRUN echo a<<EOF\nRUN b",
    "FROM a\nRUN echo $((1<<3))\nRUN b",
    'FROM a\nRUN ["cat", "<<EOF"]\nRUN b',
    "FROM a\nRUN [ -f x ] && cat <<EOF\nx\nEOF\nRUN b",
    "FROM a\nRUN --mount=type=cache,target=/x cat <<EOF\nx\nEOF\nRUN b",
    "FROM a\nCOPY --chown=1:1 <<a.txt <<b.txt /x/\n1\na.txt\n2\nb.txt\n",
    "FROM a\nENV X <<EOF\nRUN b",
    "FROM a\nRUN cat <<EOF\nnever ends",
    "FROM a\nONBUILD RUN <<EOF\nx\nEOF\nRUN b",
    'FROM a\nENV a b  c\nENV d=e f=\'g h\' i="j k" l=m\\ n o=\nENV p "q" r',
    "FROM a\nENV a",
    "FROM a\nENV a=b c",
    'FROM a\nLABEL "a b"="c \\" d" e=\'f\'',
    'ARG A=1 B C="d e"\nFROM a',
    'FROM a\nCOPY ["a b", "c"]\nCOPY ["a", 1]',
    'FROM a\nCOPY ["a", b]',
    'FROM a\nCMD\nENTRYPOINT [ "x" , "y" ]',
    "FROM a\nCOPY --from=b --link --chmod=0755 x y z\nCOPY -- --x y",
    'FROM a\nUSER  a  \nWORKDIR /a b\nVOLUME /a /b\nVOLUME ["/a"]\nEXPOSE 80/tcp 90',
    'FROM a\nSHELL ["a", "b"]\nSTOPSIGNAL 9\nMAINTAINER me <m@example.com>',
]


@pytest.mark.parametrize("text", CASES)
def test_the_parser_agrees_with_buildkit(text: str, oracle: Oracle) -> None:
    compare(text, oracle(text))


PIECES = st.sampled_from(
    [
        *("FROM a", "RUN", "COPY", "ENV", "ARG", "LABEL", "CMD", "ONBUILD", "USER", "ADD", "run"),
        *(
            " ",
            "  ",
            "\t",
            "\n",
            "\n",
            "\n",
            "\r\n",
            "\\\n",
            "\\ \n",
            "\\",
            "`\n",
            "`",
            "#",
            "# x\n",
        ),
        *("# escape=`\n", "<<E ", "<<-E", "<<'E'", '<<"E"', "<<", "<<E\n", "E\n", "\tE\n", "E"),
        *(
            "a",
            "b=c",
            "=",
            '"',
            "'",
            '"x y"',
            "--from=x",
            "--",
            "-",
            "[",
            '["a", "b"]',
            "]",
            "$",
            "${A}",
        ),
        *("${A:-b}", ",", "1"),
    ]
)


@hypothesis.settings(max_examples=400)
@hypothesis.given(st.lists(PIECES, max_size=30).map("".join))
def test_the_parser_agrees_with_buildkit_on_any_text(oracle: Oracle, text: str) -> None:
    # Younger than the parser that we compare with: `<< E` with a blank, and that text after an
    # array makes it the shell form.
    hypothesis.assume("<< " not in text and "<<\t" not in text)
    hypothesis.assume(not re.search(r"\[.*\].*\S", text))
    compare("FROM a\n" + text, oracle("FROM a\n" + text))
