"""A backup is whole, as of one moment, whatever happens meanwhile; a restore leaves the old data or the new."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from opora.domain.errors import Busy, Conflict, InvalidInput, NotFound, Unavailable
from opora.store import backup, snapshot, swap
from opora.store.backup import STAGE_PREFIX, write_backup
from opora.store.owner import FolderOwner
from opora.store.restore import MANIFEST, read_backup

SCHEMA = "CREATE TABLE documents (document_id TEXT PRIMARY KEY, version INT, indexed_version INT, parse_status TEXT)"


def make(folder: Path, *, name: str = "d", count: int = 3, index: bool = True) -> Path:
    """A data folder in the shape that the store gives it: ``count`` documents with their files, and an index."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "opora.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(SCHEMA)
        database.commit()
    for number in range(count):
        add(folder, f"{name}{number}")
    if index:
        with closing(sqlite3.connect(folder / "index.db")) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE chunk (text TEXT)")
            database.execute("INSERT INTO chunk VALUES (?)", (f"index of {name}",))
            database.commit()
    return folder


def add(folder: Path, document_id: str, *, version: int = 1, indexed: int = 1, status: str = "completed") -> None:
    for number in {version, indexed} - {0}:
        put(folder, document_id, f"{number}.original", f"{document_id} v{number}")
        put(folder, document_id, f"{number}.text", f"text of {document_id} v{number}")
    with closing(sqlite3.connect(folder / "opora.db", timeout=10)) as database:
        row = (document_id, version, indexed, status)
        database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", row)
        database.commit()


def put(folder: Path, document_id: str, name: str, text: str) -> None:
    place = folder / "blobs" / "default" / "00" / document_id
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(text)


def delete(folder: Path, document_id: str) -> None:
    """As a worker does it: hidden first, then the files, then the row."""
    with closing(sqlite3.connect(folder / "opora.db", timeout=10, isolation_level=None)) as database:
        database.execute("UPDATE documents SET parse_status = 'deleting' WHERE document_id = ?", (document_id,))
        for file in (folder / "blobs" / "default" / "00" / document_id).iterdir():
            file.unlink()
        database.execute("DELETE FROM documents WHERE document_id = ?", (document_id,))


def rows(folder: Path) -> dict[str, tuple[int, int]]:
    with closing(sqlite3.connect(folder / "opora.db")) as database:
        found = database.execute("SELECT document_id, version, indexed_version FROM documents").fetchall()
    return {name: (version, indexed) for name, version, indexed in found}


def assert_whole(folder: Path) -> None:
    """Every document that is listed has the files that are read of it."""
    for name, (version, indexed) in rows(folder).items():
        place = folder / "blobs" / "default" / "00" / name
        assert (place / f"{version}.original").read_text() == f"{name} v{version}"
        if indexed:
            assert (place / f"{indexed}.text").read_text() == f"text of {name} v{indexed}"


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "data")


