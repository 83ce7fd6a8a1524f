"""References of the last answer."""

from __future__ import annotations

import pytest

from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType
from opora.merge import history
from opora.merge.merge import merge

QUERY = "когда компенсируют проезд сотруднику"


async def test_references_that_cover_the_question_come_back_at_a_lower_score(read, result_of, chunk_of) -> None:
    read.add(chunk_of("h", "проезд сотруднику компенсируют после возвращения " + "и так далее " * 60))
    old = [result_of("h", "старый текст", 0.9)]
    stage = await merge([], [], query=QUERY, read=read, history_references=old)
    (one,) = stage.results
    assert (one.score, one.match_type) == (0.9 * 0.6, MatchType.HISTORY)
    assert one.content.startswith("проезд сотруднику")


async def test_what_does_not_cover_it_stays_out(read, result_of, chunk_of) -> None:
    read.add(
        chunk_of("h", "отпуск дают по графику " * 20),
        chunk_of("i", "проезд " + " ".join(f"прочее{n}" for n in range(40))),
    )
    old = [result_of("h"), result_of("i")]
    assert (await merge([], [], query=QUERY, read=read, history_references=old)).results == ()


async def test_at_most_three_and_none_that_is_there_already(read, result_of, chunk_of) -> None:
    text = "проезд сотруднику компенсируют {} " + "слово " * 80
    read.add(*(chunk_of(f"h{n}", text.format(n), document_id=f"d{n}") for n in range(6)))
    old = [result_of(f"h{n}", score=0.9 - n / 100, document_id=f"d{n}") for n in range(6)]
    current = [result_of("h0", text.format(0), 0.9, document_id="d0")]
    stage = await merge(current, [], query=QUERY, read=read, history_references=old)
    assert [(r.chunk_id, r.match_type) for r in stage.results] == [
        ("h0", MatchType.VECTOR),
        ("h1", MatchType.HISTORY),
        ("h2", MatchType.HISTORY),
        ("h3", MatchType.HISTORY),
    ]


async def test_a_deleted_reference_does_not_return(read, result_of) -> None:
    stage = await merge([], [], query=QUERY, read=read, history_references=[result_of("h", QUERY)])
    assert stage.results == ()
    assert [(d.chunk_id, d.reason) for d in stage.drops] == [("h", "not_in_database")]


@pytest.mark.parametrize(("query", "asked"), [(QUERY, ""), ("проезд сотруднику: когда платят", QUERY)])
async def test_an_entry_of_the_last_answer_stays_silent_where_it_must(
    read, result_of, chunk_of, query: str, asked: str
) -> None:
    entry = {"standard_question": "Когда компенсируют проезд?", "negative_questions": [QUERY.upper()]}
    read.add(
        chunk_of("q1", "проезд сотруднику", chunk_type=ChunkType.FAQ, metadata=entry),
        chunk_of(
            "q2", "проезд сотруднику платят", chunk_type=ChunkType.FAQ, metadata=entry | {"negative_questions": 7}
        ),
        chunk_of(
            "q3", "проезд сотруднику когда", chunk_type=ChunkType.FAQ, metadata=entry | {"negative_questions": []}
        ),
    )
    old = [result_of(chunk_id, chunk_type=ChunkType.FAQ) for chunk_id in ("q1", "q2", "q3")]
    stage = await merge([], [], query=query, asked=asked, read=read, history_references=old)
    assert [r.chunk_id for r in stage.results] == ["q3"]
    assert {(d.chunk_id, d.reason) for d in stage.drops} == {("q1", "negative_question"), ("q2", "negative_question")}


async def test_a_web_page_of_the_last_answer_needs_no_database(read, result_of) -> None:
    page = result_of("https://x", QUERY, match_type=MatchType.WEB)
    assert len((await merge([], [], query=QUERY, read=read, history_references=[page])).results) == 1


def test_the_described_numbers() -> None:
    assert (history.HISTORY_OVERLAP, history.HISTORY_FACTOR, history.MAX_HISTORY_REFERENCES) == (0.3, 0.6, 3)
