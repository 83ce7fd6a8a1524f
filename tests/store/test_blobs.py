"""Files of documents: whole or not at all, by ids only."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from opora.domain.errors import InvalidInput, NotFound, Unavailable
from opora.store.blobs import FileBlobs


@pytest.fixture
def blobs(tmp_path: Path) -> FileBlobs:
    return FileBlobs(tmp_path / "blobs")


async def test_what_is_put_is_got(blobs: FileBlobs) -> None:
    await blobs.put("t", "d", 1, b"one")
    await blobs.put("t", "d", 1, "текст".encode(), part="text")
    await blobs.put("t", "d", 2, b"two")
    assert await blobs.get("t", "d", 1) == b"one"
    assert await blobs.get("t", "d", 1, part="text") == "текст".encode()
    assert await blobs.get("t", "d", 2) == b"two"
    assert Path(blobs.path("t", "d", 2)).read_bytes() == b"two"
    assert await blobs.stored() == [("t", "d")]


async def test_putting_again_replaces(blobs: FileBlobs) -> None:
    await blobs.put("t", "d", 1, b"a longer first one")
    await blobs.put("t", "d", 1, b"second")
    assert await blobs.get("t", "d", 1) == b"second"


async def test_absent_files_are_not_found(blobs: FileBlobs) -> None:
    with pytest.raises(NotFound):
        await blobs.get("t", "d", 1)
    assert await blobs.stored() == []


async def test_only_earlier_versions_go(blobs: FileBlobs) -> None:
    for version in (1, 2, 3):
        await blobs.put("t", "d", version, b"x")
    await blobs.delete("t", "d", before=3)
    assert await blobs.get("t", "d", 3) == b"x"
    with pytest.raises(NotFound):
        await blobs.get("t", "d", 2)


async def test_deleting_takes_all_and_may_be_repeated(blobs: FileBlobs) -> None:
    await blobs.put("t", "d", 1, b"x")
    await blobs.put("t", "other", 1, b"x")
    await blobs.delete("t", "d")
    await blobs.delete("t", "d")
    assert await blobs.stored() == [("t", "other")]


@pytest.mark.parametrize(
    "evil", ["", "..", ".", "../x", "a/b", "a\\b", "/etc", "a\0b", "a\n", "-a", "ид", "a" * 129, "C:x", ".hidden"]
)
async def test_no_id_becomes_a_path(blobs: FileBlobs, evil: str) -> None:
    for tenant_id, document_id in ((evil, "d"), ("t", evil)):
        with pytest.raises(InvalidInput):
            await blobs.put(tenant_id, document_id, 1, b"x")
        with pytest.raises(InvalidInput):
            blobs.path(tenant_id, document_id, 1)
        with pytest.raises(InvalidInput):
            await blobs.delete(tenant_id, document_id)


async def test_unknown_parts_are_refused(blobs: FileBlobs) -> None:
    with pytest.raises(InvalidInput):
        blobs.path("t", "d", 1, part="../original")


async def test_a_failing_write_leaves_the_old_file(blobs: FileBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    await blobs.put("t", "d", 1, b"old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left"):
        await blobs.put("t", "d", 1, b"new")
    monkeypatch.undo()
    assert await blobs.get("t", "d", 1) == b"old"
    assert [path.name for path in Path(blobs.path("t", "d", 1)).parent.iterdir()] == ["1.original"]


async def test_a_folder_that_vanishes_during_a_write_is_made_again(
    blobs: FileBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document's deletion takes the folder away between the writing and the renaming."""
    folder = Path(blobs.path("t", "d", 1)).parent

    def vanish(_handle: int) -> None:
        monkeypatch.undo()
        shutil.rmtree(folder)

    monkeypatch.setattr(os, "fsync", vanish)
    await blobs.put("t", "d", 1, b"x")
    assert await blobs.get("t", "d", 1) == b"x"
    assert [path.name for path in folder.iterdir()] == ["1.original"]


async def test_what_another_takes_out_at_the_same_time_is_gone_all_the_same(
    blobs: FileBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in (1, 2, 3):
        await blobs.put("t", "d", version, b"x")
    unlink = os.unlink

    def taken_before(path: str, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", taken_before)
    await blobs.delete("t", "d")
    assert await blobs.stored() == []
