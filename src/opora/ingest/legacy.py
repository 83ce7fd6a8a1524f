"""Turns texts and slides of old Office versions into their new forms with LibreOffice, where it is installed.

The program runs in a folder and with a profile of its own, without macros, and with a proxy that leads nowhere: what a
document names on the network is never fetched. Its result is then read by the guarded child, like any upload.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.detect import legacy_kind
from opora.ingest.limits import ParseLimits
from opora.ingest.process import crashed, memory_limit, time_limit

PROGRAM = "soffice"
NEW_FORMS = {"doc": "docx", "ppt": "pptx"}
_FILTERS = {"doc": "MS Word 97", "ppt": "MS PowerPoint 97"}
"""Named to the program, which takes a broken file for plain text otherwise."""
WATCH_SECONDS = 0.1
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
{items}
</oor:items>
"""
_ITEM = (
    '<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
_SETTINGS = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Inet/Settings", "ooInetProxyType", "1"),
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("Inet/Settings", "ooInetNoProxy", ""),
)


class Conversion:
    """One run of the program. Used by one thread; `kill` may come from any."""

    def __init__(self, folder: Path, limits: ParseLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    def run(self, source: str, kind: str) -> Path:
        """The document in its new form; raises `ParseFailed` for one that the program can't read within the limits."""
        old = self._folder / f"document.{kind}"
        shutil.copyfile(source, old)
        out = self._folder / "out"
        command = [
            *_bounded(self._limits.seconds),
            PROGRAM,
            f"-env:UserInstallation={_profile(self._folder).as_uri()}",
            *("--headless", "--norestore", f"--infilter={_FILTERS[kind]}", "--convert-to", NEW_FORMS[kind]),
            *("--outdir", str(out), str(old)),
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self._folder), "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            self._watch(self._process)
        finally:
            self._stop()
        new = out / f"document.{NEW_FORMS[kind]}"
        if self._cancelled:
            raise crashed("The reading was stopped.")
        if not new.exists():
            raise _unreadable(kind)
        return new

    def kill(self) -> None:
        """Stop the program at once, with all that it started; from any thread."""
        self._cancelled = True
        self._stop()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._limits.seconds
        while not self._cancelled:
            try:
                process.wait(WATCH_SECONDS)
                return
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise time_limit(self._limits) from None
                if _resident_bytes(process.pid) > self._limits.memory_bytes:
                    raise memory_limit(self._limits) from None

    def _stop(self) -> None:
        """The program starts others of its own: all of its group end."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()


@contextmanager
def readable(path: str, limits: ParseLimits, watch: Callable[[Conversion], None]) -> Iterator[tuple[str, str]]:
    """A path that a parser can read, and the old kind where the file had to be turned into its new form, else ''.

    ``watch`` is given each conversion before it runs, so that somebody else can kill it.
    """
    kind = _old_kind(path, limits) if limits.libreoffice and is_installed() else ""
    if not kind:
        yield path, ""
        return
    with tempfile.TemporaryDirectory(prefix="opora-office-", ignore_cleanup_errors=True) as folder:
        conversion = Conversion(Path(folder), limits)
        watch(conversion)
        yield str(conversion.run(path, kind)), kind


def is_installed() -> bool:
    return shutil.which(PROGRAM) is not None


def _old_kind(path: str, limits: ParseLimits) -> str:
    """'' for anything else, and for what the child refuses or fails to open in its own words."""
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > limits.upload_bytes:
            return ""
        return legacy_kind(file.read_bytes())
    except OSError:
        return ""


def _profile(folder: Path) -> Path:
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    items = "\n".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _SETTINGS)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE.format(items=items), encoding="utf-8")
    return profile


def _bounded(seconds: float) -> list[str]:
    """So that the program ends even where this process is killed meanwhile."""
    return ["timeout", "--signal=KILL", f"{seconds + 5:g}"] if shutil.which("timeout") else []


def _resident_bytes(pid: int) -> int:
    """Of the process and all that it started."""
    try:
        first = psutil.Process(pid)
        return sum(int(one.memory_info().rss) for one in [first, *first.children(recursive=True)])
    except psutil.Error:
        return 0


def _unreadable(kind: str) -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        f"LibreOffice can't read this {kind.upper()} file.",
        hint=f"Open it in the program that made it, save it as {NEW_FORMS[kind].upper()} and upload the new file.",
    )
