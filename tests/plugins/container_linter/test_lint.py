"""The rules, each on files that are as small as can be, and the report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.container_linter.bootc import validate
from tinyhost_plugins.container_linter.containerfile import MOST_STAGES, TooManyStagesError, read
from tinyhost_plugins.container_linter.findings import Finding, arrange, report, shown
from tinyhost_plugins.container_linter.lint import lint
from tinyhost_plugins.container_linter.options import MOST_SHOWN, RULES, Options

UBI = "registry.access.redhat.com/ubi9/ubi:9.5"
CLEAN = f'FROM {UBI}\nLABEL name="a" version="1" summary="s"\nUSER 1001\n'
BOOTC = "quay.io/fedora/fedora-bootc:42"


def found(text: str, rule: str, options: Options | None = None) -> list[tuple[str, int]]:
    """Severity and line of what a rule finds."""
    return [
        (one.severity, one.line) for one in lint(text, options or Options()) if one.rule == rule
    ]


def test_a_good_file_has_no_findings() -> None:
    assert lint(CLEAN, Options()) == []
    assert report([], 50).startswith("No issues found")


# What FROM says, and the findings of non-ubi-base and latest-tag.
BASES = [
    (UBI, "", ""),
    ("registry.redhat.io/ubi8/ubi-minimal:8.10", "", ""),
    ("docker.io/redhat/ubi9:9.5", "", ""),
    ("ubuntu:22.04", "warning", ""),
    ("quay.io/a/ubi9:1", "warning", ""),
    ("registry.redhat.io/rhel9/postgresql-15:1", "warning", ""),
    ("ubi8", "warning", "warning"),
    ("registry.access.redhat.com/ubi9/ubi", "", "warning"),
    ("registry.access.redhat.com/ubi9/ubi:latest", "", "warning"),
    ("registry.access.redhat.com/ubi9/ubi@sha256:0f", "", ""),
    ("registry.access.redhat.com/ubi9/ubi:latest@sha256:0f", "", ""),
    ("--platform=linux/arm64 ubuntu:22.04", "warning", ""),
    ("localhost:5000/img:1", "warning", ""),
    ("localhost:5000/img", "warning", "warning"),
    ("scratch", "", ""),
    ("oci:./image", "", ""),
    ("quay.io/fedora/fedora-bootc:42", "", ""),
    ("registry.redhat.io/rhel9-eus/rhel-9.4-bootc", "", "warning"),
    ("registry.access.redhat.com/ubi9/ubi:${TAG}", "", ""),
    ("${WHAT}:1", "info", ""),
    ("${WHAT:-ubuntu}:1", "warning", ""),
    ("$GLOBAL", "", ""),
]


@pytest.mark.parametrize(("base", "ubi", "tag"), BASES)
def test_a_base_image_is_judged(base: str, ubi: str, tag: str) -> None:
    text = f"ARG TAG\nARG WHAT\nARG GLOBAL={UBI}\nFROM {base}\n"
    assert found(text, "non-ubi-base") == ([(ubi, 4)] if ubi else [])
    assert found(text, "latest-tag") == ([(tag, 4)] if tag else [])


def test_every_stage_is_judged_except_one_that_continues_another() -> None:
    text = f"FROM debian:12 AS Build\nFROM {UBI} AS run\nFROM BUILD\nFROM run\n"
    assert found(text, "non-ubi-base") == [("warning", 1)]
    assert found(text, "latest-tag") == []


def test_a_stage_can_be_chosen_by_the_platform() -> None:
    stages = f"FROM {UBI} AS base-amd64\nFROM {UBI} AS base-arm64\n"
    for name in ("base-$TARGETARCH", "base-${TARGETARCH}", "BASE-$TARGETARCH", "${A}-arm64"):
        assert found(f"ARG A\n{stages}FROM {name}\n", "non-ubi-base") == []
    for name in (
        "other-$TARGETARCH",
        "$A",
        "base-${A}-x",
        "base-amd64$A",
        "${A}-xrm64",
        "base-arm64:$A",
    ):
        ((severity, _),) = found(f"ARG A\n{stages}FROM {name}\n", "non-ubi-base")
        assert severity == ("warning" if ":" in name else "info")


def test_an_argument_of_a_stage_does_not_reach_from() -> None:
    text = f"FROM {UBI}\nARG BASE=debian:12\nFROM ${{BASE}}\n"
    (problem,) = read(text).problems
    assert (problem.line, problem.text) == (3, "the base image ${BASE} is empty")


def test_a_global_argument_can_name_an_earlier_one_of_its_line() -> None:
    text = "ARG REGISTRY=registry.access.redhat.com BASE=$REGISTRY/ubi9/ubi:9.5\nFROM $BASE\n"
    assert found(text, "non-ubi-base") == []
    # In a stage it has the value from before the line.
    (step,) = read("FROM a\nARG A=1 B=x$A\n").stages[0].steps
    assert [setting.value for setting in step.settings if setting.value] == [
        ("1", ()),
        ("x$A", ("A",)),
    ]


def test_bases_can_be_added() -> None:
    options = Options(bases=("quay.io/ours/",))
    assert found("FROM quay.io/ours/base:1", "non-ubi-base", options) == []
    assert found("FROM quay.io/other/base:1", "non-ubi-base", options) == [("warning", 1)]


# The lines below FROM, and the findings of root-user and missing-user-directive.
USERS = [
    ("USER 1001", [], []),
    ("USER root", [("error", 2)], []),
    ("USER 0", [("error", 2)], []),
    ("USER 00", [("error", 2)], []),
    ("USER root:root", [("error", 2)], []),
    ("USER 0:0", [("error", 2)], []),
    ('USER "root"', [("error", 2)], []),
    ("USER rooty", [], []),
    ("USER ²", [], []),
    ('USER ""', [("error", 2)], []),
    ("USER :0", [("error", 2)], []),
    ("ENV U=\nUSER $U", [("error", 3)], []),
    ("USER 1001:0", [], []),
    ("USER root\nRUN x\nUSER 1001", [], []),
    ("USER 1001\nUSER 0", [("error", 3)], []),
    ("ARG U=root\nUSER $U", [("error", 3)], []),
    ("ENV U=1001\nUSER ${U}:0", [], []),
    ("ENV U=1001\nARG U=0\nUSER $U", [], []),
    ("ARG U\nUSER ${U:-0}", [("error", 3)], []),
    ("ARG U\nUSER $U", [("info", 3)], []),
    ("USER $FROM_THE_BASE_IMAGE", [("info", 2)], []),
    ("RUN x", [], [("warning", 1)]),
    ("# USER 1001", [], [("warning", 1)]),
    ("RUN <<E\nUSER 1001\nE", [], [("warning", 1)]),
]


@pytest.mark.parametrize(("lines", "root", "missing"), USERS)
def test_the_user_is_judged(
    lines: str, root: list[tuple[str, int]], missing: list[tuple[str, int]]
) -> None:
    text = f"FROM {UBI}\n{lines}\n"
    assert found(text, "root-user") == root
    assert found(text, "missing-user-directive") == missing


def test_without_a_base_image_nobody_else_sets_the_user() -> None:
    for text, why in (
        ("FROM scratch", "so the container runs as root"),
        ("FROM scratch AS a\nFROM a", "so the container runs as root"),
        ("FROM a:1", "so the base image decides, and that is often root"),
    ):
        (one,) = [one for one in lint(text, Options()) if one.rule == "missing-user-directive"]
        assert one.message == f"the final stage sets no USER, {why}"


def test_a_stage_that_is_not_shipped_may_be_root() -> None:
    text = f"FROM {UBI} AS build\nUSER root\nFROM {UBI}\nUSER 1001\n"
    assert found(text, "root-user") == [("info", 2)]


def test_a_user_comes_with_the_stage_that_is_continued() -> None:
    assert found(f"FROM {UBI} AS a\nUSER 1001\nFROM a\n", "missing-user-directive") == []
    text = f"FROM {UBI} AS a\nARG U=0\nUSER root\nFROM a\nRUN x\n"
    assert found(text, "root-user") == [("error", 3)]
    text = f"FROM {UBI} AS a\nENV U=0\nFROM a\nUSER $U\n"
    assert found(text, "root-user") == [("error", 4)]
    text = f"FROM {UBI} AS a\nARG U=0\nFROM a\nARG U=5\nUSER $U\n"
    assert found(text, "root-user") == []
    text = f"FROM {UBI} AS a\nENV U=0\nFROM a\nARG U=5\nUSER $U\n"
    assert found(text, "root-user") == [("error", 5)]


def test_a_global_argument_reaches_a_stage_that_declares_it() -> None:
    head = f"ARG U=0\nFROM {UBI}\n"
    assert found(f"{head}ARG U\nUSER $U", "root-user") == [("error", 4)]
    assert found(f"{head}ARG U=5\nUSER $U", "root-user") == []
    assert found(f"{head}USER $U", "root-user") == [("info", 3)]


def test_a_machine_that_boots_is_set_up_as_root() -> None:
    for user in ("", "USER root\n"):
        text = f"FROM {BOOTC}\n{user}"
        assert found(text, "root-user") == found(text, "missing-user-directive") == []


@pytest.mark.parametrize(
    ("labels", "missing"),
    [
        ("", "name, version, summary"),
        ("LABEL name=a version=1 summary=s", ""),
        ('LABEL "NAME"="a b" Version=1\nLABEL summary "x"', ""),
        ("LABEL name=a", "version, summary"),
        ('LABEL name="it\'s" version=\'a"b\' summary="a \\" version=2"', ""),
        ("ENV L=name\nLABEL $L=a version=1 summary=s", ""),
    ],
)
def test_labels_of_the_final_stage_are_looked_for(labels: str, missing: str) -> None:
    messages = [one for one in lint(f"FROM {UBI}\n{labels}\n", Options()) if "label" in one.message]
    assert [one.message for one in messages] == (
        [f"the final stage lacks the labels {missing}"] if missing else []
    )


def test_labels_of_another_stage_do_not_count_unless_it_is_continued() -> None:
    first = f"FROM {UBI} AS a\nLABEL name=a version=1 summary=s\n"
    assert found(f"{first}FROM {UBI}\n", "missing-labels") == [("info", 3)]
    assert found(f"{first}FROM a\n", "missing-labels") == []
    assert found("", "missing-labels") == [("info", 1)]


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ("RUN a\nRUN b", []),
        ("RUN a\nRUN b\nRUN c", [("info", 2)]),
        ("RUN a\n# note\n\nRUN b\nRUN c\nRUN d", [("info", 2)]),
        ("RUN a\nRUN b\nUSER 1\nRUN c", []),
        ("RUN a\nRUN b\nRUN c\nUSER 1\nRUN d\nRUN e\nRUN f", [("info", 2), ("info", 6)]),
        (f"RUN a\nRUN b\nFROM {UBI}\nRUN c", []),
        ("RUN a \\\nRUN b \\\nRUN c", []),
        ("RUN <<E\nRUN a\nRUN b\nRUN c\nE", []),
    ],
)
def test_runs_in_a_row_are_reported_once(lines: str, where: list[tuple[str, int]]) -> None:
    assert found(f"FROM {UBI}\n{lines}\n", "run-layer-chaining") == where


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ADD http://x.org/a.tar /", "http://x.org/a.tar without encryption or checksum"),
        ("ADD https://bob:hunter2@x.org/a?t=1 /", "https://x.org/a without a checksum"),
        ("ADD https://[x /", "a file without a checksum"),
        ("ADD --checksum=sha256:0f https://x.org/a /", ""),
        ("ADD https://github.com/a/b.git#v1 /", ""),
        ("ADD a.tar /", ""),
        ("COPY http://x.org/a /", ""),
        ("ONBUILD ADD https://x.org/a /", "https://x.org/a without a checksum"),
    ],
)
def test_files_from_the_network_need_a_checksum(line: str, said: str) -> None:
    messages = [
        one.message for one in lint(f"FROM {UBI}\n{line}", Options()) if "ADD" in one.message
    ]
    assert messages == ([f"ADD fetches {said}, so anything may arrive"] if said else [])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "there is no FROM instruction"),
        ("# nothing", 1, "there is no FROM instruction"),
        (f"FROM {UBI}\nUSR 1", 2, 'there is no instruction "USR"; did you mean USER?'),
        (f"FROM {UBI}\n%", 2, 'there is no instruction ""'),
        (f"RUN x\nRUN y\nFROM {UBI}", 1, "RUN stands before the first FROM"),
        (f"FROM {UBI}\nRUN", 2, "RUN needs an argument"),
        (f"FROM {UBI} AS", 1, "FROM takes the name of an image"),
        (f"FROM {UBI}\nCOPY a", 2, "COPY needs a source and a destination"),
        (f"FROM {UBI}\nENV A=1 hunter2", 2, "word 2 of ENV is not of the form name=value"),
        (f"FROM {UBI}\nENV A", 2, "ENV needs a name and a value"),
        (f"FROM {UBI}\nARG =x", 2, "ARG has a value without a name"),
        (f"FROM {UBI}\nCMD [1]", 2, "an array of JSON has to hold nothing but strings"),
        (f"FROM {UBI}\nSHELL sh", 2, "SHELL takes an array of JSON"),
        (f"FROM {UBI}\nHEALTHCHECK x", 2, "HEALTHCHECK takes CMD with a command, or NONE"),
        (f"FROM {UBI}\nHEALTHCHECK CMD", 2, "HEALTHCHECK takes CMD with a command, or NONE"),
        (f"FROM {UBI}\nHEALTHCHECK NONE x", 2, "HEALTHCHECK takes CMD with a command, or NONE"),
        (f"FROM {UBI}\nSHELL []", 2, "SHELL needs an argument"),
        (f"FROM {UBI}\nVOLUME []", 2, "VOLUME needs an argument"),
        (f"FROM {UBI}\nONBUILD FROM x", 2, "ONBUILD cannot hold FROM"),
        (f"FROM {UBI}\nUSER --x=1 a", 2, "USER takes no options that begin with --"),
        (f"FROM {UBI}\nENV A='x", 2, "a single quote is not closed"),
        (f"FROM {UBI}\nUSER ${{A@Q}}", 2, "the substitution ${A...} does not exist"),
    ],
)
def test_what_a_builder_rejects_is_an_error_with_a_fix(text: str, line: int, message: str) -> None:
    (one, *_) = [one for one in lint(text, Options()) if one.rule == "syntax"]
    assert (one.severity, one.line) == ("error", line)
    assert one.message.startswith(message)
    assert one.fix
    assert "hunter2" not in one.message


@pytest.mark.parametrize(
    "line", ["HEALTHCHECK NONE", "HEALTHCHECK CMD\tx", "HEALTHCHECK --timeout=3s\tcmd x", "CMD []"]
)
def test_what_a_builder_accepts_is_no_error(line: str) -> None:
    assert found(f"FROM {UBI}\n{line}", "syntax") == []


def test_an_empty_line_in_a_continued_instruction_is_a_warning() -> None:
    assert found(f"FROM {UBI}\nRUN a \\\n\n b", "empty-continuation") == [("warning", 3)]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_fire_and_can_be_switched_off(rule: str) -> None:
    text = "FROM a\nRUN x \\\n\n y\nRUN y\nRUN z\nADD http://x/y .env\nENV PASSWORD=x\nUSER root\nX"
    text = text.replace("USER root\n", "") if rule == "missing-user-directive" else text
    assert found(text, rule)
    rest = lint(text, Options(disable=frozenset((rule,))))
    assert rest
    assert not [one for one in rest if one.rule == rule]


def test_more_stages_than_any_file_has_are_refused() -> None:
    read("FROM a\n" * MOST_STAGES)
    with pytest.raises(TooManyStagesError, match="more than 500 stages"):
        read("FROM a\n" * (MOST_STAGES + 1))


_LONG = 200_000
_STAGES = "FROM a AS s0\n" + "".join(f"FROM s{n} AS s{n + 1}\n" for n in range(MOST_STAGES - 1))


# What takes the square of its length, or more, does not come to an end here.
@pytest.mark.parametrize(
    "text",
    [
        "# syntax=a" + " " * _LONG + "x\nFROM a",
        "#" + " " * _LONG + "x\nFROM a",
        "FROM a\nENV A " + "/" * _LONG + " x",
        "FROM a\nENV PASSWORD " + "/a.b" * (_LONG // 4) + " x",
        "FROM a\nENV PASSWORD {{" + "}}" * (_LONG // 2) + " x",
        "FROM a\nADD " + "http://a/x " * (_LONG // 20) + "y " * (_LONG // 4) + "z",
        "FROM a\nRUN " + "${" * (_LONG // 2),
        "FROM a\nRUN " + "<<a " * (_LONG // 4),
        f"{_STAGES}EXPOSE " + "$A " * (_LONG // 3),
        _STAGES.replace("\n", "\n" + "LABEL a=b\n" * 40),
    ],
)
def test_a_long_file_is_read_in_linear_time(text: str) -> None:
    lint(text, Options())
    validate(text)


def test_values_that_double_themselves_end_somewhere() -> None:
    text = "FROM a\nENV A=0123456789\n" + "ENV A=$A$A\n" * 60 + "USER $A\n"
    assert found(text, "root-user") == [("info", 63)]


def test_the_report_groups_by_severity_and_keeps_the_order() -> None:
    text = f"FROM {UBI}\nENV PASSWORD=x TOKEN=y\nUSER root\n"
    lines = report(lint(text, Options()), 50).splitlines()
    assert lines[:6] == [
        "4 findings: 3 errors, 1 info",
        "",
        "--- ERRORS (3) ---",
        "",
        '[ERROR] Line 2: hardcoded-secret — ENV "PASSWORD" holds a secret, which anyone with the'
        " image can read",
        "  → Use a secret mount (RUN --mount=type=secret) in the build, or the environment at run"
        " time",
    ]
    assert [line for line in lines if line.startswith("---")] == [
        "--- ERRORS (3) ---",
        "--- INFOS (1) ---",
    ]
    assert lines[-2].startswith("[INFO] Line 1: missing-labels — ")
    assert report([Finding("warning", 1, "r", "m", "f")], 5).startswith("1 finding: 1 warning\n")


def test_a_long_report_is_cut_and_says_how_to_see_all() -> None:
    findings = [Finding("info", line, "r", "m", "f") for line in range(1, 8)]
    findings.append(Finding("error", 9, "r", "m", "f"))
    text = report(findings, 3)
    assert text.count("→") == 3
    assert "--- ERRORS (1) ---" in text
    assert "--- INFOS (7) ---" in text
    assert text.endswith("\n\n5 more; call with limit=8 to see all")
    many = report([Finding("info", 1, "r", "m", "f")] * (MOST_SHOWN + 1), 1)
    assert many.endswith("\n\n10000 more; call with limit=10000 to see 10000")


def test_findings_of_one_line_keep_their_order() -> None:
    same = [Finding("error", 1, rule, "m", "f") for rule in "zyx"]
    assert arrange(same) == same


def test_what_is_shown_of_a_file_is_one_line_without_control_characters() -> None:
    assert shown("a\x1b[31m\n\u202eb") == r"a\x1b[31m\n\u202eb"
    assert shown("x" * 100) == "x" * 77 + "..."
    text = report(lint("FROM a\x1b[31m:\x07\nUSER \x1bx\n", Options()), 50)
    assert not [char for char in text if not char.isprintable() and char != "\n"]


PIECES = st.sampled_from(
    [
        *(
            "FROM ",
            "FROM a AS b\n",
            "FROM b\n",
            "ARG A\n",
            "ARG A=0\n",
            "USER ",
            "USER $A\n",
            "RUN ",
        ),
        *(
            "ENV A=$A$B\n",
            "LABEL ",
            "COPY --from=b x y\n",
            "ADD http://",
            "ONBUILD ",
            "HEALTHCHECK ",
        ),
        *(
            "CMD [",
            "]",
            '"',
            "'",
            "$",
            "{",
            "}",
            ":-",
            "#",
            "%",
            "/",
            "\\",
            "\n",
            "\n",
            "\r\n",
            " ",
        ),
        *("<<E\n", "E\n", "# escape=`\n", "`\n", "a=b ", "=", ",", "0", "\x00", "é", "\u2028"),
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_linted_and_lines_are_inside_it(text: str) -> None:
    for one in lint(text, Options()):
        assert one.rule in RULES
        assert 1 <= one.line <= text.count("\n") + 1
        assert one.message
        assert one.fix
        assert "\n" not in one.message + one.fix
