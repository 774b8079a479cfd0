"""A process that tells which lines a pattern matches: python -I -S matching_worker.py SECONDS.

It reads JSON lines: first {"pattern": ..., "any_case": ...}, then lists of texts, each of which it
answers with a list of those that match: [index, start, end], the place of the first match in each.
It ends with its input, or after SECONDS.
"""

from __future__ import annotations

import json
import re
import signal
import sys


def main() -> None:
    """Serve until the end of the input."""
    # The default action ends the process, also in the middle of a match.
    signal.alarm(int(sys.argv[1]))
    wanted = json.loads(sys.stdin.readline())
    search = re.compile(wanted["pattern"], re.IGNORECASE if wanted["any_case"] else 0).search
    for request in sys.stdin:
        found = [
            (index, *match.span())
            for index, text in enumerate(json.loads(request))
            if (match := search(text))
        ]
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
