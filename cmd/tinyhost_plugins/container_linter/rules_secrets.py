"""Rules about secrets that end up in the image or its history."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..log_sanitizer.sanitize import lines_with_secrets, sanitize
from .containerfile import Containerfile, Setting, Step
from .findings import ERROR, Finding, shown
from .lines import Heredoc
from .options import Options
from .secret_files import is_secret_file
from .secret_names import is_plain_value, is_secret_name

SECRET, FILE = "hardcoded-secret", "secret-file"
_FIX = "Use a secret mount (RUN --mount=type=secret) in the build, or the environment at run time"
_FIX_FILE = (
    "Use a secret mount (RUN --mount=type=secret) in the build, or mount the file at run time"
)
# echo root:word | chpasswd
_CHPASSWD = re.compile(r"""\becho\s+["']?[\w-]{1,40}:[^\s:|"'$]{1,200}["']?\s*\|\s*chpasswd\b""")
# Keys in there are public: packages are checked with them.
_KEYRINGS = (
    *("/etc/apt/keyrings", "/etc/apt/trusted.gpg", "/usr/share/keyrings"),
    *("/etc/pki/rpm-gpg", "/etc/apk/keys"),
)
_COMMANDS = ("RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK", "SHELL")


def check(file: Containerfile, _options: Options) -> Iterator[Finding]:
    for step in file.steps():
        for message in dict.fromkeys(_messages(step)):
            yield Finding(ERROR, step.line, SECRET, message, _FIX)
        for heredoc in step.instruction.heredocs:
            for line, message in _in_lines(step, heredoc):
                yield Finding(ERROR, line, SECRET, message, _FIX)


def _messages(step: Step) -> Iterator[str]:
    if step.name in ("ENV", "ARG"):
        for setting in step.settings:
            yield from _named(step.name, setting)
    elif step.name == "LABEL":
        for setting in step.settings:
            yield from _shaped(f'the value of LABEL "{shown(setting.name.text)}"', setting)
    elif step.name in _COMMANDS:
        yield from _in_text(f"the text of {step.name}", _command(step))
    elif step.name == "ADD":
        yield from _in_text("the address of a source", step.instruction.text)


def _named(instruction: str, setting: Setting) -> Iterator[str]:
    name, value = setting.name.text, setting.value
    plain = value is not None and is_plain_value(value.text)
    if instruction == "ARG" and value is not None and not value.text.strip():
        plain = False  # an empty default says nothing of what is passed
    if plain or not is_secret_name(name):
        yield from _shaped(f'the value of {instruction} "{shown(name)}"', setting)
    elif instruction == "ARG":
        yield f'ARG "{shown(name)}" takes a secret, and build arguments stay in the history'
    elif value is not None and value.unknown:
        yield f'ENV "{shown(name)}" writes a secret from outside into the image'
    else:
        yield f'ENV "{shown(name)}" holds a secret, which anyone with the image can read'


def _shaped(what: str, setting: Setting) -> Iterator[str]:
    # What a variable brings in is found where the variable is set.
    yield from _in_text(what, setting.written)


def _command(step: Step) -> str:
    """A command as a shell would have it: in an array, its words are apart from each other."""
    if step.instruction.exec_form:
        return " ".join(word.text for word in step.words)
    return step.instruction.text


def _in_text(what: str, text: str) -> Iterator[str]:
    classes = set(sanitize(text).counts)
    if _CHPASSWD.search(text):
        classes.add("password")
    if classes:
        yield f"{what} {_holds(classes)}"


def _in_lines(step: Step, heredoc: Heredoc) -> Iterator[tuple[int, str]]:
    """The lines of the file with secrets in a here-document, which may be far below its instruction."""
    found = lines_with_secrets(heredoc.text)
    number = done = 0
    for command in _CHPASSWD.finditer(heredoc.text):
        number += heredoc.text.count("\n", done, command.start())
        done = command.start()
        found.setdefault(number, set()).add("password")
    for number, classes in found.items():
        message = f"the here-document of {step.name} {_holds(classes)}"
        yield heredoc.line + number, f"{message}; {step.name} is on line {step.line}"


def _holds(classes: set[str]) -> str:
    return f"holds a secret ({', '.join(sorted(classes))})"


def files(file: Containerfile, _options: Options) -> Iterator[Finding]:
    for step in file.steps():
        if step.name not in ("ADD", "COPY"):
            continue
        for path in dict.fromkeys(_secret_files(step)):
            message = f'{step.name} puts "{shown(path)}" into the image, a file for secrets'
            yield Finding(ERROR, step.line, FILE, message, _FIX_FILE)


def _secret_files(step: Step) -> list[str]:
    """The files of an ADD or COPY that are made for secrets."""
    *sources, target = [word.text for word in step.words]
    if target.startswith(_KEYRINGS):
        return []
    # What can be fetched from an address is no secret.
    found = [source for source in sources if "://" not in source and is_secret_file(source)]
    name = target.rpartition("/")[2]
    if found or any("://" in s and s.endswith(f"/{name}") for s in sources):
        return found
    if target.endswith("/"):  # COPY credentials /root/.aws/
        targets = [target + source.rpartition("/")[2] for source in sources if "://" not in source]
    else:
        targets = [target]
    return [path for path in targets if is_secret_file(path, target=True)]
