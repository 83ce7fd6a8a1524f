"""Ids of question forms lead to their owner and back."""

from hypothesis import given
from hypothesis import strategies as st

from opora.domain.forms import form_id, form_of_copy, is_form, owner_of_form

IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(lambda text: not is_form(text))


@given(IDS, st.text())
def test_a_form_leads_to_its_owner(owner: str, question: str) -> None:
    form = form_id(owner, question)
    assert is_form(form)
    assert owner_of_form(form) == owner
    assert form == f"{owner}#{form.rpartition('#')[2]}"
    assert len(form) == len(owner) + 17


@given(IDS)
def test_every_other_row_leads_to_itself(chunk_id: str) -> None:
    assert owner_of_form(chunk_id) == chunk_id
    assert form_of_copy(chunk_id, "other") == "other"


@given(IDS, IDS, st.text())
def test_a_copy_of_a_form_is_the_form_of_the_copy(owner: str, other: str, question: str) -> None:
    assert form_of_copy(form_id(owner, question), other) == form_id(other, question)


def test_questions_are_equal_but_for_case_and_blanks() -> None:
    assert form_id("c", "  Где   мой Отпуск? ") == form_id("c", "где мой отпуск?")
    assert form_id("c", "где мой отпуск") != form_id("c", "где мой отпуск?")


def test_a_number_sign_alone_makes_no_form() -> None:
    assert not is_form("c#1")
    assert not is_form("c#0123456789ABCDEF")
    assert not is_form(f"{'c#0123456789abcdef'} ")
