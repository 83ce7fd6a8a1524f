"""Ties the child process to its limits and to the life of its parent."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
import sys

from opora.ingest.limits import ParseLimits

WRITTEN_BYTES = 64 * 1024
"""The most that the child may write into any file: reading documents needs no files."""
_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """On Linux the kernel kills this process when its parent ends; elsewhere the end of its input ends it."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(0)


def limit_memory(limits: ParseLimits) -> None:
    """Cap the address space, so that an allocation beyond it fails inside this process."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, WRITTEN_BYTES)
    if sys.platform == "linux":
        _lower(resource.RLIMIT_AS, limits.memory_bytes)


def limit_time(seconds: float) -> None:
    """Cap the processor time from now on; the kernel ends this process beyond it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _lower(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most))
