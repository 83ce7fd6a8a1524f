"""Folders come in, what changed is taken up, what is gone goes, and nothing is lost on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from opora.cli.exits import Exit
from opora.cli.listing import files_of, source_of

from .conftest import Opora, write_files

COUNTS = ("added", "replaced", "unchanged", "duplicates", "removed", "refused", "failed")


def counts(report: dict[str, Any]) -> dict[str, int]:
    """What the report counts, without the zeros."""
    return {name: len(report[name]) for name in COUNTS if report[name]}


def texts(opora: Opora) -> dict[str, str]:
    """The text of each document, by its source's name."""
    listed = opora("documents", "list", "--json").json["documents"]
    return {
        Path(doc["source"]).name: opora("documents", "show", doc["id"], "--text", "--json").json["text"].strip()
        for doc in listed
        if doc["parse_status"] == "completed"
    }


def test_a_folder_comes_in_and_again_changes_nothing(opora: Opora, files: Path) -> None:
    first = opora("ingest", str(files), "--json")
    assert (first.code, counts(first.json), first.err) == (Exit.OK, {"added": 3}, "")
    assert len(first.json["documents"]) == 3
    again = opora("ingest", str(files), "--json")
    assert (again.code, counts(again.json)) == (Exit.OK, {"unchanged": 3})
    assert again.json["documents"] == first.json["documents"]
    assert again.json["base_id"] == first.json["base_id"]


def test_what_changed_is_taken_up_and_what_is_gone_goes(opora: Opora, files: Path) -> None:
    before = opora("ingest", str(files), "--json").json
    (files / "leave.txt").write_text("Changed words.")
    (files / "prices.csv").unlink()
    (files / "new.txt").write_text("New words.")
    after = opora("ingest", str(files), "--json")
    assert counts(after.json) == {"added": 1, "replaced": 1, "unchanged": 1, "removed": 1}
    assert after.json["removed"] == [str(files / "prices.csv")]
    assert set(after.json["documents"]) & set(before["documents"]), "a changed document keeps its id"
    found = texts(opora)
    assert set(found) == {"leave.txt", "new.txt", "travel.md"}
    assert found["leave.txt"] == "Changed words."


def test_what_is_gone_can_be_kept(opora: Opora, files: Path) -> None:
    opora("ingest", str(files))
    (files / "prices.csv").unlink()
    assert counts(opora("ingest", str(files), "--keep-gone", "--json").json) == {"unchanged": 2}
    assert counts(opora("ingest", str(files), "--json").json) == {"unchanged": 2, "removed": 1}


def test_only_what_lay_in_the_folder_goes(opora: Opora, tmp_path: Path) -> None:
    """`docs` is not the folder of `docs-old`, and a file that came alone is nobody's."""
    for name in ("docs", "docs-old"):
        write_files(tmp_path / name, {"a.txt": f"in {name}"})
        opora("ingest", str(tmp_path / name))
    (tmp_path / "docs" / "a.txt").unlink()
    assert opora("ingest", str(tmp_path / "docs"), "--json").json["removed"] == [str(tmp_path / "docs" / "a.txt")]
    assert list(texts(opora).values()) == ["in docs-old"]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a.txt": "one"}, {"b.txt": "one"}, {"added": 1, "removed": 1}),
        ({"a.txt": "one", "b.txt": "two"}, {"a.txt": "two", "b.txt": "three"}, {"replaced": 2}),
        ({"a.txt": "one", "b.txt": "two"}, {"a.txt": "two"}, {"replaced": 1, "removed": 1}),
        (
            {"a.txt": "one", "b.txt": "two", "c.txt": "three"},
            {"a.txt": "two", "b.txt": "three", "c.txt": "four"},
            {"replaced": 3},
        ),
        ({"z.txt": "one", "y/a.txt": "two"}, {"a.txt": "two", "y/z.txt": "one"}, {"added": 2, "removed": 2}),
    ],
    ids=["moved", "handed on", "taken over", "handed on twice", "changed places"],
)
def test_content_that_moves_between_files_is_not_lost(
    opora: Opora, tmp_path: Path, before: dict[str, str], after: dict[str, str], changes: dict[str, int]
) -> None:
    folder = write_files(tmp_path / "files", before)
    opora("ingest", str(folder))
    for name in before:
        (folder / name).unlink()
    write_files(folder, after)
    report = opora("ingest", str(folder), "--json")
    assert (report.code, counts(report.json)) == (Exit.OK, changes)
    assert texts(opora) == {Path(name).name: text for name, text in after.items()}


