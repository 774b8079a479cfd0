"""Logical lines: what is read, and what a builder would reject."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.container_linter.lines import Problem, read


def problems(text: str) -> list[tuple[int, str, bool]]:
    return [(one.line, one.text, one.fatal) for one in read(text).problems]


def test_directives_are_read_from_the_top_only() -> None:
    source = read("# syntax=docker/dockerfile:1\n# Escape = `\nFROM a `\n b\n# check=skip=all\n")
    assert source.directives == {"syntax": "docker/dockerfile:1", "escape": "`"}
    assert source.escape == "`"
    assert [line.text for line in source.lines] == ["FROM a  b"]


def test_a_directive_below_a_comment_is_a_comment() -> None:
    assert read("# hello\n# escape=`\nFROM a").escape == "\\"


def test_comments_and_blank_lines_are_no_part_of_a_continued_instruction() -> None:
    source = read("RUN a \\\n# why \\\n\n  && b\nRUN c")
    assert [(line.start, line.end, line.text) for line in source.lines] == [
        (1, 4, "RUN a   && b"),
        (5, 5, "RUN c"),
    ]
    assert problems("RUN a \\\n# why \\\n\n  && b\nRUN c") == [
        (3, "an empty line inside a continued instruction", False)
    ]


def test_line_endings_of_windows_are_understood() -> None:
    source = read("RUN a \\\r\n  b\r\nRUN <<E\r\nx\r\nE\r\n")
    assert [line.text for line in source.lines] == ["RUN a   b", "RUN <<E"]
    assert source.lines[1].heredocs[0].text == "x\n"


def test_a_here_document_keeps_its_lines_from_being_instructions() -> None:
    source = read("RUN <<-A cat <<'B'\n\tone\n\tA\n\ttwo\nB\nUSER 1")
    assert [line.text for line in source.lines] == ["RUN <<-A cat <<'B'", "USER 1"]
    first, second = source.lines[0].heredocs
    assert (first.name, first.text, first.quoted, first.line) == ("A", "one\n", False, 2)
    assert (second.name, second.text, second.quoted, second.line) == ("B", "\ttwo\n", True, 4)
    assert source.lines[1].start == 6


@pytest.mark.parametrize(
    "line",
    [
        "# cat <<EOF",
        'RUN echo "<<EOF"',
        "RUN echo $((1<<3)) $(( 1 << 3 ))",
        "RUN cat <<<EOF",
        "RUN echo it's <<EOF",
        "ENV A=<<EOF",
        'RUN ["cat", "<<EOF"]',
    ],
)
def test_not_everything_with_angles_is_a_here_document(line: str) -> None:
    source = read(f"{line}\nUSER 1")
    assert source.lines[-1].text == "USER 1"
    assert source.problems == []


def test_a_marker_with_a_blank_counts_where_its_end_is_there() -> None:
    assert len(read("RUN cat << EOF\nx\nEOF\nUSER 1").lines) == 2


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("FROM a\nRUN <<EOF\nx", 2, "the here-document has no line EOF that ends it"),
        ("# escape=x\nFROM a", 1, "the parser directive escape takes a backslash or a backtick"),
        ("# escape=`\n# escape=`\nFROM a", 2, 'the parser directive "escape" stands twice'),
        ("FROM a\n\\\n", 2, "a line holds nothing but the escape character"),
    ],
)
def test_what_a_builder_rejects_is_a_problem(text: str, line: int, message: str) -> None:
    assert problems(text) == [(line, message, True)]


@given(st.text(alphabet="RUN COPY<E\\`#\n\r\t '\"-a", max_size=200))
def test_lines_are_in_order_and_inside_the_text(text: str) -> None:
    source = read(text)
    end = 0
    for line in source.lines:
        assert end < line.start <= line.end <= text.count("\n") + 1
        assert line.text.strip()
        end = line.end
    assert all(isinstance(problem, Problem) and problem.line >= 1 for problem in source.problems)
