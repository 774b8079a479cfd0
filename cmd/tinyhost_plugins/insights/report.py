"""Answers about an archive, whose end says what could not be read of it."""

from __future__ import annotations

from collections.abc import Iterator

from .._shared import report
from .._shared.report import View, named
from .loading import Loaded


class Report(report.Report):
    """An answer that grows from its first line on, which is the short one."""

    def __init__(self, loaded: Loaded, view: View, first: str) -> None:
        super().__init__(view, first)
        self._loaded = loaded

    def ending(self) -> Iterator[str]:
        if self._loaded.faults:
            yield f"Files not readable: {named(self._loaded.faults)}"
        if self._loaded.left_out:
            yield f"Files left out: {named(self._loaded.left_out, self._loaded.left_out_count)}"
