"""A real server in a process of its own: commands go to it, signals end it cleanly, and one folder has one owner."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from opora.cli.demo import QUESTION as DEMO_QUESTION
from opora.cli.exits import Exit
from opora.cli.server import Stop, _reached_at
from opora.store.owner import FolderOwner, serving_at

from .conftest import QUESTION, invoke, serving, spawn, write_files

NULL = {"OPORA_EMBEDDING": "null"}
SAME = (
    ("search", "Датчик"),
    ("search", "carry over leave", "--mode", "semantic", "--json"),
    ("search", "Датчик", "--explain"),
    ("search", "zzzzqqq", "--mode", "fulltext"),
    ("search", "x", "-b", "Nowhere"),
    ("ask", QUESTION),
    ("ask", QUESTION, "--json"),
    ("ask", "Сколько стоит датчик?", "--explain"),
    ("ask", "x", "--session", "nope"),
    ("documents", "list"),
    ("documents", "list", "--json"),
    ("documents", "show", "nope"),
    ("documents", "delete", "nope", "--json"),
    ("settings",),
    ("pipeline",),
)


def without_ids(result: Any) -> tuple[int, Any, str]:
    """Sessions and messages are new each time."""
    if not result.out.startswith("{"):
        return result.code, result.out, result.err
    value = {key: item for key, item in result.json.items() if key not in ("session_id", "message_id")}
    return result.code, value, result.err


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("served") / "files")


def said(folder: Path) -> dict[tuple[str, ...], Any]:
    return {command: without_ids(invoke(folder, *command, **NULL)) for command in SAME}


@pytest.fixture(scope="module")
def alone(files: Path) -> dict[tuple[str, ...], Any]:
    """What commands say without a server, on a copy of the folder: a question may bear on the next."""
    data = files.parent / "data"
    assert invoke(data, "ingest", str(files), **NULL).code == Exit.OK
    shutil.copytree(data, files.parent / "copy")
    return {**said(files.parent / "copy"), ("settings",): without_ids(invoke(data, "settings", **NULL))}


@pytest.fixture(scope="module")
def folder(files: Path, alone: object) -> Iterator[Path]:
    """A data folder that a server owns."""
    with serving(files.parent / "data", **NULL):
        yield files.parent / "data"


@pytest.fixture(scope="module")
def served(folder: Path) -> dict[tuple[str, ...], Any]:
    return said(folder)


@pytest.mark.parametrize("command", SAME, ids=" ".join)
def test_commands_say_the_same_with_a_server(
    alone: dict[tuple[str, ...], Any], served: dict[tuple[str, ...], Any], command: tuple[str, ...]
) -> None:
    assert served[command] == alone[command]


def test_doctor_names_the_server(folder: Path) -> None:
    report = invoke(folder, "doctor", "--json", **NULL)
    assert report.code == Exit.OK
    service = next(check for check in report.json["checks"] if check["name"] == "service")
    assert service["detail"] == serving_at(folder)


def test_documents_come_and_go_through_the_server(folder: Path, tmp_path: Path) -> None:
    more = write_files(tmp_path / "more", {"a.txt": "More words.", "b.txt": "Other words."})
    left_to_it = invoke(folder, "ingest", str(more), "-b", "More", "--no-wait", **NULL)
    assert left_to_it.code == Exit.OK
    assert "server goes on" in left_to_it.err
    waited = invoke(folder, "ingest", str(more), "-b", "More", "--json", **NULL).json
    assert (len(waited["unchanged"]), waited["failed"]) == (2, [])
    assert invoke(folder, "search", "More words", "-b", "More", "--json", **NULL).json["results"]
    deleted = invoke(folder, "documents", "delete", *waited["documents"], "--json", **NULL)
    assert (deleted.code, deleted.json["missing"]) == (Exit.OK, [])
    assert invoke(folder, "documents", "list", "-b", "More", "--json", **NULL).json == {"documents": []}


def test_a_backup_while_it_serves_and_no_restore(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.tar.gz"
    assert invoke(folder, "backup", str(target), "--json", **NULL).json["documents"] >= 3
    refused = invoke(folder, "restore", str(target), "--force", **NULL)
    assert (refused.code, refused.out) == (Exit.UNAVAILABLE, "")
    assert serving_at(folder) in refused.err
    assert invoke(tmp_path / "other", "restore", str(target), **NULL).code == Exit.OK
    question = ("search", "Датчик", "--json")
    assert invoke(tmp_path / "other", *question, **NULL).json == invoke(folder, *question, **NULL).json


def test_a_second_server_is_told_of_the_first(folder: Path) -> None:
    refused = invoke(folder, "serve", "--port", "0", **NULL)
    assert (refused.code, refused.out) == (Exit.UNAVAILABLE, "")
    assert serving_at(folder) in refused.err


def test_a_port_in_use_is_said_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = invoke(tmp_path / "data", "serve", "--port", str(port))
    assert (refused.code, refused.out) == (Exit.UNAVAILABLE, "")
    assert str(port) in refused.err
    assert "OPORA_PORT" in refused.err
    assert not (tmp_path / "data").exists(), "nothing was opened"


@pytest.mark.parametrize("key", [{}, {"OPORA_API_KEY": ""}])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_are_let_in_with_a_key_only(tmp_path: Path, host: str, key: dict[str, str]) -> None:
    for call in (("serve", "--host", host), ("serve",)):
        refused = invoke(tmp_path / "data", *call, OPORA_HOST=host, **key)
        assert (refused.code, refused.out) == (Exit.USAGE, "")
        assert "OPORA_API_KEY" in refused.err


def test_with_a_key_commands_need_it_and_reach_the_server_by_loopback(tmp_path: Path) -> None:
    with serving(tmp_path / "data", OPORA_HOST="0.0.0.0", OPORA_API_KEY="hush") as (_, address):
        assert address.startswith("http://127.0.0.1:")
        refused = invoke(tmp_path / "data", "documents", "list")
        assert (refused.code, refused.out) == (Exit.FAILED, "")
        assert "OPORA_API_KEY" in refused.err
        assert invoke(tmp_path / "data", "doctor", OPORA_API_KEY="wrong").code == Exit.FAILED
        assert invoke(tmp_path / "data", "documents", "list", OPORA_API_KEY="hush").code == Exit.OK


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("box.lan", "box.lan")],
)
def test_where_programs_of_this_machine_reach_the_server(host: str, shown: str) -> None:
    assert _reached_at(host) == shown


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, Exit.OK), (signal.SIGINT, Exit.INTERRUPTED)])
def test_a_signal_ends_the_server_cleanly(tmp_path: Path, number: signal.Signals, code: Exit) -> None:
    with contextlib.ExitStack() as stack:
        process, address = stack.enter_context(serving(tmp_path / "data"))
        # A connection that is kept open holds nothing up.
        stack.enter_context(socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))))
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (code, "", "")
    assert serving_at(tmp_path / "data") == ""
    FolderOwner.take(tmp_path / "data").release()
    assert not list((tmp_path / "data").glob("*-wal")), "the databases were closed"


async def test_a_second_signal_is_heard_as_another() -> None:
    stop = Stop()
    stop.hear(signal.SIGTERM)
    await stop.asked()
    assert not stop._again.is_set()
    stop.hear(signal.SIGINT)
    await stop.asked_again()
    assert stop.signal == signal.SIGTERM


def test_after_a_killed_server_commands_open_the_folder_themselves(tmp_path: Path) -> None:
    files = write_files(tmp_path / "files")
    with serving(tmp_path / "data") as (process, _):
        assert invoke(tmp_path / "data", "ingest", str(files)).code == Exit.OK
        process.send_signal(signal.SIGKILL)
        process.wait()
    result = invoke(tmp_path / "data", "search", "Датчик", "--mode", "fulltext")
    assert (result.code, result.err) == (Exit.OK, "")


@contextlib.contextmanager
def read_by(process: subprocess.Popen[str], pipe: Path) -> Iterator[None]:
    """Holds the writing end from the moment on when the process opens the pipe; fails if it ends before."""
    with ThreadPoolExecutor(2) as threads:
        opening, ending = threads.submit(pipe.open, "w"), threads.submit(process.wait)
        wait([opening, ending], return_when=FIRST_COMPLETED)
        if not opening.done():
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
            opening.result().close()
            raise AssertionError(process.communicate())
        with opening.result():
            yield


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, Exit.INTERRUPTED, "Interrupted."), (signal.SIGTERM, Exit.TERMINATED, "Terminated.")],
)
def test_an_ingest_that_is_broken_off_loses_nothing(
    tmp_path: Path, number: signal.Signals, code: Exit, said: str
) -> None:
    """The signal comes while the last file is being read: a pipe, so that the test knows when."""
    files = write_files(tmp_path / "files", {f"{n}.txt": f"Words of number {n}." for n in range(30)})
    os.mkfifo(tmp_path / "pipe")
    with spawn(tmp_path / "data", "ingest", str(files), str(tmp_path / "pipe")) as process:
        with read_by(process, tmp_path / "pipe"):
            os.killpg(process.pid, number)  # as a terminal does it: the whole group
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, "")
    assert err.startswith(f"opora: {said}\n")
    assert "Traceback" not in err
    again = invoke(tmp_path / "data", "ingest", str(files), "--json")
    assert (again.code, len(again.json["unchanged"])) == (Exit.OK, 30)
    # What stood in the pipe may have come in as an empty file before the signal was heard.
    listed = invoke(tmp_path / "data", "documents", "list", "--json").json["documents"]
    assert [d["parse_status"] for d in listed if d["source"].startswith(f"{files}/")] == ["completed"] * 30


def test_the_demonstration_loads_once_and_asks(tmp_path: Path) -> None:
    files = write_files(tmp_path / "files")
    for run in (1, 2):
        with spawn(tmp_path / "data", "serve", "--port", "0", "--demo", str(files)) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if line.startswith("Ask your own: http://127.0.0.1:"):
                    break
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (Exit.OK, "")
        assert "Opora is at" in err
        assert f"Question: {DEMO_QUESTION}" in lines
        assert any(line.startswith("> Расходы на проезд") for line in lines), lines
        assert any(line.startswith("Loading") for line in lines) == (run == 1)


def test_a_reader_that_leaves_is_no_failure(tmp_path: Path) -> None:
    """`opora settings | head -1`"""
    process = spawn(tmp_path / "data", "settings")
    assert process.stdout is not None
    process.stdout.close()
    with process:
        assert process.stderr is not None
        err = process.stderr.read()
    assert "Traceback" not in err


def test_json_on_a_terminal_without_unicode_is_still_json(tmp_path: Path) -> None:
    write_files(tmp_path / "files")
    with spawn(tmp_path / "data", "ingest", str(tmp_path / "files"), PYTHONIOENCODING="ascii", LC_ALL="C") as process:
        assert process.communicate(timeout=60)[0].startswith("3 added")
    command = spawn(tmp_path / "data", "search", "Датчик", "--json", PYTHONIOENCODING="ascii", LC_ALL="C")
    with command:
        out, err = command.communicate(timeout=60)
    assert command.returncode == Exit.OK, err
    assert "Датчик" in out
