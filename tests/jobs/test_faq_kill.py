"""`kill -9` in the middle of an import of FAQ entries loses none and doubles none."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from opora.access import Access
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.engines.sqlite import SqliteEngine
from opora.index.difference import difference
from opora.models.null import NullEmbedder
from opora.ports import Page
from opora.store.database import SqlDatabase

ROWS = 450
KILLS = (("before", 1), ("after", 2), ("before", 1), ("end", 0))


async def test_no_entry_is_lost_or_doubled(tmp_path: Path) -> None:
    data = tmp_path / "data"
    child = Path(__file__).with_name("faq_kill_child.py")
    for where, count in KILLS:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(child), str(data), str(ROWS), where, str(count)), stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
        assert process.returncode == (0 if where == "end" else -signal.SIGKILL), errors.decode()

    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    engine = SqliteEngine(data / "index.db")
    try:
        scope = await Access(database).bases(LOCAL_PRINCIPAL, include_disabled=True)
        (base_id,) = scope.base_ids
        async with database.read() as stored:
            entries = await stored.faq.browse(scope, base_id, Page(page=1, page_size=ROWS + 1))
        questions = [one.draft.entry.standard_question for one in entries.items]
        assert questions == [f"Вопрос {number}?" for number in range(ROWS)]
        assert [one.seq_id for one in entries.items] == list(range(1, ROWS + 1))
        assert (await difference(database, engine, scope, base_id, NullEmbedder(16).card.identity)).is_sound
        assert len(await engine.chunk_ids(scope, base_id, with_vector=True)) == ROWS
    finally:
        await engine.close()
        await database.close()
