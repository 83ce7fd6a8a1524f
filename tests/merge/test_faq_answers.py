"""FAQ hits as question and answers."""

from __future__ import annotations

from opora.domain.faq import FaqEntry
from opora.domain.knowledge import ChunkType
from opora.merge.faq_answers import answer_text
from opora.merge.merge import merge

METADATA = {"standard_question": "Как вернуть?", "answers": ["Заполните форму.", "Позвоните."]}


async def test_the_entry_of_today_is_shown(read, result_of, chunk_of) -> None:
    read.add(chunk_of("f", "сдать обратно", chunk_type=ChunkType.FAQ, metadata=METADATA))
    hit = result_of("f", "сдать обратно", chunk_type=ChunkType.FAQ, metadata={"standard_question": "старое"})
    (one,) = (await merge([hit], [], query="q", read=read)).results
    assert one.content == "Q: Как вернуть?\nAnswer:\n- Заполните форму.\n- Позвоните."


def test_a_random_answer_is_the_same_for_the_same_question() -> None:
    entry = FaqEntry(standard_question="Q", answers=tuple("abcdef"), answer_strategy="random")
    texts = {answer_text(entry, question="", seed=f"f\n{n}") for n in range(60)}
    assert 1 < len(texts) <= 6
    assert {answer_text(entry, question="", seed="f\n1") for _ in range(5)} == {
        answer_text(entry, question="", seed="f\n1")
    }
    assert answer_text(FaqEntry(answers=("a",)), question="спросили так", seed="") == "Q: спросили так\nAnswer: a"


async def test_an_entry_without_answers_stays_as_it_is(read, result_of) -> None:
    hit = result_of("f", "вопрос", chunk_type=ChunkType.FAQ)
    assert (await merge([hit], [], query="q", read=read)).results[0].content == "вопрос"
