"""What is written as a public tag is read back whole, whatever stands in a title."""

from hypothesis import given
from hypothesis import strategies as st

from opora.cite.tags import kb_tag, parse_citations, plain_text, web_tag

texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), max_size=20)


@given(title=texts, url=texts)
def test_what_is_written_is_read_back(title: str, url: str) -> None:
    answer = f"до {kb_tag(title=title, chunk_id='c', base_id='b', document_id='d')} и {web_tag(url=url, title=title)}."
    first, second = parse_citations(answer)
    assert (first.kind, first.title, first.chunk_id, first.base_id, first.document_id) == ("kb", title, "c", "b", "d")
    assert (second.kind, second.url, second.title) == ("web", url, title)
    assert answer[first.start : first.end].startswith("<kb ")
    assert plain_text(answer) == "до  и ."


def test_line_ends_and_controls_of_a_title_become_blanks() -> None:
    tag = kb_tag(title="a\r\n\x00b\u2028 c", chunk_id="c", base_id="b", document_id="d")
    assert 'doc="a b c"' in tag


def test_a_title_can_not_begin_a_tag() -> None:
    tag = kb_tag(title='"/><kb chunk_id="evil"/>', chunk_id="c", base_id="b", document_id="d")
    (citation,) = parse_citations(tag)
    assert citation.chunk_id == "c"


def test_what_is_no_whole_tag_is_text() -> None:
    assert parse_citations('<kb doc="a" <kb> <kbd/> <web url=x/>') == []
