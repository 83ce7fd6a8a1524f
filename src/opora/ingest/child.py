"""The child process that reads files: takes requests on its input and answers in frames on its output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from opora.domain.errors import InvalidInput, ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest import guard, wire
from opora.ingest.limits import ParseLimits

Answer = Iterator[bytes]


def main() -> None:
    """Serve until the input ends. The first argument holds the limits and the parent's process id, as JSON."""
    setting = json.loads(sys.argv[1])
    limits = ParseLimits(**setting["limits"])
    guard.die_with_parent(setting["parent"])
    guard.limit_memory(limits)
    requests, answers = sys.stdin.buffer, _own_output()
    _send(answers, wire.frame({"ready": True}))
    while header := requests.read(wire.HEADER.size):
        _, length = wire.HEADER.unpack(header)
        _serve(json.loads(requests.read(length)), limits, answers)


def _own_output() -> BinaryIO:
    """The pipe to the parent under a number of its own: whatever a library prints goes nowhere near the frames."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _serve(request: dict[str, Any], limits: ParseLimits, answers: BinaryIO) -> None:
    guard.limit_time(limits.seconds)
    operation: Callable[[dict[str, Any], ParseLimits], Answer] = _OPERATIONS[request["op"]]
    try:
        for piece in operation(request, limits):
            _send(answers, piece)
    except BrokenPipeError:
        raise SystemExit(0) from None
    except ParseFailed as failure:
        _send(answers, _failure(failure))
    except InvalidInput as error:
        told = {"invalid": error.details.get("field", ""), "message": error.message, "hint": error.hint}
        _send(answers, wire.frame(told))
    except MemoryError:
        _send(answers, _failure(memory_limit(limits)))
    except Exception as error:
        _send(answers, _failure(_unreadable(error)))


def _parse(request: dict[str, Any], limits: ParseLimits) -> Answer:
    from opora.ingest.read import read_document, too_large

    path = Path(request["path"])
    if path.stat().st_size > limits.upload_bytes:
        raise too_large(limits)
    parsed = read_document(path.read_bytes(), request["file_name"], limits)
    yield from wire.document_frames(parsed)


def _rows(request: dict[str, Any], limits: ParseLimits) -> Answer:
    from opora.ingest.faq_file import read_file

    rows = read_file(Path(request["path"]).read_bytes(), request["file_name"], limits)
    yield from wire.row_frames(rows)


def _render(request: dict[str, Any], limits: ParseLimits) -> Answer:
    from opora.ingest.parse.pdf_picture import render_page

    data = Path(request["path"]).read_bytes()
    yield wire.bytes_frame(render_page(data, request["page"], request["scale"], limits))


def _failure(failure: ParseFailed) -> bytes:
    return wire.frame({"failed": failure.reason, "message": failure.message, "hint": failure.hint})


def memory_limit(limits: ParseLimits) -> ParseFailed:
    return ParseFailed(
        ParseReason.MEMORY_LIMIT,
        f"Reading the document needs more than {limits.memory_bytes >> 20} MiB of memory.",
        hint="Split it into smaller documents, or raise the memory limit in the settings.",
    )


def _unreadable(error: Exception) -> ParseFailed:
    if isinstance(error, OSError):
        message, hint = f"The file cannot be opened: {error.strerror or 'it is gone'}.", "Upload it again."
    else:
        message = f"The file is damaged: its structure cannot be read ({type(error).__name__})."
        hint = "Open it in the program that made it, save it again and upload the new file."
    return ParseFailed(ParseReason.DAMAGED, message, hint=hint)


def _send(answers: BinaryIO, data: bytes) -> None:
    answers.write(data)
    answers.flush()


_OPERATIONS: dict[str, Callable[[dict[str, Any], ParseLimits], Answer]] = {
    "parse": _parse,
    "render": _render,
    "rows": _rows,
}

if __name__ == "__main__":
    main()
