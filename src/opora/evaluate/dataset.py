"""Reads a retrieval dataset: passages and questions as JSON lines, and which passage answers which question.

Both the short names (``passages.jsonl`` with ``id``) and BEIR's own (``corpus.jsonl`` with ``_id``, ``qrels/test.tsv``
with a header) are read. Every fault names its file and line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opora.domain.errors import InvalidInput

PASSAGE_FILES = ("passages.jsonl", "corpus.jsonl")
QUERY_FILES = ("queries.jsonl",)
QREL_FILES = ("qrels.tsv", "qrels/test.tsv")
_IDS = ("id", "_id")
_HEADER = "query-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    passage_id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """``queries`` is text by id; ``relevant`` is gain (above 0) by passage id, by query id, never empty."""

    name: str
    passages: tuple[Passage, ...]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]


def read_dataset(folder: Path) -> Dataset:
    """Read and check the folder. Raises `InvalidInput` that names the file, and the line where one is at fault."""
    if not folder.is_dir():
        raise InvalidInput.of("dataset", f"There is no folder {folder}.")
    passages = _passages(_one_of(folder, PASSAGE_FILES))
    queries = read_queries(folder)
    path = _one_of(folder, QREL_FILES)
    relevant = _relevant(path, {passage.passage_id for passage in passages}, queries)
    if not relevant:
        raise _fault(path, 0, "it names no passage that answers a question")
    judged = {query_id: text for query_id, text in queries.items() if query_id in relevant}
    return Dataset(name=folder.resolve().name, passages=passages, queries=judged, relevant=relevant)


def read_queries(folder: Path) -> dict[str, str]:
    """The questions of a folder, text by id, judged or not."""
    if not folder.is_dir():
        raise InvalidInput.of("dataset", f"There is no folder {folder}.")
    path = _one_of(folder, QUERY_FILES)
    queries: dict[str, str] = {}
    for line, row in _rows(path):
        query_id = _id(path, line, row, queries)
        queries[query_id] = _text(path, line, row, "text")
        if not queries[query_id].strip():
            raise _fault(path, line, "the question is empty")
    if not queries:
        raise _fault(path, 0, "it holds no question")
    return queries


def _passages(path: Path) -> tuple[Passage, ...]:
    found: dict[str, Passage] = {}
    for line, row in _rows(path):
        passage_id = _id(path, line, row, found)
        title = _text(path, line, row, "title") if row.get("title") is not None else ""
        text = _text(path, line, row, "text")
        if not f"{title}{text}".strip():
            raise _fault(path, line, "the passage is empty")
        found[passage_id] = Passage(passage_id=passage_id, text=text, title=title)
    if not found:
        raise _fault(path, 0, "it holds no passage")
    return tuple(found.values())


def _relevant(path: Path, passage_ids: set[str], queries: Mapping[str, str]) -> dict[str, dict[str, int]]:
    relevant: dict[str, dict[str, int]] = {}
    for line, text in _lines(path):
        fields = text.split("\t")
        if line == 1 and fields[0] == _HEADER:
            continue
        if len(fields) != 3:
            raise _fault(path, line, "a line is a query id, a passage id and a gain, separated by tabs")
        query_id, passage_id, gain = fields
        if query_id not in queries:
            raise _fault(path, line, f"there is no question '{query_id}'")
        if passage_id not in passage_ids:
            raise _fault(path, line, f"there is no passage '{passage_id}'")
        try:
            value = int(gain)
        except ValueError as error:
            raise _fault(path, line, f"'{gain}' is no whole number") from error
        if value > 0:
            relevant.setdefault(query_id, {})[passage_id] = value
    return relevant


def _one_of(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput.of("dataset", f"{folder} has no file {' or '.join(names)}.")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, numbered from 1. Only line feeds end a line: JSON may hold other separators."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _fault(path, 0, f"it can't be read: {error.strerror}") from error
    for line, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise _fault(path, line, "the line is not UTF-8") from error
        if text.strip():
            yield line, text


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, text in _lines(path):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _fault(path, line, "the line is not JSON") from error
        if not isinstance(row, dict):
            raise _fault(path, line, "the line is not a JSON object")
        yield line, row


def _id(path: Path, line: int, row: Mapping[str, Any], known: Mapping[str, object]) -> str:
    value = next((row[name] for name in _IDS if name in row), None)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or value.split() != [value]:
        raise _fault(path, line, "'id' must be a text without blanks")
    if value in known:
        raise _fault(path, line, f"the id '{value}' stands there twice")
    return value


def _text(path: Path, line: int, row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise _fault(path, line, f"'{name}' must be a text")
    return value


def _fault(path: Path, line: int, what: str) -> InvalidInput:
    place = f"{path}, line {line}" if line else str(path)
    return InvalidInput(f"{place}: {what}.", details={"field": "dataset", "file": str(path), "line": line})
