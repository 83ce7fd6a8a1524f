"""What a start puts right: a lost engine, another model, uploads that nobody recorded."""

from __future__ import annotations

from typing import Any

from opora.domain.knowledge import ParseStatus
from opora.models.null import NullEmbedder

LONG = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(30))


async def test_a_lost_engine_is_filled_anew(world: Any) -> None:
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, LONG))
    await world.idle()
    rows = world.engine.rows
    world.engine = type(world.engine)()
    await world.restart()
    await world.idle()
    assert world.engine.rows == rows
    await world.check_sound(base.base_id)


async def test_another_model_makes_all_vectors_anew_before_it_is_named(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, LONG))
    await world.idle()
    world.embedder = NullEmbedder(12)
    gate = world.gate("embedder", "embed_passages")
    for _ in range(2):
        await world.restart()
        await gate.entered.wait()
        named = (await world.bases.get(await world.scope(base.base_id), base.base_id)).embedding_model_id
        assert named == "null-8", "searched by words only while vectors are mixed"
    gate.open.set()
    await world.idle()
    assert {row.dimension for row in world.engine.rows.values()} == {12}
    assert (await world.bases.get(await world.scope(base.base_id), base.base_id)).embedding_model_id == "null-12"
    await world.check_sound(base.base_id)


async def test_a_model_that_comes_later_embeds_what_is_there(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    world.embedder = None
    await world.start()
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, LONG))
    await world.idle()
    world.embedder = NullEmbedder(8)
    await world.restart()
    await world.idle()
    await world.check_sound(base.base_id)
    assert all(row.dimension == 8 for row in world.engine.rows.values())


async def test_the_files_of_a_lost_upload_are_swept(world: Any) -> None:
    base = await world.base()
    document = await world.add(base.base_id, "слово")
    await world.idle()
    await world.blobs.put("default", "never-recorded", 1, b"x")
    await world.blobs.put("default", document.document_id, 2, b"an upload that died")
    await world.restart()
    assert await world.blobs.stored() == [("default", document.document_id)]
    second = await world.add(base.base_id, "новое слово", source="/b")
    third = await world.add(base.base_id, "и ещё", source="/b", replace=True)
    assert third.document_id == second.document_id
    await world.idle()
    await world.check_sound(base.base_id)


async def test_a_stored_file_that_is_gone_fails_the_document(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start(work=False)
    base = await world.base()
    document = await world.add(base.base_id, "слово")
    await world.blobs.delete("default", document.document_id)
    await world.runner.start()
    [failed] = await world.settle(base.base_id, document)
    assert (failed.parse_status, failed.error_reason) == (ParseStatus.FAILED, "damaged_file")
