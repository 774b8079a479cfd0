"""Permission patterns and the shell texts that they are matched against."""

from __future__ import annotations

import json

from tinyhost.patterns import Subject, exact_pattern, parse_pattern
from tinyhost.shell_text import scan, simple_commands

SEEDS = [
    b"bash(git push*)\0git push --force && rm -rf /tmp/x | tee 'a b' > out",
    b"plugin__demo__*\0sudo env A=1 sh -c 'rm -rf \"$HOME\"' # comment",
    b"category:bash\0cat <<EOF\n$(rm x)\nEOF\necho `date` ${a:-$(b)}",
    b"bash(\\*\\\\ *?)\0if true; then eval 'x'; fi; (cd /; ls) & { a; }",
    b"*(*a*b*c*d*)\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]


def check(data: bytes) -> None:
    """A pattern, a zero byte, a command."""
    first, _, rest = data.decode("utf-8", "surrogateescape").partition("\0")
    scan(rest)
    commands = simple_commands(rest)
    assert rest in commands
    subject = Subject.of({"command": rest}, json.dumps({"command": rest}), "/project")
    exact = exact_pattern("bash", subject)
    if exact is not None:
        assert parse_pattern(exact).covers("bash", "", subject)
        assert not parse_pattern(exact).covers("bash", "", Subject((rest + "x",), (), "", "/"))
    try:
        pattern = parse_pattern(first)
    except ValueError as error:
        if not str(error):
            raise
        return
    if pattern.covers("bash", "bash", subject):
        assert pattern.touches("bash", "bash", subject)


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
