"""A data folder that takes no writes is told before an upload meets it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from opora.bootstrap.checks import check_writes

CHILD = """
import asyncio, json, resource, sys
from pathlib import Path
from opora.bootstrap.checks import check_writes
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
print(json.dumps(asyncio.run(check_writes(Path(sys.argv[1])))))
"""


async def test_a_folder_that_takes_writes(tmp_path: Path) -> None:
    check = await check_writes(tmp_path)
    assert (check["ok"], check["hint"]) == (True, "")
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    check = await check_writes(tmp_path / "gone")
    assert not check["ok"]
    assert check["hint"]


async def test_a_disk_that_takes_a_name_and_no_bytes(tmp_path: Path) -> None:
    """As a full disk does: the file can be made, and the write fails. A limit of the process stands in for the disk."""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    check = json.loads(done.stdout)
    assert (check["name"], check["ok"]) == ("writes", False)
    assert str(tmp_path) in check["detail"]
    assert list(tmp_path.iterdir()) == []