def test_the_same_bytes_twice_are_told_and_kept_once(opora: Opora, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", {"a.txt": "same", "b.txt": "same"})
    result = opora("ingest", str(folder))
    assert result.code == Exit.OK
    assert "1 added" in result.out
    assert "holds the same as" in result.err
    report = opora("ingest", str(folder), "--json").json
    assert counts(report) == {"unchanged": 1, "duplicates": 1}
    kept = report["duplicates"][0]["same_as"]
    Path(kept).unlink()
    assert counts(opora("ingest", str(folder), "--json").json) == {"added": 1, "removed": 1}
    assert list(texts(opora).values()) == ["same"]


def test_documents_that_fail_do_not_stop_the_others(opora: Opora, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", {"good.txt": "Words.", "empty.txt": ""})
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 8)
    result = opora("ingest", str(folder))
    assert result.code == Exit.PARTLY
    assert "2 failed" in result.out
    assert "empty.txt: " in result.err
    assert "noise.bin: " in result.err
    again = opora("ingest", str(folder), "--json")
    assert (again.code, counts(again.json)) == (Exit.PARTLY, {"unchanged": 3, "failed": 2})
    assert {row["reason"] for row in again.json["failed"]} == {"no_text", "not_text"}


def test_a_file_that_is_too_large_is_refused_unread(
    opora: Opora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", {"small.txt": "Words."})
    with (folder / "large.txt").open("wb") as file:
        file.truncate(1 << 40)
    result = opora("ingest", str(folder), "--json")
    assert (result.code, counts(result.json)) == (Exit.PARTLY, {"added": 1, "refused": 1})
    assert "OPORA_UPLOAD_LIMIT" in result.json["refused"][0]["message"]
    (folder / "large.txt").write_text("x" * 2000)
    result = opora("ingest", str(folder), "--json", OPORA_UPLOAD_LIMIT="1000")
    assert counts(result.json) == {"unchanged": 1, "refused": 1}


def test_a_file_that_cannot_be_read_is_refused_and_its_document_stays(
    opora: Opora, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opora("ingest", str(files))
    read = Path.read_bytes

    def refuse(self: Path) -> bytes:
        if self.name == "prices.csv":
            raise PermissionError(13, "Permission denied")
        return read(self)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = opora("ingest", str(files), "--json")
    assert (result.code, counts(result.json)) == (Exit.PARTLY, {"unchanged": 2, "refused": 1})
    assert result.json["refused"] == [{"path": str(files / "prices.csv"), "message": "Permission denied"}]


def test_what_lies_in_a_folder_that_cannot_be_read_is_not_gone(
    opora: Opora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", {"a.txt": "one", "sub/b.txt": "two", "subway/c.txt": "three"})
    opora("ingest", str(folder))
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if path == str(folder / "sub"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    (folder / "subway" / "c.txt").unlink()
    monkeypatch.setattr(os, "scandir", refuse)
    result = opora("ingest", str(folder), "--json")
    monkeypatch.undo()
    assert (result.code, counts(result.json)) == (Exit.PARTLY, {"unchanged": 1, "refused": 1, "removed": 1})
    assert set(texts(opora)) == {"a.txt", "b.txt"}


def test_an_empty_folder_is_said_to_be_empty(opora: Opora, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = opora("ingest", str(tmp_path / "empty"))
    assert result.code == Exit.OK
    assert "no files" in result.err


def test_hidden_files_and_links_that_lead_out_stay_out(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "files", {"b.txt": "", "a/c.txt": "", ".git/x.txt": "", ".y.txt": "", "~$open.docx": ""}
    )
    write_files(tmp_path, {"outside.txt": ""})
    (folder / "out.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "around").symlink_to(folder)
    (folder / "broken").symlink_to(folder / "nothing")
    (folder / "in.txt").symlink_to(folder / "b.txt")
    os.mkfifo(folder / "pipe")
    assert [str(file.relative_to(folder)) for file in files_of(folder).files] == ["b.txt", "in.txt", "a/c.txt"]


def test_names_that_are_no_text_still_come_in(opora: Opora, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", {"new\nline.txt": "one", 'quo"te.txt': "two", "имя 员.txt": "three"})
    (folder / os.fsdecode(b"bad\xff.txt")).write_text("four")
    result = opora("ingest", str(folder), "--json")
    assert (result.code, counts(result.json)) == (Exit.OK, {"added": 4})
    assert counts(opora("ingest", str(folder), "--json").json) == {"unchanged": 4}
    assert source_of(Path(os.fsdecode(b"/bad\xff.txt"))) == "/bad\\xff.txt"


def test_a_base_is_made_by_its_name_and_found_by_name_or_id(opora: Opora, files: Path) -> None:
    one = opora("ingest", str(files), "-b", "Rules", "--json").json["base_id"]
    assert opora("ingest", str(files), "-b", "Rules", "--json").json["base_id"] == one
    assert opora("ingest", str(files), "-b", one, "--json").json["base_id"] == one
    assert opora("ingest", str(files), "--json").json["base_id"] != one


def test_files_and_folders_at_once_count_once(opora: Opora, files: Path) -> None:
    result = opora("ingest", str(files / "leave.txt"), str(files), str(files), "--json")
    assert counts(result.json) == {"added": 3, "unchanged": 1}
    assert len(result.json["documents"]) == 3


def test_without_a_server_no_wait_says_that_it_waits(opora: Opora, files: Path) -> None:
    result = opora("ingest", str(files), "--no-wait")
    assert result.code == Exit.OK
    assert "No server is running" in result.err
    assert {doc["parse_status"] for doc in opora("documents", "list", "--json").json["documents"]} == {"completed"}


def test_without_a_server_what_was_deleted_is_gone_when_the_command_ends(opora: Opora, files: Path) -> None:
    data = files.parent / "data"
    opora("ingest", str(files))
    (files / "travel.md").unlink()
    opora("ingest", str(files))
    stored = {path.parent.name for path in (data / "blobs").rglob("*.original")}
    assert stored == {doc["id"] for doc in opora("documents", "list", "--json").json["documents"]}
