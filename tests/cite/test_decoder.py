"""Decoding gives the same text wherever the stream was cut, and nothing unfinished or unknown is ever shown."""

import codecs
import itertools
import re
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.cite.decoder import MAX_HELD, StreamDecoder, expand, without_marks
from opora.cite.tags import kb_tag, web_tag

TAGS = {
    "c1": kb_tag(title="Приказ № 7", chunk_id="ch-11", base_id="kb-1", document_id="d-1"),
    "c2": kb_tag(title="Регламент", chunk_id="ch-12", base_id="kb-1", document_id="d-2"),
    "w1": web_tag(url="https://example.org/a?x=1&y=2", title='Тарифы "2025"'),
}
ANSWER = 'Срок три дня<ref id="c1"/>, если a < b и x<y. <reflect> не тег<ref id="w1"/><ref id="c2"/> 👍'
WHOLE = f"Срок три дня{TAGS['c1']}, если a < b и x<y. <reflect> не тег{TAGS['w1']}{TAGS['c2']} 👍"
RAW_MARK = re.compile(r"<ref(?=[\s/>]|$)")


def resolve(alias: str) -> str:
    return TAGS.get(alias, "")


def pieces_of(parts: Iterable[str]) -> list[str]:
    decoder = StreamDecoder(resolve)
    return [*(decoder.feed(part) for part in parts), decoder.flush()]


def cut(text: str, places: Iterable[int]) -> list[str]:
    edges = [0, *sorted(places), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges)]


def check_pieces(pieces: list[str]) -> None:
    for piece in pieces:
        assert not RAW_MARK.search(piece), piece
        assert not re.search(r"\b[cw]\d+\b", re.sub(r"ch-\d+", "", piece)), piece
        assert piece.count("<kb ") + piece.count("<web ") == len(re.findall(r"<(?:kb|web) [^<>]*/>", piece)), piece


def test_whole_text_at_once() -> None:
    assert expand(ANSWER, resolve) == WHOLE


def test_every_single_and_pair_of_cuts_gives_the_same_text() -> None:
    for places in itertools.chain(
        ((place,) for place in range(len(ANSWER) + 1)), itertools.combinations(range(len(ANSWER) + 1), 2)
    ):
        pieces = pieces_of(cut(ANSWER, places))
        assert "".join(pieces) == WHOLE, places
        check_pieces(pieces)


def test_one_character_a_piece_gives_text_before_a_mark_at_once() -> None:
    decoder = StreamDecoder(resolve)
    shown = ""
    for char in ANSWER:
        if char == "<" and "ref" not in shown:
            assert shown.startswith("Срок три дня")
        piece = decoder.feed(char)
        check_pieces([piece])
        shown += piece
    assert shown + decoder.flush() == WHOLE


def test_bytes_cut_inside_an_emoji() -> None:
    data = ANSWER.encode()
    for place in range(len(data) - 5, len(data)):
        reader = codecs.getincrementaldecoder("utf-8")()
        assert "".join(pieces_of([reader.decode(data[:place]), reader.decode(data[place:], final=True)])) == WHOLE


@pytest.mark.parametrize(
    ("tail", "shown"),
    [
        ("конец <", "конец <"),
        ("конец <r", "конец "),
        ("конец <re", "конец "),
        ("конец <ref", "конец "),
        ('конец <ref id="c1', "конец "),
        ('конец <ref id="c1"', "конец "),
        ('конец <ref id="c1"/', "конец "),
        ("конец <k", "конец <k"),
        ("конец <kb", "конец "),
        ("a <b> c", "a <b> c"),
        ("конец </re", "конец "),
        ("2 < 3", "2 < 3"),
    ],
)
def test_tails(tail: str, shown: str) -> None:
    assert expand(tail, resolve) == shown
    assert "".join(pieces_of(tail)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('a<ref id="c9"/>b', "ab"),
        ("a<ref/>b<ref>c</ref>d", "abcd"),
        ("a<ref id='c1'>b", f"a{TAGS['c1']}b"),
        ("a<REF ID=C1 />b", f"a{TAGS['c1']}b"),
        ('a<ref id="c1, c2"/>b', f"a{TAGS['c1']}{TAGS['c2']}b"),
        ('a<ref id="c1"></ref>b', f"a{TAGS['c1']}b"),
        ('a<ref id="c1" далее', "aдалее"),
        ('a<ref id="c1" and then b', "aand then b"),
        ('a<ref id="c1\nb', "a\nb"),
        ('a<ref id="c1"<ref id="c2"/>b', f"a{TAGS['c2']}b"),
        ('a<ref<ref id="c2"/>b', f"a{TAGS['c2']}b"),
        ('<kb doc="x" chunk_id="ch-99"/>a<web url="http://e.org" title="t"/>b</kb>', "ab"),
        ("<kbd>Ctrl</kbd> <web-view> <reference>", "<kbd>Ctrl</kbd> <web-view> <reference>"),
        ("x<<y <- z <= w << 1", "x<<y <- z <= w << 1"),
    ],
)
def test_unusual_marks(text: str, shown: str) -> None:
    assert expand(text, resolve) == shown
    assert "".join(pieces_of(text)) == shown


