"""Datasets are read in both spellings, and each fault names its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from opora.domain.errors import InvalidInput
from opora.evaluate.dataset import Passage, read_dataset, read_queries

from .conftest import Write


def test_our_own_set_is_whole(office: Path, kitchen: Path) -> None:
    data = read_dataset(office)
    assert (data.name, len(data.passages), len(data.queries)) == ("office", 12, 12)
    assert data.relevant["q01"] == {"o01": 1}
    assert data.passages[0].title == "Пропуск"
    assert len(read_queries(kitchen)) == 6


def test_names_and_header_of_beir(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "p1", "title": "", "text": "one", "metadata": {}}\n', "utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": 7, "text": "one?"}\r\n\n', "utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\r\n7\tp1\t2\r\n", "utf-8")
    data = read_dataset(tmp_path)
    assert data.passages == (Passage(passage_id="p1", text="one"),)
    assert (data.queries, data.relevant) == ({"7": "one?"}, {"7": {"p1": 2}})


def test_questions_without_an_answer_are_left_out_and_gains_of_nought_are_none(write: Write) -> None:
    data = read_dataset(write(qrels="q1\tp1\t1\nq1\tp2\t0\nq2\tp2\t0\n"))
    assert data.queries == {"q1": "one?"}
    assert data.relevant == {"q1": {"p1": 1}}


def test_line_separators_inside_json_end_no_line(write: Write) -> None:
    data = read_dataset(write(passages='\ufeff{"id": "p1", "text": "a\u2028b\u0085c"}\n{"id": "p2", "text": "d"}'))
    assert [passage.text for passage in data.passages] == ["a\u2028b\u0085c", "d"]


@pytest.mark.parametrize(
    ("files", "file", "line", "says"),
    [
        ({"passages": '{"id": "p1", "text": "a"}\nnot json\n'}, "passages.jsonl", 2, "not JSON"),
        ({"passages": "[1]\n"}, "passages.jsonl", 1, "not a JSON object"),
        ({"passages": '{"text": "a"}\n'}, "passages.jsonl", 1, "'id'"),
        ({"passages": '{"id": "a b", "text": "a"}\n'}, "passages.jsonl", 1, "'id'"),
        ({"passages": '{"id": true, "text": "a"}\n'}, "passages.jsonl", 1, "'id'"),
        ({"passages": '{"id": "p1"}\n'}, "passages.jsonl", 1, "'text'"),
        ({"passages": '{"id": "p1", "text": " "}\n'}, "passages.jsonl", 1, "empty"),
        ({"passages": '{"id": "p1", "text": "a", "title": 3}\n'}, "passages.jsonl", 1, "'title'"),
        ({"passages": '{"id": "p1", "text": "a"}\n\n{"id": "p1", "text": "b"}\n'}, "passages.jsonl", 3, "twice"),
        ({"passages": b'{"id": "p1", "text": "\xff"}\n'}, "passages.jsonl", 1, "UTF-8"),
        ({"passages": ""}, "passages.jsonl", 0, "no passage"),
        ({"passages": "[" * 100_000}, "passages.jsonl", 1, "not JSON"),
        ({"queries": ""}, "queries.jsonl", 0, "no question"),
        ({"queries": '{"id": "q1", "text": ""}\n'}, "queries.jsonl", 1, "empty"),
        ({"qrels": "q1\tp1\n"}, "qrels.tsv", 1, "separated by tabs"),
        ({"qrels": "q1\tp1\t1\nq9\tp1\t1\n"}, "qrels.tsv", 2, "no question 'q9'"),
        ({"qrels": "q1\tp9\t1\n"}, "qrels.tsv", 1, "no passage 'p9'"),
        ({"qrels": "q1\tp1\tyes\n"}, "qrels.tsv", 1, "'yes'"),
        ({"qrels": "q1\tp1\t0\n"}, "qrels.tsv", 0, "no passage that answers"),
    ],
)
def test_a_fault_names_its_file_and_line(
    write: Write, files: dict[str, object], file: str, line: int, says: str
) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        read_dataset(write(**files))
    assert Path(caught.value.details["file"]).name == Path(file).name
    assert caught.value.details["line"] == line
    assert file in caught.value.message
    assert (f", line {line}:" in caught.value.message) is (line > 0)


@pytest.mark.parametrize("missing", ["passages", "queries", "qrels"])
def test_a_missing_file_is_named(write: Write, missing: str) -> None:
    with pytest.raises(InvalidInput, match=missing):
        read_dataset(write(**{missing: None}))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    for read in (read_dataset, read_queries):
        with pytest.raises(InvalidInput, match="nowhere"):
            read(tmp_path / "nowhere")
