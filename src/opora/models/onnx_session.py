"""How onnxruntime is opened for a server that shares its processor with other work."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def open_session(network: Path, *, threads: int) -> Any:
    """A session that leaves the processor alone while it waits, and gives memory back after each run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