@pytest.mark.parametrize("text", ['<re<ref id="c9"/>f id="c1"/>', '<<ref id="c9"/>ref id="c1"/>', "<k<ref/>b x='y'/>"])
def test_what_is_left_out_never_lets_a_mark_grow_together(text: str) -> None:
    shown = expand(text, resolve)
    assert not re.search(r"<(ref|kb|web)\b", shown)
    assert "".join(pieces_of(text)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('`a<ref id="c1"/>` b<ref id="c1"/>', f"`a` b{TAGS['c1']}"),
        ('``a`<ref id="c1"/>`` b<ref id="c1"/>', f"``a``` b{TAGS['c1']}"),
        ('`<ref id="c1"/>` b<ref id="c1"/>', f"`` b{TAGS['c1']}"),
        ('```py\n<ref id="c1"/>\n```\n<ref id="c1"/>', f"```py\n\n```\n{TAGS['c1']}"),
        ('~~~\n```\n<ref id="c1"/>\n~~~\n<ref id="c1"/>', f"~~~\n```\n\n~~~\n{TAGS['c1']}"),
        ('````\n```\n<ref id="c1"/>\n````\n<ref id="c1"/>', f"````\n```\n\n````\n{TAGS['c1']}"),
        ('- ```sh\n  <ref id="c1"/>\n\n  ```\n<ref id="c1"/>', f"- ```sh\n  \n\n  ```\n{TAGS['c1']}"),
        ('> ```\n> <ref id="c1"/>\n> ```\n<ref id="c1"/>', f"> ```\n> \n> ```\n{TAGS['c1']}"),
        ('```a``` b<ref id="c1"/>', f"```a``` b{TAGS['c1']}"),
        ('\\` b<ref id="c1"/>', f"\\` b{TAGS['c1']}"),
        ('lone ` here\n\nb<ref id="c1"/>', f"lone ` here\n\nb{TAGS['c1']}"),
        ('- lone `\n- b<ref id="c1"/>', f"- lone `\n- b{TAGS['c1']}"),
        ('~~struck~~ b<ref id="c1"/>', f"~~struck~~ b{TAGS['c1']}"),
        ('`<kb doc="x"/>`', "``"),
    ],
)
def test_marks_in_code_are_removed_and_not_expanded(text: str, shown: str) -> None:
    assert expand(text, resolve) == shown
    assert "".join(pieces_of(text)) == shown


def test_at_most_64_characters_are_held_back() -> None:
    text = '<ref id="' + "x" * 200 + " и дальше текст"
    decoder = StreamDecoder(resolve)
    shown = [decoder.feed(char) for char in text]
    assert "".join(shown[: MAX_HELD - 1]) == ""
    assert "".join(shown).endswith("x" * (200 - MAX_HELD) + " и дальше текст")


def test_a_sign_that_begins_no_tag_goes_out_with_the_next_character() -> None:
    decoder = StreamDecoder(resolve)
    assert decoder.feed("a <") == "a "
    assert decoder.feed("b") == "<b"
    assert decoder.feed("<") == ""
    assert decoder.feed("<") == "<"
    assert decoder.feed(" ") == "< "


fragments = st.lists(
    st.sampled_from(
        ['<ref id="c1"/>', '<ref id="c9"/>', "<ref", "<re", "<", ">", "/>", "`", "```", "~~~", "\n", "\n\n", " ", "a",
         'id="c1"', "<kb ", "</ref>", "=", '"', "'", "\\", "- ", "> ", "1. ", "ж", "<web x"]
    ),
    max_size=14,
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(fragments=fragments, data=st.data())
def test_any_text_any_cut(fragments: list[str], data: st.DataObject) -> None:
    text = "".join(fragments)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    whole = expand(text, resolve)
    pieces = pieces_of(cut(text, places))
    assert "".join(pieces) == whole == "".join(pieces_of(text))
    for piece in pieces:
        assert not RAW_MARK.search(piece)
    assert not re.search(r"<(ref|kb|web)(?=[\s/>])", re.sub(r"<(kb|web) [^<>]*/>", "", whole))


@settings(max_examples=200, deadline=None)
@given(fragments)
def test_text_of_documents_can_not_pass_for_marks(fragments: list[str]) -> None:
    shown = without_marks("".join(fragments))
    assert not re.search(r"</?(ref|kb|web)(?=[\s/>])", shown)


def test_plain_text_of_documents_is_unchanged() -> None:
    text = "a < b, x<y; <reflect> `code` <b>жирный</b>\n\tкод"
    assert without_marks(text) == text
