"""The builtins that come with tinyhost."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .base import BuiltinPlugin
from .code_review import CodeReview
from .context_pruning import ContextPruning
from .handoff import Handoff
from .notify import Notify


def shipped(
    environ: Mapping[str, str] | None = None, state_dir: str | os.PathLike[str] | None = None
) -> list[BuiltinPlugin]:
    """New builtins for one host, in the order in which their hooks are walked.

    environ: by default os.environ. state_dir: by default the one that environ names.
    """
    return [
        ContextPruning(environ),
        Notify(environ),
        CodeReview(environ),
        Handoff(state_dir, environ),
    ]
