"""The `Vectoriser` of a process without a model: a process that has one is asked over the bus."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from opora.bus.connection import Bus
from opora.bus.messages import read_reply
from opora.domain.errors import ModelError, Unavailable
from opora.domain.knowledge import KnowledgeBase
from opora.ports import QuestionVector

SUBJECT = "vectorize.request"
SECONDS = 10.0
"""Longest wait for the vector of a question."""


class BusVectoriser:
    def __init__(self, bus: Bus, *, seconds: float = SECONDS) -> None:
        self._bus = bus
        self._seconds = seconds

    async def vectorise(self, question: str, base: KnowledgeBase | None = None) -> QuestionVector:
        """Raises `ModelError` where nobody answers, at once, or not in time."""
        asked: dict[str, Any] = {"query": question}
        if base is not None and base.own_model_id:
            asked |= {"tenant_id": base.tenant_id, "knowledge_base_id": base.base_id}
        payload = json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace")
        try:
            reply = read_reply(await self._bus.request(SUBJECT, payload, seconds=self._seconds))
            return QuestionVector(identity=str(reply["model"]), vector=np.asarray(reply["vector"], np.float32))
        except (Unavailable, KeyError, TypeError, ValueError) as error:
            told = error.message if isinstance(error, Unavailable) else "The reply has no vector."
            hint = (error.hint if isinstance(error, Unavailable) else "") or "Search by words (fulltext) meanwhile."
            raise ModelError(f"The question could not be made a vector. {told}", hint=hint) from error
