"""New bytes take the place of the old: same id, found once at every moment, nothing left of what went."""

from __future__ import annotations

import asyncio
from typing import Any

from opora.domain.knowledge import ParseStatus

LONG = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(30))


async def test_replacing_keeps_the_id_and_what_did_not_change(world: Any) -> None:
    base = await world.base()
    first = await world.add(base.base_id, LONG, source="/a", replace=True)
    await world.settle(base.base_id, first)
    await world.idle()
    before = dict(world.engine.rows)
    assert (await world.add(base.base_id, LONG, source="/a", replace=True)).version == 1
    second = await world.add(base.base_id, LONG.replace("слово7 ", "иное "), source="/a", replace=True)
    assert (second.document_id, second.version, second.indexed_version) == (first.document_id, 2, 1)
    [done] = await world.settle(base.base_id, second)
    await world.idle()
    assert (done.version, done.indexed_version) == (2, 2)
    assert await world.searched(base.base_id, "слово7 ") == []
    assert await world.searched(base.base_id, "иное ")
    kept = [key for key in before if key in world.engine.rows]
    assert len(kept) >= len(before) - 3
    assert all(world.engine.rows[key] is before[key] for key in kept), "what stays is not written again"
    await world.check_sound(base.base_id)


async def test_a_document_being_replaced_is_found_once_at_every_moment(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, "общее слово, старое", source="/a"))
    await world.idle()
    seen: list[list[str]] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            real = getattr(world.engine, name)

            async def watch(*args: Any, **kw: Any) -> Any:
                seen.append(await world.searched(base.base_id, "общее"))
                outcome = await real(*args, **kw)
                seen.append(await world.searched(base.base_id, "общее"))
                return outcome

            return watch if asyncio.iscoroutinefunction(real) else real

    world.use("engine", Watched())
    await world.restart()
    await world.add(base.base_id, "общее слово, новое", source="/a", replace=True)
    await world.idle()
    old, new = ["общее слово, старое"], ["общее слово, новое"]
    assert [found for found in seen if found not in (old, new)] == []
    assert old in seen
    assert seen[-1] == new
    await world.check_sound(base.base_id)


async def test_a_replacement_that_cannot_be_read_leaves_the_earlier_version(world: Any) -> None:
    base = await world.base()
    first = await world.add(base.base_id, "первое слово", source="/a")
    await world.settle(base.base_id, first)
    second = await world.add(base.base_id, "DAMAGED", source="/a", replace=True)
    [failed] = await world.settle(base.base_id, second)
    assert (failed.parse_status, failed.version, failed.indexed_version) == (ParseStatus.FAILED, 2, 1)
    assert "earlier version" in failed.error_message
    assert await world.searched(base.base_id, "первое")
    assert await world.documents.text(await world.scope(base.base_id), first.document_id) == "первое слово"
    third = await world.add(base.base_id, "третье слово", source="/a", replace=True)
    [done] = await world.settle(base.base_id, third)
    assert (done.parse_status, done.indexed_version, done.error_message) == (ParseStatus.COMPLETED, 3, "")
    await world.idle()
    assert await world.searched(base.base_id, "первое") == []
    await world.check_sound(base.base_id)


async def test_replaced_in_mid_ingest_ends_with_the_last(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    gate = world.gate("parser", "parse")
    await world.start()
    base = await world.base()
    await world.add(base.base_id, "первое слово", source="/a", replace=True)
    await gate.entered.wait()
    await world.add(base.base_id, "второе слово", source="/a", replace=True)
    last = await world.add(base.base_id, "третье слово", source="/a", replace=True)
    gate.open.set()
    [done] = await world.settle(base.base_id, last)
    assert (done.version, done.indexed_version) == (3, 3)
    await world.idle()
    assert await world.searched(base.base_id, "слово") == ["третье слово"]
    await world.check_sound(base.base_id)


async def test_replaced_while_its_rows_are_written_leaves_none_of_them(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, "первое слово", source="/a"))
    await world.idle()
    gate = world.gate("engine", "write")
    await world.restart()
    await world.add(base.base_id, "второе слово", source="/a", replace=True)
    await gate.entered.wait()
    await world.add(base.base_id, "третье слово", source="/a", replace=True)
    gate.open.set()
    await world.idle()
    assert [row.text for row in world.engine.rows.values()] == ["третье слово"]
    await world.check_sound(base.base_id)
