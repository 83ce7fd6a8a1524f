"""Results and sources as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest

from opora.cli.explain import REASONS, show_candidates, show_settings
from opora.cli.show import SNIPPET_CHARS, place_of, show_answer, show_sources, snippet
from opora.domain.trace import Drop

TAG = '<kb doc="Rates" chunk_id="{}" kb_id="k" knowledge_id="d"/>'


@pytest.mark.parametrize(
    ("place", "rows", "shown"),
    [
        ({}, [], "f.pdf"),
        ({"page": 3}, [], "f.pdf, p. 3"),
        ({"page": 3, "page_end": 4}, [], "f.pdf, p. 3-4"),
        ({"page": 3, "page_end": 3, "heading_path": ["A", "B"]}, [], "f.pdf, p. 3, A > B"),
        ({"sheet": "S", "row": 2, "row_end": 2}, [], "f.pdf, S, row 2"),
        ({"sheet": "S", "row": 2, "row_end": 9}, [], "f.pdf, S, rows 2-9"),
        ({"sheet": "S", "row": 2, "row_end": 9}, [5], "f.pdf, S, row 5"),
        ({"sheet": "S", "row": 2, "row_end": 9}, [5, 7], "f.pdf, S, rows 5, 7"),
    ],
)
def test_the_place_of_a_passage(place: dict[str, Any], rows: list[int], shown: str) -> None:
    result = {"knowledge_filename": "f.pdf", "knowledge_title": "T", "place": place}
    assert place_of(result, rows=rows) == shown


def test_a_passage_without_a_file_is_named_by_its_title() -> None:
    assert place_of({"knowledge_filename": "", "knowledge_title": "T"}) == "T"


def test_a_snippet_is_one_line() -> None:
    assert snippet("a\n\n b\tc") == "a b c"
    assert snippet("x" * 1000) == "x" * SNIPPET_CHARS + "…"


def answer_with(text: str, finish: str = "complete", **more: Any) -> dict[str, Any]:
    result = {
        "id": "c1",
        "sub_chunk_id": ["c2"],
        "knowledge_filename": "rates.xlsx",
        "place": {"row": 2, "row_end": 9},
    }
    return {"answer": text, "references": [result], "finish": finish, **more}


def test_quotes_are_labelled_as_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(answer_with(f"> One {TAG.format('c1')}"), extractive=True)
    out = capsys.readouterr().out
    assert out.startswith("Quotes from the documents")
    assert "> One [1]" in out
    show_answer(answer_with("One"), extractive=False)
    assert "Quotes" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("finish", "more", "said"),
    [
        ("complete", {}, ""),
        ("nothing_found", {}, ""),
        ("truncated", {}, "cut"),
        ("stopped", {}, "stopped"),
        ("error", {"error": "The model is down."}, "The model is down."),
    ],
)
def test_a_bad_end_is_said_beside_the_answer(
    capsys: pytest.CaptureFixture[str], finish: str, more: dict[str, str], said: str
) -> None:
    show_answer(answer_with("Half an answ", finish, **more), extractive=False)
    captured = capsys.readouterr()
    assert captured.out == "Half an answ\n"
    assert said in captured.err
    assert bool(captured.err) == bool(said)


def quoted(number: int, line: int | None) -> dict[str, Any]:
    content = "\n".join(f"row {n}" for n in range(2, 10))
    quote = None if line is None else {"start": line * 6, "end": line * 6 + 5, "exact": True}
    return {"number": number, "content": content, "place": {"row": 2, "row_end": 9}, "quote": quote}


@pytest.mark.parametrize(
    ("citations", "shown"),
    [
        ([], "[1] rates.xlsx, rows 2-9"),
        ([quoted(1, 3)], "[1] rates.xlsx, row 5"),
        ([quoted(1, 3), quoted(1, 0)], "[1] rates.xlsx, rows 2, 5"),
        ([quoted(1, 3), quoted(1, None)], "[1] rates.xlsx, rows 2-9"),
    ],
    ids=["not told", "one row", "two rows", "one quote can't be told"],
)
@pytest.mark.parametrize("chunk_id", ["c1", "c2"], ids=["the passage", "a part of it"])
def test_a_source_names_the_rows_of_its_quotes(
    capsys: pytest.CaptureFixture[str], citations: list[dict[str, Any]], shown: str, chunk_id: str
) -> None:
    show_sources(answer_with(f"> a {TAG.format(chunk_id)}"), citations)
    assert capsys.readouterr().out == f"\n{shown}\n"


def test_a_source_that_is_not_among_the_references_is_named_by_its_tag(capsys: pytest.CaptureFixture[str]) -> None:
    show_sources(answer_with(f'a {TAG.format("c9")} b <web url="https://e.org" title="T"/>'))
    assert capsys.readouterr().out == "\n[1] Rates\n[2] T https://e.org\n"


def test_every_reason_has_its_words() -> None:
    documented = {word for word in REASONS if f"``{word}``" in (Drop.__doc__ or "")}
    assert documented == set(REASONS)
    assert (Drop.__doc__ or "").count("``") // 2 - 2 == len(REASONS), "``reason`` and ``detail`` are the other two"


def mark(stage: str, rank: int, score: float) -> dict[str, Any]:
    return {"stage": stage, "rank": rank, "score": score, "kind": "rrf"}


def test_candidates_show_rank_and_score_at_each_stage_and_why_they_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    best = {"chunk_id": "a" * 32, "title": "Положение", "chunk_index": 4, "reason": "", "dropped_at": ""}
    second = {"chunk_id": "b" * 32, "title": "手册", "chunk_index": 1, "dropped_at": "merged", "reason": "merged"}
    unseen = {"chunk_id": "c" * 32, "title": "", "chunk_index": 0, "dropped_at": "found", "reason": "unheard_of"}
    show_candidates(
        [
            {**best, "marks": [mark("vector", 2, 0.8765), mark("found", 1, 1.0), mark("merged", 1, 1.0)]},
            {**second, "marks": [mark("found", 2, 0.5)], "detail": f"into {'a' * 32}"},
            {**unseen, "marks": [], "detail": "rank 51"},
        ]
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["vector", "found", "merged"]
    assert lines[3].split() == ["Положение", "#4", "2:", "0.876", "1:", "1.000", "1:", "1.000"]
    assert lines[4].split() == ["手册", "#1", "-", "2:", "0.500", "-"]
    assert lines[5].strip() == "dropped at merged: it is part of a passage above (merged, into Положение #4)"
    assert lines[6].split() == ["c" * 32, "-", "-", "-"]
    assert lines[7].strip() == "dropped at found: unheard_of (rank 51)"


def test_settings_show_where_each_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    show_settings({"rerank_top_k": {"value": 5, "origin": "environment"}})
    assert capsys.readouterr().out.split() == ["Settings", "in", "force", "rerank_top_k", "5", "environment"]
