"""Copies a base in a process that kills itself (SIGKILL): ``copy_kill_child.py DATA WHERE COUNT``.

WHERE is ``files``, ``rows`` or ``commit``: behind the COUNT-th document's files, behind its rows in the engine, or
behind its transaction; ``shown`` is inside the last transaction. ``end`` lets the work come to its end. The base is
made, and its copy begun, where there is none yet.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.jobs import copy_base, copy_document
from opora.models.null import NullEmbedder
from opora.settings import Settings

DOCUMENTS = 6
PLACES = {
    "files": (copy_document, "_copy_files"),
    "rows": (copy_document, "_copy_rows"),
    "commit": (copy_document, "_keep"),
}


def arm(where: str, count: int) -> None:
    module, name = PLACES.get(where, (copy_base, "_shown"))
    if where == "end":
        return
    real: Callable[..., Awaitable[Any]] = getattr(module, name)
    left = count

    async def deadly(*args: Any) -> Any:
        nonlocal left
        done = await real(*args)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(module, name, deadly)


async def main(data: Path, where: str, count: int) -> None:
    arm(where, count)
    app = await App.open(Settings(data=data), models=Models(embedder=NullEmbedder(16), chat=None))
    scope = await app.access.bases(LOCAL_PRINCIPAL, include_disabled=True)
    if not scope.bases:
        base = await app.bases.create(scope, name="kill")
        scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id], include_disabled=True)
        for number in range(DOCUMENTS):
            text = "\n\n".join(f"# Раздел {part}\n\nДокумент {number}, часть {part}." for part in range(4))
            await app.documents.add_file(scope, base.base_id, file_name=f"{number}.md", data=text.encode())
        await app.jobs.idle()
        await app.copies.start(scope, base.base_id, name="copy")
    await app.jobs.idle()
    await app.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
