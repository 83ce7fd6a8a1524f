"""Every citation of an answer is checked before the answer ends, against the document itself."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from opora.chat.replay import stored_events
from opora.domain.conversation import Support
from opora.domain.errors import Unavailable
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.stream import ResponseType as R
from opora.models.scripted import ScriptedChat

SAMPLES = Path(__file__).parents[2] / "samples" / "documents"
QUESTION = "Когда возмещают расходы на проезд?"
PLAIN = {"enable_rewrite": False}
SAYS = "Расходы на проезд возмещают по документам после возвращения."


def checked(events) -> list[dict]:
    (event,) = [e for e in events if e.response_type is R.CITATIONS_CHECKED]
    return event.data["citations"]


async def test_quotes_are_all_supported_and_found_in_the_text_of_the_document(talk) -> None:
    person = await talk()
    events = await person.answer(QUESTION)
    kinds = [e.response_type for e in events]
    assert kinds[-2:] == [R.CITATIONS_CHECKED, R.COMPLETE]
    found = checked(events)
    assert found
    assert {one["support"] for one in found} == {"supported"}
    for one in found:
        text = await person.app.documents.text(person.scope, one["knowledge_id"])
        place = one["document_place"]
        assert text[place["start"] : place["end"]].strip() == one["statement"].strip()
        assert one["document_version"] == 1


@pytest.mark.parametrize(
    ("said", "support"),
    [
        (SAYS, "supported"),
        ("После возвращения проезд возмещают по документам.", "supported"),
        ("Ежегодный отпуск длится тридцать дней.", "partly"),
        ("Премию платят в мае.", "not_found"),
    ],
)
async def test_a_written_statement_gets_its_class(talk, said: str, support: str) -> None:
    person = await talk(ScriptedChat([f'{said}<ref id="c1"/>']))
    (one,) = checked(await person.answer(QUESTION, overrides=PLAIN))
    assert (one["support"], one["statement"]) == (support, said)
    assert (one["document_place"] is None) is (support == "not_found")
    assert (one["quote"] is not None) is (said == SAYS)


async def test_the_stored_answer_and_its_replay_say_the_same(talk) -> None:
    person = await talk(ScriptedChat([f'{SAYS}<ref id="c1"/> Премию платят в мае.<ref id="c1"/>']))
    live = checked(await person.answer(QUESTION, overrides=PLAIN))
    stored = await person.message()
    assert [one.support for one in stored.citations] == [Support.SUPPORTED, Support.NOT_FOUND]
    assert checked(stored_events(stored)) == live


async def test_an_answer_without_citations_is_not_checked(talk) -> None:
    person = await talk(ScriptedChat(["Просто ответ."]))
    events = await person.answer(QUESTION, overrides=PLAIN)
    assert R.CITATIONS_CHECKED not in [e.response_type for e in events]


async def test_what_can_not_be_read_costs_the_place_and_no_answer(talk, monkeypatch, caplog) -> None:
    person = await talk(ScriptedChat([f'{SAYS}<ref id="c1"/>']))

    async def lost(*args, **kwargs):
        raise Unavailable("the disk is gone")

    monkeypatch.setattr(person.app.chat._answering._checker._blobs, "get", lost)
    with caplog.at_level(logging.WARNING):
        (one,) = checked(await person.answer(QUESTION, overrides=PLAIN))
    assert (one["support"], one["document_place"], one["document_version"]) == ("supported", None, 0)
    assert "the disk is gone" in caplog.text


async def test_a_failing_check_leaves_the_answer_whole(talk, monkeypatch) -> None:
    person = await talk(ScriptedChat([f'{SAYS}<ref id="c1"/>']))

    async def broken(*args, **kwargs):
        raise RuntimeError("bug")

    monkeypatch.setattr(person.app.chat._answering._checker, "check", broken)
    events = await person.answer(QUESTION, overrides=PLAIN)
    assert events[-1].data == {"finish": "complete"}
    assert (await person.message()).citations == ()


async def test_the_text_of_a_failed_answer_is_checked_too(talk) -> None:
    person = await talk(ScriptedChat([f'{SAYS}<ref id="c1"/>', RuntimeError("cut")]))
    events = await person.answer(QUESTION, overrides=PLAIN)
    assert [e.response_type for e in events[-3:]] == [R.ERROR, R.CITATIONS_CHECKED, R.COMPLETE]


async def test_in_a_pdf_the_lines_of_the_page_are_told(talk) -> None:
    person = await talk(with_document=False)
    app = person.app
    base = await app.bases.create(person.scope, name="PDF")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    data = (SAMPLES / "Положение о командировках.pdf").read_bytes()
    document = await app.documents.add_file(scope, base.base_id, file_name="a.pdf", data=data)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    asked = await app.chat.ask(scope, person.session_id, "Когда возмещают расходы на проезд?")
    followed = app.chat.follow(scope, person.session_id, asked.assistant_message_id)
    found = checked([event async for _, event in followed])
    assert found
    text = await app.documents.text(scope, document.document_id)
    for one in found:
        place = one["document_place"]
        assert one["support"] == "supported"
        assert " ".join(text[place["start"] : place["end"]].split()) == " ".join(one["statement"].split())
        assert place["boxes"]
        assert {box["page"] for box in place["boxes"]} <= {place["page"], place["page_end"]}
