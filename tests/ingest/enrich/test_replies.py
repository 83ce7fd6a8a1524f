"""What is believed of a model's reply when a document is enriched."""

import pytest

from opora.ingest.enrich.replies import MAX_QUESTION_CHARS, read_questions, read_text


@pytest.mark.parametrize(
    "reply",
    [
        "Когда возмещают проезд?\nКто платит за гостиницу?",
        "1. Когда возмещают проезд?\n2) Кто платит за гостиницу?",
        "- Когда возмещают проезд?\n• Кто платит за гостиницу?",
        "Вот вопросы:\n\nКогда возмещают проезд?\n\n«Кто платит за гостиницу?»\nНадеюсь, это поможет!",
        "<think>Может быть, так: Что это?</think>\n```text\nКогда возмещают проезд?\nКто платит за гостиницу?\n```",
        "Когда возмещают проезд?\nКОГДА  возмещают проезд?\nКто платит за гостиницу?",
    ],
)
def test_questions_are_lines_that_ask_each_once(reply: str) -> None:
    assert read_questions(reply, count=3) == ("Когда возмещают проезд?", "Кто платит за гостиницу?")


def test_at_most_as_many_questions_as_were_wanted_and_none_too_long() -> None:
    lines = [f"Что значит пункт {n}?" for n in range(10)]
    assert read_questions("\n".join(lines), count=3) == tuple(lines[:3])
    assert read_questions("а" * MAX_QUESTION_CHARS + "?", count=3) == ()
    assert read_questions("出差时怎么报销交通费？", count=3) == ("出差时怎么报销交通费？",)


def test_a_reply_that_never_ends_its_thinking_gives_nothing() -> None:
    assert read_questions("<think>Что спросить? Когда?", count=3) == ()
    assert read_text("<think>О чём это.") == ""


def test_a_summary_loses_its_label_and_ends_with_a_sentence() -> None:
    assert read_text("Резюме: О командировках.") == "О командировках."
    long = "Первое предложение. Второе предложение тоже длинное. Третье."
    assert read_text(long, limit=50) == "Первое предложение."
    assert read_text("слово " * 50, limit=20) == "слово слово слово с…"
