"""Which image is suggested for which words."""

from __future__ import annotations

import pytest

from tinyhost_plugins.container_linter.images import is_ubi
from tinyhost_plugins.container_linter.reference import parse_reference
from tinyhost_plugins.container_linter.suggest import _SIZES, _STACKS, _STANDARD, suggest

JAVA, PYTHON = "ubi9/openjdk-21-runtime:1.20", "ubi9/python-312:1"
NODE, MINIMAL = "ubi9/nodejs-22:1", "ubi9/ubi-minimal:9.5"
MICRO, STANDARD = "ubi9/ubi-micro:9.5", "ubi9/ubi:9.5"
DOTNET = "ubi9/dotnet-80-runtime:8.0"


@pytest.mark.parametrize(
    ("use_case", "image"),
    [
        ("Java application", JAVA),
        ("a Quarkus service", JAVA),
        ("Spring Boot with Kotlin", JAVA),
        ("python", PYTHON),
        ("Django with MongoDB", PYTHON),
        ("FastAPI, uvicorn", PYTHON),
        ("node", NODE),
        ("Node.js API.", NODE),
        ("a JavaScript frontend", NODE),
        ("Go", MINIMAL),
        ("golang gRPC server", MINIMAL),
        ("Go micro-service", MINIMAL),
        ("a Rust service built with cargo", MINIMAL),
        ("C++ daemon", MINIMAL),
        ("C# web API", DOTNET),
        ("ASP.NET", DOTNET),
        ("a .NET worker", DOTNET),
        ("Ruby on Rails", "ubi9/ruby-33:1"),
        ("WordPress", "ubi9/php-83:1"),
        ("nginx reverse proxy", "ubi9/nginx-124:1"),
        ("several services under systemd", "ubi9/ubi-init:9.5"),
        ("minimal", MINIMAL),
        ("micro", MICRO),
        ("minimal python image", PYTHON),
        ("a container to go with my python app", PYTHON),
        ("ready to go", STANDARD),
        ("java11 service", JAVA),
        ("go1.22", MINIMAL),
        ("python3.12", PYTHON),
        ("PHP8", "ubi9/php-83:1"),
        ("Vue.js", NODE),
        ("an Express.js API", NODE),
        ("node20", NODE),
        ("an EC2 c5 instance", STANDARD),
        ("a micro service", STANDARD),
        ("MongoDB", STANDARD),
        ("a microservice", STANDARD),
        ("something else", STANDARD),
        ("", STANDARD),
    ],
)
def test_an_image_is_suggested_by_whole_words(use_case: str, image: str) -> None:
    lines = suggest(use_case).splitlines()
    assert lines[0] == f"Suggested image: registry.access.redhat.com/{image}"
    assert lines[1].startswith("Rationale: ")
    assert lines[-2:] == ["", f"FROM registry.access.redhat.com/{image}"]


def test_what_is_needed_to_build_and_what_was_named_as_well_is_said() -> None:
    lines = suggest("Quarkus with a python script, minimal").splitlines()
    assert lines[2] == "Build stage: registry.access.redhat.com/ubi9/openjdk-21:1.20"
    assert lines[3] == f"Also named: {PYTHON}, {MINIMAL}"
    assert "Also named" not in suggest("minimal golang")


@pytest.mark.parametrize("piece", ["1.", "1", ".js", "a.1"])
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    assert "no stack was recognized" in suggest(piece * 60_000 + "x")


def test_the_text_of_a_caller_is_shown_cut_and_escaped() -> None:
    line = suggest("\x1b[31m" + "x" * 100).splitlines()[1]
    assert r"\x1b[31m" in line
    assert len(line) < 170


def test_every_image_is_ubi_and_pinned() -> None:
    for image in (*_STACKS, *_SIZES, _STANDARD):
        for name in filter(None, (image.name, image.build)):
            reference = parse_reference(f"registry.access.redhat.com/{name}")
            assert is_ubi(reference)
            assert reference.tag not in ("", "latest")