def test_what_was_backed_up_comes_back(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "opora.tar.gz"
    summary = write_backup(folder, target)
    assert (summary["documents"], summary["files"], summary["missing"]) == (3, 6, 0)
    assert summary["bytes"] == target.stat().st_size
    assert target.stat().st_mode & 0o077 == 0, "nobody else may read all documents"
    assert read_backup(tmp_path / "other", target, force=False)["documents"] == 3
    assert rows(tmp_path / "other") == rows(folder)
    assert_whole(tmp_path / "other")
    with closing(sqlite3.connect(tmp_path / "other" / "index.db")) as index:
        assert index.execute("SELECT text FROM chunk").fetchall() == [("index of d",)]
    assert left_over(folder) == left_over(tmp_path / "other") == left_over(target.parent) == []


def test_an_owner_may_go_on_working(folder: Path, tmp_path: Path) -> None:
    owner = FolderOwner.take(folder)
    with closing(sqlite3.connect(folder / "opora.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM documents").fetchall()
        write_backup(folder, tmp_path / "b.tar.gz")
    owner.release()
    assert (tmp_path / "b.tar.gz").exists()


def test_without_an_index_a_backup_is_still_whole(tmp_path: Path) -> None:
    folder = make(tmp_path / "data", index=False)
    (folder / "index.db").write_bytes(b"not a database, but long enough to look like one" * 100)
    write_backup(folder, tmp_path / "b.tar.gz")
    read_backup(tmp_path / "other", tmp_path / "b.tar.gz", force=False)
    assert_whole(tmp_path / "other")
    assert not (tmp_path / "other" / "index.db").exists()


@pytest.mark.parametrize("links", [True, False])
@given(data=st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_deletes_and_replacements_meanwhile_leave_no_document_without_its_files(
    data: st.DataObject, links: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Between any two files that are linked, anything may happen that the lock of the database lets happen."""
    place = tmp_path_factory.mktemp("busy")
    folder = make(place / "data", count=6)
    link = snapshot._link
    changes = iter(data.draw(st.lists(st.sampled_from(["delete", "replace", "add", ""]), max_size=30)))
    numbers = itertools.count()
    writers_held = False

    def between(source: Path, target: Path) -> bool:
        change = next(changes, "")
        names = sorted(rows(folder))
        if change and names and not writers_held:
            name = names[len(names) // 2]
            if change == "delete":
                delete(folder, name)
            elif change == "add":
                add(folder, f"new{next(numbers)}")
            else:
                version = rows(folder)[name][0] + 1
                add(folder, name, version=version, indexed=version)
                for file in (folder / "blobs" / "default" / "00" / name).glob(f"{version - 1}.*"):
                    file.unlink()
        return link(source, target)

    def held(folder: Path, data: Path, *, hold: bool) -> dict[str, int] | None:
        nonlocal writers_held
        writers_held = hold
        return snapshot.snapshot(folder, data, hold=hold)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "_link", between)
        patch.setattr(backup, "snapshot", held)
        if not links:
            patch.setattr(Path, "hardlink_to", _no_links)
        summary = write_backup(folder, place / "b.tar.gz")
    read_backup(place / "other", place / "b.tar.gz", force=False)
    assert len(rows(place / "other")) == summary["documents"]
    assert summary["missing"] == 0
    assert_whole(place / "other")


def _no_links(self: Path, target: Path) -> None:
    raise OSError(18, "Invalid cross-device link")


def test_the_last_try_keeps_writers_waiting(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody deletes a document at the first file of every try; the third time he has to wait."""
    link_all, refused = snapshot._link_all, []

    def meanwhile(source: Path, target: Path) -> dict[str, frozenset[str]]:
        victim = min(rows(folder))
        try:
            with closing(sqlite3.connect(folder / "opora.db", timeout=0, isolation_level=None)) as database:
                database.execute("DELETE FROM documents WHERE document_id = ?", (victim,))
            for file in (folder / "blobs" / "default" / "00" / victim).iterdir():
                file.unlink()
        except sqlite3.OperationalError:
            refused.append(victim)
        return link_all(source, target)

    monkeypatch.setattr(snapshot, "_link_all", meanwhile)
    summary = write_backup(folder, tmp_path / "b.tar.gz")
    assert (refused, summary["documents"], summary["missing"]) == (["d2"], 1, 0)
    delete(folder, "d2")  # and they may write again


def test_the_copy_is_of_the_moment_it_began(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Index and database are of one moment: what is written while files are linked is in neither."""
    link = snapshot._link_all

    def later(source: Path, target: Path) -> dict[str, frozenset[str]]:
        with closing(sqlite3.connect(folder / "index.db")) as index:
            index.execute("DELETE FROM chunk")
            index.commit()
        add(folder, "later")
        return link(source, target)

    monkeypatch.setattr(snapshot, "_link_all", later)
    write_backup(folder, tmp_path / "b.tar.gz")
    read_backup(tmp_path / "other", tmp_path / "b.tar.gz", force=False)
    assert "later" not in rows(tmp_path / "other")
    with closing(sqlite3.connect(tmp_path / "other" / "index.db")) as index:
        assert index.execute("SELECT count(*) FROM chunk").fetchone() == (1,)


def test_a_file_that_the_folder_itself_lacks_does_not_stop_a_backup(folder: Path, tmp_path: Path) -> None:
    next((folder / "blobs" / "default" / "00" / "d1").glob("1.original")).unlink()
    assert write_backup(folder, tmp_path / "b.tar.gz")["missing"] == 1
    assert read_backup(tmp_path / "other", tmp_path / "b.tar.gz", force=False)["documents"] == 3


def test_what_is_being_deleted_or_written_is_left_out(folder: Path, tmp_path: Path) -> None:
    add(folder, "going", status="deleting")
    put(folder, "coming", "deadbeef.part", "half")
    assert write_backup(folder, tmp_path / "b.tar.gz")["documents"] == 3
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert not [name for name in archive.getnames() if name.endswith(".part")]


def test_what_a_killed_backup_left_is_removed_and_a_living_one_is_not(folder: Path, tmp_path: Path) -> None:
    (folder / f"{STAGE_PREFIX}dead").mkdir()
    alive = folder / f"{STAGE_PREFIX}alive"
    alive.mkdir()
    handle = os.open(alive, os.O_RDONLY)
    try:
        assert backup.lock(handle)
        write_backup(folder, tmp_path / "b.tar.gz")
        assert left_over(folder) == [alive.name]
    finally:
        os.close(handle)


def test_a_failure_leaves_the_earlier_backup_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "b.tar.gz"
    target.write_bytes(b"earlier")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_pack", full)
    with pytest.raises(Unavailable, match="No space left"):
        write_backup(folder, target)
    assert target.read_bytes() == b"earlier"
    assert left_over(tmp_path) == left_over(folder) == []


def test_nothing_to_back_up_and_no_place_for_it_are_clear_errors(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        write_backup(tmp_path / "none", tmp_path / "b.tar.gz")
    assert "OPORA_DATA" in caught.value.hint
    with pytest.raises(InvalidInput):
        write_backup(folder, tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable):
        write_backup(folder, tmp_path / "file" / "b.tar.gz")


def test_a_folder_with_data_is_only_replaced_by_force(folder: Path, tmp_path: Path) -> None:
    write_backup(folder, tmp_path / "b.tar.gz")
    other = make(tmp_path / "other", name="old", count=5)
    with pytest.raises(Conflict) as caught:
        read_backup(other, tmp_path / "b.tar.gz", force=False)
    assert "--force" in caught.value.hint
    assert len(rows(other)) == 5
    read_backup(other, tmp_path / "b.tar.gz", force=True)
    assert rows(other) == rows(folder)
    assert left_over(other) == []


def test_a_folder_that_somebody_works_in_is_left_alone(folder: Path, tmp_path: Path) -> None:
    write_backup(folder, tmp_path / "b.tar.gz")
    owner = FolderOwner.take(folder)
    with pytest.raises(Busy):
        read_backup(folder, tmp_path / "b.tar.gz", force=True)
    owner.release()
    assert_whole(folder)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = tmp_path_factory.mktemp("packed")
    write_backup(make(place / "data"), place / "b.tar.gz")
    return (place / "b.tar.gz").read_bytes()


@given(where=st.floats(0, 0.999), bit=st.integers(0, 7), cut=st.booleans())
@settings(max_examples=20, deadline=None)
def test_damage_anywhere_is_noticed_before_anything_is_touched(
    packed: bytes, tmp_path_factory: pytest.TempPathFactory, where: float, bit: int, cut: bool
) -> None:
    place = tmp_path_factory.mktemp("damaged")
    at = 10 + int(where * (len(packed) - 10))  # the first ten bytes say when and by whom it was packed
    data = packed[:at] if cut else packed[:at] + bytes([packed[at] ^ (1 << bit)]) + packed[at + 1 :]
    assume(cut or not _says_the_same(data, packed))
    (place / "b.tar.gz").write_bytes(data)
    old = make(place / "old", name="old", count=1)
    with pytest.raises(InvalidInput):
        read_backup(old, place / "b.tar.gz", force=True)
    assert set(rows(old)) == {"old0"}
    assert_whole(old)
    assert left_over(old) == []


def _says_the_same(data: bytes, packed: bytes) -> bool:
    """A run of zeros can be packed in many ways: a changed bit that only chooses another is no damage."""
    try:
        return gzip.decompress(data) == gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        return False


def archive_of(entries: dict[str, bytes], *, format: int = 1, files: int = 0) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        manifest = json.dumps({"format": format, "documents": 0, "files": files}).encode()
        for name, data in {MANIFEST: manifest, **entries}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def a_database(place: Path) -> bytes:
    make(place, count=0, index=False)
    return (place / "opora.db").read_bytes()


@pytest.mark.parametrize(
    "make_bytes",
    [
        lambda place: b"",
        lambda place: b"plain text",
        lambda place: gzip.compress(b"no archive"),
        lambda place: archive_of({}, format=99),
        lambda place: archive_of({}),
        lambda place: archive_of({"opora.db": b"no database"}),
        lambda place: archive_of({"opora.db": a_database(place)}, files=2),
    ],
    ids=["empty", "text", "no archive", "of another version", "no data", "no database", "files are missing"],
)
def test_what_is_no_backup_is_refused(tmp_path: Path, make_bytes: Callable[[Path], bytes]) -> None:
    (tmp_path / "b.tar.gz").write_bytes(make_bytes(tmp_path / "made"))
    with pytest.raises(InvalidInput) as caught:
        read_backup(tmp_path / "data", tmp_path / "b.tar.gz", force=False)
    assert "b.tar.gz" in caught.value.message
    assert left_over(tmp_path / "data") == []


def test_an_archive_from_elsewhere_brings_nothing_but_data(tmp_path: Path) -> None:
    strange = {
        "opora.db": a_database(tmp_path / "made"),
        "../outside": b"x",
        "blobs/../../outside": b"x",
        "owner.lock": b"x",
        "models/model.bin": b"x",
    }
    (tmp_path / "b.tar.gz").write_bytes(archive_of(strange))
    read_backup(tmp_path / "data", tmp_path / "b.tar.gz", force=False)
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"opora.db", "owner.lock"}
    assert (tmp_path / "data" / "owner.lock").read_bytes() == b""
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("step", range(12))  # calls that change the disk before the kill
def test_a_restore_that_is_killed_leaves_the_old_data_or_the_new(folder: Path, tmp_path: Path, step: int) -> None:
    write_backup(folder, tmp_path / "b.tar.gz")
    other = make(tmp_path / "other", name="old", count=2)
    (other / "index.db-wal").write_bytes(b"")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(other), str(tmp_path / "b.tar.gz"), str(step)], check=False
    )
    assert killed.returncode in (0, 9)
    FolderOwner.take(other).release()
    assert set(rows(other)) in ({"old0", "old1"}, {"d0", "d1", "d2"})
    assert_whole(other)
    with closing(sqlite3.connect(other / "index.db")) as index:
        said = index.execute("SELECT text FROM chunk").fetchone()[0]
    assert said == ("index of old" if "old0" in rows(other) else "index of d")
    assert left_over(other) == []


KILLED = """
import os, sys
from pathlib import Path
left = int(sys.argv[3])
def counted(call):
    def inner(*args, **options):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return call(*args, **options)
    return inner
Path.rename = counted(Path.rename)
Path.replace = counted(Path.replace)
Path.unlink = counted(Path.unlink)
from opora.store import swap
swap.shutil.rmtree = counted(swap.shutil.rmtree)
from opora.store.restore import read_backup
read_backup(Path(sys.argv[1]), Path(sys.argv[2]), force=True)
"""


def test_a_swap_that_was_not_decided_is_forgotten(folder: Path) -> None:
    (swap.new_stage(folder) / "opora.db").write_bytes(b"new")
    FolderOwner.take(folder).release()
    assert_whole(folder)
    assert left_over(folder) == []
