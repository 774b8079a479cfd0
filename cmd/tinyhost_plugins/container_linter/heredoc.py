"""Here-documents: which ones a line of a Containerfile announces."""

from __future__ import annotations

import re
from typing import NamedTuple

# A digit for the file descriptor, the marker, a dash, blanks, the name.
_MARKER = re.compile(r"\d*<<(?P<dash>-?)(?P<blank>\s*)(?P<name>[^<]+)")
_WORD = re.compile(
    r"""(?:
        '[^']*' | "(?:[^"\\]|\\.)*"     # a piece that may hold blanks
      | \$\{(?:\d+|[@*#?\-$!]|\w+)(?:\}|(?::?[-+?]|[#%/])[^}]*\})
      | \\.
      | \\\Z                            # of a path in Windows; it escapes nothing there
      | <<(?!<)[ \t]+                   # blanks between the marker and the name
      | \$(?!\{) | [^\s'"\\$]
    )+""",
    re.VERBOSE | re.DOTALL,
)


class Announced(NamedTuple):
    """A here-document that a line promises.

    name: the line that ends it. tabs: leading tabs do not count. quoted: its text is taken as it
    is. sure: false where `<< word` may also be an operator of arithmetic.
    """

    name: str
    tabs: bool
    quoted: bool
    sure: bool


def announced(line: str) -> list[Announced]:
    """The here-documents of a line, in order.

    None where quotes stay open, or a ${...} is not one that builders know: they see none there, either.
    """
    found: list[Announced] = []
    at = 0
    for word in _WORD.finditer(line):
        if line[at : word.start()].strip():
            return []  # an open quote or brace: nobody can tell where the words end
        at = word.end()
        marker = _MARKER.fullmatch(word.group())
        if marker is not None:
            raw = marker["name"]
            name = _unquoted(raw)
            quoted = "'" in raw or '"' in raw
            if name:
                found.append(Announced(name, bool(marker["dash"]), quoted, not marker["blank"]))
    return [] if line[at:].strip() else found


_PIECE = re.compile(r"""'(?P<s>[^']*)'|"(?P<d>(?:[^"\\]|\\.)*)"|\\(?P<e>.)""", re.DOTALL)


def _unquoted(raw: str) -> str:
    return _PIECE.sub(lambda piece: piece["s"] or piece["d"] or piece["e"] or "", raw)
