"""What is deleted is hidden at once and leaves nothing, also in the middle of its ingest."""

from __future__ import annotations

from typing import Any

import pytest

from opora.domain.errors import EngineError, NotFound
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.ports import Page

LONG = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(30))


@pytest.mark.parametrize(
    ("port", "method"),
    [("parser", "parse"), ("engine", "write"), ("embedder", "embed_passages"), ("blobs", "put")],
)
async def test_deleted_in_mid_ingest_leaves_nothing(new_world: Any, tmp_path: Any, port: str, method: str) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    gate = world.gate(port, method)
    await world.restart()
    document = await world.add(base.base_id, LONG)
    await gate.entered.wait()
    scope = await world.scope(base.base_id)
    await world.documents.delete(scope, document.document_id)
    assert await world.searched(base.base_id, "слово7 ") == []
    for attempt in (world.documents.get, world.documents.delete, world.documents.data):
        with pytest.raises(NotFound):
            await attempt(scope, document.document_id)
    assert (await world.documents.browse(scope, Page())).total == 0
    again = await world.add(base.base_id, LONG)
    gate.open.set()
    await world.settle(base.base_id, again)
    await world.idle()
    assert {row.document_id for row in world.engine.rows.values()} == {again.document_id}
    await world.check_sound(base.base_id)


async def test_a_failing_delete_is_tried_again_and_not_reported_as_gone(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    document = await world.add(base.base_id, "слово")
    await world.settle(base.base_id, document)
    await world.idle()
    gate = world.gate("engine", "delete_documents")
    failing = world.failing("engine", "delete_documents", EngineError("down"), 5, before=gate)
    await world.restart()
    scope = await world.scope(base.base_id)
    await world.documents.delete(scope, document.document_id)
    await gate.entered.wait()
    assert failing.left == 0
    assert await world.searched(base.base_id, "слово") == []
    async with world.database.read() as stored:
        assert await stored.documents.ids(scope) == [document.document_id]
    gate.open.set()
    await world.idle()
    assert world.engine.rows == {}
    await world.check_sound(base.base_id)


async def test_a_base_goes_with_all_it_holds(world: Any) -> None:
    base, other = await world.base(), await world.base()
    kept = await world.add(other.base_id, "останется")
    documents = [await world.add(base.base_id, f"{n} " + LONG) for n in range(3)]
    scope = await world.scope(base.base_id)
    await world.bases.delete(scope, base.base_id)
    with pytest.raises(NotFound):
        await world.scope(base.base_id)
    with pytest.raises(NotFound):
        await world.access.document(LOCAL_PRINCIPAL, documents[0].document_id)
    with pytest.raises(NotFound):
        await world.documents.add_file(scope, base.base_id, file_name="x", data=b"late")
    await world.idle()
    assert {row.base_id for row in world.engine.rows.values()} == {other.base_id}
    assert await world.blobs.stored() == [("default", kept.document_id)]
    await world.check_sound(other.base_id)
