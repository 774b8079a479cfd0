"""Which UBI image suits what a person wants to run."""

from __future__ import annotations

import re
from typing import NamedTuple

from .findings import shown

_REGISTRY = "registry.access.redhat.com/"


class Image(NamedTuple):
    """name: without registry. why: what it is for. build: an image for a build stage, or ""."""

    name: str
    why: str
    build: str = ""


_JAVA = Image(
    "ubi9/openjdk-21-runtime:1.20",
    "OpenJDK 21 without build tools, for Java and other languages of the JVM",
    "ubi9/openjdk-21:1.20",
)
_PYTHON = Image("ubi9/python-312:1", "Python 3.12 with pip and what builds extensions")
_NODE = Image("ubi9/nodejs-22:1", "Node.js 22 with npm, for JavaScript and TypeScript on a server")
_GO = Image(
    "ubi9/ubi-minimal:9.5",
    "a Go program needs no runtime, so a small image with microdnf is enough",
    "ubi9/go-toolset:1.24",
)
_NATIVE = Image(
    "ubi9/ubi-minimal:9.5",
    "a compiled program needs its shared libraries and little else",
    "ubi9/ubi:9.5",
)
_DOTNET = Image("ubi9/dotnet-80-runtime:8.0", ".NET 8 without build tools", "ubi9/dotnet-80:8.0")
_RUBY = Image("ubi9/ruby-33:1", "Ruby 3.3 with bundler")
_PHP = Image("ubi9/php-83:1", "PHP 8.3 with Apache httpd and FPM")
_PERL = Image("ubi9/perl-532:1", "Perl 5.32 with Apache httpd")
_NGINX = Image("ubi9/nginx-124:1", "nginx 1.24, for static files and as a proxy")
_HTTPD = Image("ubi9/httpd-24:1", "Apache httpd 2.4, for static files and as a proxy")
_INIT = Image("ubi9/ubi-init:9.5", "systemd as process 1, for more than one service")
_MINIMAL = Image("ubi9/ubi-minimal:9.5", "a small image with microdnf")
_MICRO = Image("ubi9/ubi-micro:9.5", "the smallest image, without package manager and shell tools")
_STANDARD = Image("ubi9/ubi:9.5", "the standard image with dnf, when nothing narrower fits")

_STACKS = {
    _JAVA: "java quarkus spring springboot openjdk jdk jvm jre maven gradle kotlin scala wildfly jakarta "
    "tomcat micronaut",
    _PYTHON: "python python3 django flask fastapi pip uvicorn gunicorn jupyter pytorch numpy",
    _NODE: "node nodejs node.js javascript typescript npm yarn express react nextjs next.js vue "
    "angular svelte nestjs deno",
    _GO: "go golang",
    _NATIVE: "rust cargo c c++ cpp zig",
    _DOTNET: ".net dotnet asp.net aspnet c# csharp f# blazor",
    _RUBY: "ruby rails sinatra",
    _PHP: "php laravel symfony wordpress drupal",
    _PERL: "perl",
    _NGINX: "nginx",
    _HTTPD: "httpd apache",
    _INIT: "systemd init",
}
_SIZES = {_MINIMAL: "minimal", _MICRO: "micro"}
_WORD = re.compile(r"\.?[a-z0-9]+(?:\.[a-z0-9]+)*(?:\+\+|#)?")
_ADDED = re.compile(r"(?:\d+(?:\.\d+)*|\.?js)$")
# No name of a stack is nearly as long.
_LONGEST_WORD = 40
_MICROSERVICE = re.compile(r"\bmicro[ -](?=service)")
# Words that are also English, or begin another word, do not outweigh a plain one.
_WEAK = frozenset(("go", "c", "init", "express", "spring"))
_NOT_GO = frozenset(("to", "will", "can", "must", "should", "lets", "s"))


def suggest(use_case: str) -> str:
    """The suggestion as text. The first line names the image."""
    images = _matching(use_case.lower())
    best = images[0] if images else _STANDARD
    lines = [f"Suggested image: {_REGISTRY}{best.name}", f"Rationale: {best.why}."]
    if not images and use_case.strip():
        lines[-1] = (
            f'Rationale: no stack was recognized in "{shown(use_case.strip(), 60)}"; {best.why}.'
        )
    if best.build:
        lines.append(f"Build stage: {_REGISTRY}{best.build}")
    others = dict.fromkeys(image.name for image in images if image.name != best.name)
    if others:
        lines.append(f"Also named: {', '.join(others)}")
    return "\n".join((*lines, "", f"FROM {_REGISTRY}{best.name}"))


def _matching(text: str) -> list[Image]:
    """Images whose words stand in the text, the best first."""
    words = _words(text)
    ranked: list[tuple[tuple[bool, int], Image]] = []
    for image, names in _STACKS.items():
        found = [name for name in names.split() if name in words]
        if found:
            longest = max(found, key=lambda name: (name not in _WEAK, len(name)))
            ranked.append(((longest in _WEAK, -len(longest)), image))
    ranked.sort(key=lambda one: one[0])
    sizes = [image for image, name in _SIZES.items() if name in words]
    # A size says how, a stack says what.
    return [image for _, image in ranked] + sizes


def _words(text: str) -> set[str]:
    """The words of a text, without those that are not meant as names."""
    ordered = _WORD.findall(_MICROSERVICE.sub("microservice", text))
    before = ["", *ordered]
    named = {
        word
        for word, last in zip(ordered, before, strict=False)
        if len(word) <= _LONGEST_WORD and not (word == "go" and last in _NOT_GO)
    }
    # java11, python3.12, vue.js
    return named | {bare for word in named if len(bare := _ADDED.sub("", word)) > 1}
