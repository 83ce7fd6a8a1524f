"""One owner a data folder, also when it is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from opora.domain.errors import Busy, Unavailable
from opora.store.ids import new_id
from opora.store.owner import FolderOwner, serving_at

HOLD = """
import sys
from pathlib import Path
from opora.store.owner import FolderOwner
owner = FolderOwner.take(Path(sys.argv[1]))
owner.announce("http://127.0.0.1:1")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_owner_is_refused_and_told_where_the_first_serves(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(Busy) as caught:
        FolderOwner.take(tmp_path)
    assert caught.value.hint
    assert serving_at(tmp_path) == "http://127.0.0.1:1"


def test_a_killed_owner_leaves_the_folder_free(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert serving_at(tmp_path) == ""
    FolderOwner.take(tmp_path).release()


def test_a_released_folder_can_be_taken_again(tmp_path: Path) -> None:
    FolderOwner.take(tmp_path / "deep" / "folder").release()
    owner = FolderOwner.take(tmp_path / "deep" / "folder")
    assert serving_at(tmp_path / "deep" / "folder") == ""
    owner.release()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable) as caught:
        FolderOwner.take(tmp_path / "file")
    assert "OPORA_DATA" in caught.value.hint


def test_ids_are_unique_sorted_by_time_and_of_version_7() -> None:
    ids = [new_id() for _ in range(2000)]
    assert len(set(ids)) == 2000
    assert {uuid.UUID(one).version for one in ids} == {7}
    stamps = [one[:18] for one in ids]
    assert stamps == sorted(stamps)
