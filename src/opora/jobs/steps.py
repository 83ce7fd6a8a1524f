"""Notes what each step of a document's processing did and how long it took, until its work is settled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from opora.domain.errors import OporaError
from opora.domain.steps import Step, StepName
from opora.domain.work import Work, WorkKind
from opora.ports import Clock, NewId

OF_DOCUMENTS = frozenset(
    {
        WorkKind.INGEST,
        WorkKind.EMBED,
        WorkKind.REINDEX,
        WorkKind.CLEAN_CHUNKS,
        WorkKind.ENRICH,
        WorkKind.GRAPH,
        WorkKind.MOVE_DOCUMENT,
        WorkKind.COPY_DOCUMENT,
    }
)
"""Work whose subject is a document that lives on."""
CUT_OFF = "Cut off."


class StepLog:
    """Steps of the work that is under way, by its id. What a process that dies had not settled is lost with it."""

    def __init__(self, clock: Clock, new_id: NewId) -> None:
        self._clock = clock
        self._new_id = new_id
        self._steps: dict[str, list[Step]] = {}

    @contextmanager
    def step(self, work: Work, name: StepName) -> Iterator[dict[str, int]]:
        """Time what is done inside; it fills in the counts. A failure is noted with its message and goes on."""
        counts: dict[str, int] = {}
        started_at, start = self._clock(), monotonic()
        error = ""
        try:
            yield counts
        except BaseException as failure:
            error = _in_words(failure)
            raise
        finally:
            step = Step(
                step_id=self._new_id(),
                document_id=work.subject,
                name=name,
                started_at=started_at,
                microseconds=round((monotonic() - start) * 1e6),
                counts=counts,
                error=error,
            )
            self._steps.setdefault(work.work_id, []).append(step)

    def has(self, work: Work) -> bool:
        return work.work_id in self._steps

    def take(self, work: Work) -> list[Step]:
        """What was noted since the last call, to be stored."""
        return self._steps.pop(work.work_id, [])


def _in_words(failure: BaseException) -> str:
    if isinstance(failure, OporaError):
        return failure.message
    return "Something went wrong inside." if isinstance(failure, Exception) else CUT_OFF
