"""What a model says of a passage is believed as far as the passage says it too."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.domain.graph import Facts, Relation, as_metadata, facts_of
from opora.ingest.enrich.facts import MAX_ENTITIES, MAX_NAME_CHARS, MAX_RELATIONS, read_facts
from opora.text.terms import name_key

PASSAGE = "ООО «Ромашка» заключило договор аренды с Петром Ивановым. 差旅报销制度由财务部执行。 See form KB-1234."


def reply(entities: object, relations: object = ()) -> str:
    return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)


def test_names_in_any_form_of_their_words_and_relations_between_them() -> None:
    said = reply(
        ["Ромашка", "Договор аренды", {"name": "Пётр Иванов", "type": "person"}, "财务部", "KB-1234"],
        [{"source": "ромашка", "relation": "сторона", "target": "договор аренды"}],
    )
    assert read_facts(said, PASSAGE) == Facts(
        entities=("Ромашка", "Договор аренды", "Пётр Иванов", "财务部", "KB-1234"),
        relations=(Relation(source="Ромашка", label="сторона", target="Договор аренды"),),
    )


@pytest.mark.parametrize(
    "name", ["Газпром", "аренды Петром", "销售部", "KB-12345", "", "…", "я" * (MAX_NAME_CHARS + 1), 7, None]
)
def test_a_name_that_the_passage_does_not_hold_is_left_out(name: object) -> None:
    assert read_facts(reply([name, "Ромашка"]), PASSAGE).entities == ("Ромашка",)


@pytest.mark.parametrize(
    "relation",
    [
        {"source": "Ромашка", "relation": "x", "target": "Газпром"},
        {"source": "Ромашка", "relation": "x", "target": "ромашки"},
        {"source": "Ромашка"},
        {"source": ["Ромашка"], "relation": "x", "target": "Иванов"},
        "Ромашка -> Иванов",
    ],
)
def test_a_relation_joins_two_names_that_were_taken(relation: object) -> None:
    assert read_facts(reply(["Ромашка", "Иванов"], [relation]), PASSAGE).relations == ()


@pytest.mark.parametrize(
    "said", ["", "Ничего нет.", '{"entities": "Ромашка"}', "[" * 5_000, '{"entities": ["Ромашка"', "null", "{}"]
)
def test_a_reply_that_cannot_be_read_names_nothing(said: str) -> None:
    assert read_facts(said, PASSAGE) == Facts()


def test_thinking_and_fences_are_passed_over() -> None:
    said = f"<think>{reply(['Иванов'])}</think>Вот:\n```json\n{reply(['Ромашка'])}\n```"
    assert read_facts(said, PASSAGE).entities == ("Ромашка",)


def test_no_chunk_has_more_than_its_share() -> None:
    words = [f"слово{n}" for n in range(60)]
    relations = [{"source": "слово0", "relation": f"r{n}", "target": "слово1"} for n in range(60)]
    facts = read_facts(reply(words, relations), " ".join(words))
    assert (len(facts.entities), len(facts.relations)) == (MAX_ENTITIES, MAX_RELATIONS)


@given(st.text(max_size=300), st.text(max_size=100))
def test_whatever_is_said_the_facts_stand_in_the_passage_and_come_back_from_metadata(said: str, passage: str) -> None:
    facts = read_facts(said, passage)
    assert facts_of(as_metadata(facts)) == facts
    assert all(name_key(name) for name in facts.entities)


@given(
    st.lists(st.text(alphabet="абвгд abc差旅", max_size=6), max_size=6), st.text(alphabet="абвгд abc差旅", max_size=60)
)
def test_no_name_is_taken_that_does_not_stand_there(entities: list[str], passage: str) -> None:
    spoken = f" {name_key(passage)} "
    for name in read_facts(reply(entities), passage).entities:
        assert name_key(name).replace(" ", "") in spoken.replace(" ", "")
