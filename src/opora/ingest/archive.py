"""Reads zip archives under limits on the bytes really produced, whatever sizes they declare."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.limits import ParseLimits

_STEP = 256 * 1024
_CENTRAL_MARK = b"PK\x01\x02"
_LOCAL_MARK = b"PK\x03\x04"
_LOCAL_SIZE = 30
_ENCRYPTED_FLAG = 0x1
_MASKED_FLAG = 0x2000


class CappedArchive:
    """The parts of a zip archive, by name, inflated in steps under one budget for the whole archive.

    Nothing is ever written to disk, so a part's name is only a key. Each reading counts against the budget.
    Raises `ParseFailed`: ``archive_limit``, ``encrypted`` or ``damaged_file``.
    """

    def __init__(self, data: bytes, limits: ParseLimits) -> None:
        self._data = memoryview(data)
        self._limits = limits
        self._produced = 0
        if data.count(_CENTRAL_MARK) > limits.entries:
            raise _over_limit(f"The archive has more than {limits.entries} parts.")
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as listing:
                infos = listing.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError) as error:
            raise _damaged() from error
        self._parts = {info.filename: info for info in infos}
        if any(info.flag_bits & (_ENCRYPTED_FLAG | _MASKED_FLAG) for info in infos):
            raise encrypted("The archive")

    @property
    def names(self) -> list[str]:
        return list(self._parts)

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def read(self, name: str, *, at_most: int | None = None) -> bytes:
        """The whole part; ``at_most`` is a limit of its own for parts that should be small."""
        pieces: list[bytes] = []
        size = 0
        for piece in self._inflate(self._parts[name]):
            size += len(piece)
            if at_most is not None and size > at_most:
                raise _over_limit("A part of the archive unpacks to far more than such a part should hold.")
            pieces.append(piece)
        return b"".join(pieces)

    def check(self) -> None:
        """Inflate every part, keeping nothing, so that an archive over the limits is refused as a whole."""
        before = self._produced
        for info in self._parts.values():
            for _ in self._inflate(info):
                pass
        self._produced = before

    def repack(self, wanted: Callable[[str], bool]) -> io.BytesIO:
        """A fresh archive of the wanted parts only, true to its declared sizes, for a library to read."""
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            for name in self._parts:
                if not wanted(name):
                    continue
                with packed.open(zipfile.ZipInfo(name), "w", force_zip64=False) as part:
                    for piece in self._inflate(self._parts[name]):
                        part.write(piece)
        target.seek(0)
        return target

    def _inflate(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        packed = self._packed_bytes(info)
        produced = 0
        for piece in _pieces(packed, info.compress_type):
            produced += len(piece)
            self._produced += len(piece)
            if self._produced > self._limits.produced_bytes:
                raise _over_limit(f"The archive unpacks to more than {self._limits.produced_bytes >> 20} MiB.")
            if produced > self._limits.ratio_floor and produced > self._limits.ratio * max(1, len(packed)):
                raise _over_limit("A part of the archive unpacks to a suspicious multiple of its size.")
            yield piece

    def _packed_bytes(self, info: zipfile.ZipInfo) -> memoryview:
        start = info.header_offset
        header = bytes(self._data[start : start + _LOCAL_SIZE])
        if len(header) < _LOCAL_SIZE or not header.startswith(_LOCAL_MARK):
            raise _damaged()
        begin = start + _LOCAL_SIZE + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        end = begin + info.compress_size
        if begin > len(self._data) or end > len(self._data):
            raise _damaged()
        return self._data[begin:end]


def _pieces(packed: memoryview, method: int) -> Iterator[bytes]:
    if method == zipfile.ZIP_STORED:
        for offset in range(0, len(packed), _STEP):
            yield bytes(packed[offset : offset + _STEP])
        return
    if method != zipfile.ZIP_DEFLATED:
        raise ParseFailed(
            ParseReason.UNSUPPORTED,
            "The archive is packed by a method that is not supported.",
            hint="Save the document again from the program that made it.",
        )
    engine = zlib.decompressobj(-zlib.MAX_WBITS)
    waiting: bytes | memoryview = packed
    try:
        while not engine.eof:
            piece = engine.decompress(waiting, _STEP)
            waiting = engine.unconsumed_tail
            if not piece and not waiting:
                break
            yield piece
    except zlib.error as error:
        raise _damaged() from error
    if not engine.eof:
        raise _damaged()


def encrypted(what: str) -> ParseFailed:
    return ParseFailed(
        ParseReason.ENCRYPTED,
        f"{what} is protected by a password.",
        hint="Remove the password and upload the file again.",
    )


def _over_limit(message: str) -> ParseFailed:
    return ParseFailed(
        ParseReason.ARCHIVE_LIMIT,
        message,
        hint="If the document is honest, save it again without large embedded data, or split it into smaller ones.",
    )


def _damaged() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        "The file is damaged: its parts cannot be unpacked.",
        hint="Open it in the program that made it, save it again and upload the new file.",
    )
