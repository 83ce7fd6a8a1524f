"""Archives are unpacked under limits on what they really produce, and nothing is written anywhere."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from opora.domain.errors import ParseFailed
from opora.ingest.archive import CappedArchive
from opora.ingest.limits import MIB, ParseLimits

FILES = Path(__file__).parents[1] / "cases/files/archive"
LIMITS = ParseLimits()


def packed(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def reason_of(data: bytes, limits: ParseLimits = LIMITS) -> str:
    with pytest.raises(ParseFailed) as caught:
        CappedArchive(data, limits).check()
    assert caught.value.message
    assert caught.value.hint
    return caught.value.reason


@pytest.mark.parametrize("name", ["bomb_ratio.docx", "bomb_lying_sizes.docx", "bomb_entries.docx"])
def test_bombs_end_at_the_limit_without_filling_memory(name: str) -> None:
    data = (FILES / name).read_bytes()
    tracemalloc.start()
    try:
        assert reason_of(data) == "archive_limit"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * MIB


def test_the_limit_is_on_all_parts_together() -> None:
    data = packed({f"part{index}": bytes([index]) * MIB for index in range(10)})
    CappedArchive(data, ParseLimits(produced_bytes=10 * MIB)).check()
    assert reason_of(data, ParseLimits(produced_bytes=10 * MIB - 1)) == "archive_limit"


def test_reading_twice_counts_twice() -> None:
    archive = CappedArchive(packed({"a": b"x" * MIB}), ParseLimits(produced_bytes=2 * MIB - 1))
    archive.read("a")
    with pytest.raises(ParseFailed, match="unpacks to more than"):
        archive.read("a")


def test_the_number_of_parts_is_limited() -> None:
    data = packed({f"part{index}": b"x" for index in range(11)})
    assert reason_of(data, ParseLimits(entries=10)) == "archive_limit"
    CappedArchive(data, ParseLimits(entries=11)).check()


def test_ratio_is_looked_at_only_in_large_parts() -> None:
    data = packed({"a": b"\0" * MIB})
    CappedArchive(data, LIMITS).check()
    assert reason_of(data, ParseLimits(ratio_floor=MIB // 2)) == "archive_limit"


def test_a_small_part_has_a_limit_of_its_own() -> None:
    with pytest.raises(ParseFailed, match="far more"):
        CappedArchive(packed({"mimetype": b"x" * 1000}), LIMITS).read("mimetype", at_most=100)


def test_names_that_climb_out_are_only_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    archive = CappedArchive((FILES / "slip_paths.docx").read_bytes(), LIMITS)
    archive.check()
    archive.repack(lambda name: True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    absolute = [Path(name) for name in archive.names if Path(name).is_absolute()]
    assert absolute
    assert not any(path.exists() for path in absolute)


def test_a_repacked_archive_holds_the_wanted_parts_with_true_sizes() -> None:
    data = packed({"keep.xml": b"<a/>" * 1000, "media.png": b"x"})
    with zipfile.ZipFile(CappedArchive(data, LIMITS).repack(lambda name: name.endswith(".xml"))) as again:
        assert again.namelist() == ["keep.xml"]
        assert again.read("keep.xml") == b"<a/>" * 1000


def test_encrypted_and_damaged_archives_say_so() -> None:
    data = bytearray(packed({"a": b"text " * 100}))
    for mark in (b"PK\x01\x02", b"PK\x03\x04"):
        at = data.find(mark) + (8 if mark.endswith(b"\x02") else 6)
        data[at] |= 1
    assert reason_of(bytes(data)) == "encrypted"
    whole = packed({"a": bytes(range(256)) * 50})
    assert reason_of(whole[: len(whole) // 2]) == "damaged_file"
    broken = bytearray(whole)
    broken[40:60] = b"\xff" * 20
    assert reason_of(bytes(broken)) == "damaged_file"
    assert reason_of(b"PK\x03\x04" + b"junk" * 20) == "damaged_file"
