"""Imports FAQ entries in a process that kills itself (SIGKILL): ``faq_kill_child.py DATA ROWS WHERE COUNT``.

WHERE is ``before`` or ``after``: inside the transaction of the COUNT-th batch, or just behind its commit. ``end`` lets
the work come to its end. The import is started where there is none yet.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.faq_import import ImportMode
from opora.domain.knowledge import BaseType
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.ingest.faq_file import listed_rows
from opora.jobs import import_faq
from opora.models.null import NullEmbedder
from opora.settings import Settings


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(where: str, count: int) -> None:
    left = count
    append, step = import_faq.append, import_faq._step

    async def appended(*args: object) -> object:
        nonlocal left
        done = await append(*args)  # type: ignore[arg-type]
        left -= 1
        if where == "before" and left == 0:
            die()
        return done

    async def stepped(*args: object) -> bool:
        done = await step(*args)  # type: ignore[arg-type]
        if where == "after" and left <= 0:
            die()
        return done

    import_faq.append, import_faq._step = appended, stepped  # type: ignore[assignment]


async def main(data: Path, rows: int, where: str, count: int) -> None:
    arm(where, count)
    app = await App.open(Settings(data=data), models=Models(embedder=NullEmbedder(16), chat=None))
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    if not (await app.access.bases(LOCAL_PRINCIPAL)).bases:
        base = await app.bases.create(tenant, name="faq", base_type=BaseType.FAQ)
        scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
        entries = [{"standard_question": f"Вопрос {number}?", "answers": ["Да."]} for number in range(rows)]
        await app.faq_imports.start(scope, base.base_id, listed_rows(entries), mode=ImportMode.APPEND)
    await app.jobs.idle()
    await app.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
