"""compactor/compact, whose params and result are the one difference between 5 and 6."""

from __future__ import annotations

from typing import Any

import attrs

from tinyhost.errors import CallTimeout, ProtocolError, RemoteError, cut

from .context_messages import (
    CompactFailed,
    Compaction,
    CompactorContext,
    CompactorContext5,
    CompactParams,
    CompactParams5,
    CompactReason,
    CompactResult,
    CompactResult5,
)
from .errors import CompactionFailed
from .talk import Talk
from .types import CompactorSpec, ErrorCode

COMPACT = "compactor/compact"


@attrs.frozen
class Compactor:
    """A way to shorten a conversation. It dies with its process: get it anew for each use."""

    spec: CompactorSpec
    _talk: Talk

    async def compact(self, context: CompactorContext, reason: CompactReason) -> Compaction:
        """Shorten a conversation.

        Raises CompactionFailed, also for an answer that is no shorter, and PluginDied.
        """
        talk = self._talk
        timeout = talk.deadlines.compact
        try:
            raw = await talk.raw(COMPACT, self._params(context, reason), timeout=timeout)
            compaction = self._read(raw)
        except CallTimeout as error:
            raise CompactionFailed(talk.plugin, ErrorCode.TIMEOUT, str(error)) from error
        except (RemoteError, ProtocolError) as error:
            raise CompactionFailed(talk.plugin, ErrorCode.INTERNAL, cut(str(error))) from error
        if compaction.after >= compaction.before:
            reason_why = f"it went from {compaction.before} tokens to {compaction.after}"
            usage = compaction.usage
            raise CompactionFailed(talk.plugin, ErrorCode.INTERNAL, reason_why, usage, useless=True)
        return compaction

    def _params(self, context: CompactorContext, reason: CompactReason) -> Any:
        if self._talk.protocol >= 6:
            return CompactParams(id=self.spec.id, context=context, reason=reason)
        older = CompactorContext5(
            items=context.items,
            usage=context.usage,
            capabilities=context.capabilities,
            model=context.request.model,
            failures=context.failures,
            keep_budget=context.keep_budget,
        )
        return CompactParams5(id=self.spec.id, context=older, reason=reason)

    def _read(self, raw: Any) -> Compaction:
        talk = self._talk
        if talk.protocol < 6:
            older: CompactResult5 = talk.read(COMPACT, CompactResult5, raw)
            return older.compaction
        result = talk.read(COMPACT, CompactResult, raw)
        if isinstance(result, CompactFailed):
            failed = result.error
            raise CompactionFailed(
                talk.plugin, failed.error.code, cut(failed.error.message), failed.usage
            )
        compaction: Compaction = result.compaction
        return compaction
