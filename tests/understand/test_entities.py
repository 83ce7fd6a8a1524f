"""The names that a model finds in a question, whatever they are wrapped in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.text.terms import name_key
from opora.understand.entities import MAX_ENTITIES, MAX_NAME_CHARS, read_entities


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ('{"entities": ["Ромашка", "ромашки", " Договор\\n аренды "]}', ("Ромашка", "Договор аренды")),
        ('```json\n{"entities": [{"name": "Acme"}]}\n```', ("Acme",)),
        ('<think>{"entities": ["no"]}</think>{"entities": ["差旅报销"]}', ("差旅报销",)),
        ('For example {"entities": ["X"]}. So: {"entities": ["Acme"]}', ("Acme",)),
        ('{"entities": ["Acme"]} {"note": 1}', ("Acme",)),
        ('{"entities": []}', ()),
        ('{"entities": "Acme"}', ()),
        ('{"entities": [1, null, "", "!!", ["Acme"]]}', ()),
        ("No entities.", ()),
        ("", ()),
    ],
)
def test_replies(reply: str, names: tuple[str, ...]) -> None:
    assert read_entities(reply) == names


def test_a_question_names_at_most_ten_things() -> None:
    assert MAX_ENTITIES == 10
    assert len(read_entities(json.dumps({"entities": [f"name{n}" for n in range(40)]}))) == 10


@given(st.lists(st.one_of(st.text(max_size=150), st.none(), st.integers()), max_size=30))
def test_every_name_can_be_looked_for(items: list[object]) -> None:
    names = read_entities(json.dumps({"entities": items}))
    assert len({name_key(name) for name in names}) == len(names) <= MAX_ENTITIES
    assert all(name_key(name) and len(name) <= MAX_NAME_CHARS for name in names)
