"""What a figure depends on: the machine, named without its host, its user or its folders."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil


def facts() -> dict[str, str]:
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 1024**3:.0f} GiB",
        "python": platform.python_version(),
        "system": f"{_system()}, {platform.machine()}",
    }


def load() -> float:
    """Processes that wanted a processor, on average over the last minute."""
    return round(os.getloadavg()[0], 2)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _system() -> str:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return f"{platform.system()} {platform.release()}"
    return release.get("PRETTY_NAME", platform.system())
