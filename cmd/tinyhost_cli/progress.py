"""What is seen while plugins load: a line for each at a terminal, or with -v plain lines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tinyhost_cli import output

if TYPE_CHECKING:
    from tinyhost.manager import Loaded

OnDone = Callable[["Loaded"], None]


@contextlib.contextmanager
def loading_progress(names: Sequence[str], verbose: bool) -> Iterator[OnDone | None]:
    """Yield what load_all is to call for each plugin that is done, or None for nothing."""
    if sys.stderr.isatty() and names:
        with _lines_at_terminal(names) as on_done:
            yield on_done
    else:
        yield _say_done if verbose else None


def _say_done(result: Loaded) -> None:
    output.problem(f"plugin {result.spec.name} {_outcome(result)}")


def _outcome(result: Loaded) -> str:
    word = "loaded" if result.error is None else "failed"
    return f"{word} after {result.seconds * 1000:.0f} ms"


@contextlib.contextmanager
def _lines_at_terminal(names: Sequence[str]) -> Iterator[OnDone]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    progress = Progress(
        SpinnerColumn(finished_text=" "),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[state]}", markup=False),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    tasks = [(name, progress.add_task(output.cell(name), total=1, state="...")) for name in names]

    def on_done(result: Loaded) -> None:
        # A name given twice has two lines, and its entries are done one at a time.
        for entry in tasks:
            if entry[0] == result.spec.name:
                tasks.remove(entry)
                progress.update(entry[1], completed=1, state=_outcome(result))
                return

    with progress:
        yield on_done
