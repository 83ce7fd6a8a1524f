"""How fast FAQ entries come in, beside the embedder's own speed: ``python -m benchmarks.faq_speed``.

An import is over when every question can be found. An edit is over when the new question is found at its own score.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.ingest_speed import default_model_folder
from benchmarks.measuring import table
from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.faq_entry import FaqDraft
from opora.domain.faq_import import ImportMode
from opora.domain.knowledge import BaseType
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import SearchRequest
from opora.ingest.faq_file import listed_rows
from opora.models.null import NullEmbedder
from opora.ports import Embedder, Numbered
from opora.settings import Settings

ENTRIES = 10_000
EDITS = 5
RAW_TEXTS = 2_000
_WORDS = (
    *("как", "где", "когда", "почему", "отпуск", "договор", "справка", "пароль", "почта", "принтер", "пропуск"),
    *("аванс", "счёт", "график", "заявление", "подписать", "получить", "изменить", "оформить", "продлить", "найти"),
)


def rows(count: int) -> list[Numbered]:
    chance = random.Random(5)
    made = [
        {"standard_question": f"{' '.join(chance.choices(_WORDS, k=9))} {number}?", "answers": [f"Ответ {number}."]}
        for number in range(count)
    ]
    return listed_rows(made)


async def measure(entries: int, embedder: Embedder) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        app = await App.open(Settings(data=Path(folder)), models=Models(embedder=embedder, chat=None))
        try:
            await embedder.embed_passages(["разогрев"])
            base = await app.bases.create(
                await app.access.tenant(LOCAL_PRINCIPAL), name="bench", base_type=BaseType.FAQ
            )
            scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id], include_disabled=True)
            given = rows(entries)
            begun = time.perf_counter()
            await app.faq_imports.start(scope, base.base_id, given, mode=ImportMode.APPEND)
            await app.jobs.idle()
            through = entries / (time.perf_counter() - begun)
            texts = [str(values["standard_question"]) for _, values in given[:RAW_TEXTS]]
            begun = time.perf_counter()
            await embedder.embed_passages(texts)
            raw = len(texts) / (time.perf_counter() - begun)
            edits = [await edit(app, scope, base.base_id, number) for number in range(1, min(EDITS, entries) + 1)]
        finally:
            await app.close()
    return {
        "entries": entries,
        "raw_texts_s": raw,
        "entries_s": through,
        "share": through / raw,
        "edit_found_s": max(edits),
    }


async def edit(app: App, scope: Scope, base_id: str, number: int) -> float:
    """Seconds from an edit of one question until a search finds the entry by it."""
    question = f"Изменённый вопрос {number} о пропуске на склад?"

    def change(draft: FaqDraft) -> FaqDraft:
        return replace(draft, entry=replace(draft.entry, standard_question=question))

    begun = time.perf_counter()
    record = await app.faq.update(scope, base_id, str(number), change)
    await app.jobs.idle()
    found = await app.search.search(scope, SearchRequest(query=question, match_count=10))
    seconds = time.perf_counter() - begun
    async with app._database.read() as stored:
        (form,) = (await stored.chunks.forms(scope, [record.entry_id]))[record.entry_id]
    assert form.chunk_id in await app._engine.chunk_ids(scope, base_id, with_vector=True), "the edit has no vector"
    assert found.results
    return seconds


def run(*, sizes: Sequence[int] = (ENTRIES,), model: bool = True) -> dict[str, Any]:
    """With the local model, and with one that does nothing, which shows what Opora itself costs."""
    results: dict[str, Any] = {f"{size} entries": asyncio.run(measure(size, NullEmbedder())) for size in sizes}
    if model:
        results["local model"] = asyncio.run(_with_model(sizes[-1]))
    return results


async def _with_model(entries: int) -> dict[str, float]:
    from opora.models.local_e5 import LocalE5

    embedder = LocalE5(default_model_folder())
    try:
        return await measure(entries, embedder)
    finally:
        await embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[ENTRIES])
    parser.add_argument("--no-model", action="store_true")
    given = parser.parse_args()
    results = run(sizes=given.sizes, model=not given.no_model)
    print(table(results))
    print(json.dumps(results, ensure_ascii=False))


if __name__ == "__main__":
    main()
