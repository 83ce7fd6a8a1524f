"""Replies of rewriting models: the handed case, cut replies, and that nothing raises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.question import Intent
from opora.understand.reply import read_reply

CASE = json.loads(
    (Path(__file__).parent.parent / "cases/files/json/understand-wrapped-json.json").read_text(encoding="utf-8")
)
REPLIES = CASE["raw_replies"]
READABLE = ("plain", "fence", "chatter", "think_decoy", "think_close_only", "single_quotes", "array", "bom", "alias")
OWN_WORDS = ("empty", "blank", "list", "number", "null", "nothing", "prose", "think_open")


@pytest.mark.parametrize("name", READABLE)
def test_whatever_it_is_wrapped_in(name: str) -> None:
    reply = read_reply(REPLIES[name])
    assert (reply.query, reply.intent) == ("сроки оплаты", Intent.KB_SEARCH)


@pytest.mark.parametrize("name", OWN_WORDS)
def test_what_gives_no_query_leaves_the_users_own_words(name: str) -> None:
    reply = read_reply(REPLIES[name])
    assert reply.query == ""
    assert reply.intent in (Intent.KB_SEARCH, Intent.UNKNOWN)


def test_quotes_inside_and_unknown_labels() -> None:
    assert read_reply(REPLIES["inner_quotes"]).query == 'что значит "форс-мажор" в п. 7'
    unknown = read_reply(REPLIES["unknown_intent"])
    assert (unknown.query, unknown.intent) == ("сроки оплаты", Intent.UNKNOWN)


def test_every_reply_of_the_case_is_tried_and_the_trap_is_never_taken() -> None:
    assert {*READABLE, *OWN_WORDS, "inner_quotes", "unknown_intent"} == set(REPLIES)
    for raw in REPLIES.values():
        assert "ЛОВУШКА" not in repr(read_reply(raw))


@pytest.mark.parametrize(
    ("raw", "query", "intent", "image"),
    [
        ('{"rewrite_query":"сроки оплаты","intent":"kb_se', "сроки оплаты", Intent.UNKNOWN, ""),
        ('{"rewrite_query":"сроки оплаты","intent":"greeting","image_desc', "сроки оплаты", Intent.GREETING, ""),
        ('{"rewrite_query":"сроки опл', "", Intent.UNKNOWN, ""),
        ('{"intent":"summarize","rewrite_query":"сроки опл', "", Intent.SUMMARIZE, ""),
        (
            '{"rewrite_query":"сроки","intent":"kb_search","image_description":"Счёт №5 на сумму',
            "сроки",
            Intent.KB_SEARCH,
            "Счёт №5 на сумму",
        ),
        ('{"image_description":"снимок","ocr_text":"итого 7"}', "", Intent.UNKNOWN, "снимок\nитого 7"),
    ],
)
def test_of_a_cut_reply_what_was_written_whole_is_kept(raw: str, query: str, intent: Intent, image: str) -> None:
    reply = read_reply(raw)
    assert (reply.query, reply.intent, reply.image_description) == (query, intent, image)


def test_a_query_that_is_too_long_is_not_taken_and_control_characters_go() -> None:
    assert read_reply(json.dumps({"rewrite_query": "ж" * 10_001})).query == ""
    assert read_reply(json.dumps({"rewrite_query": "сро\0ки"})).query == "сроки"


def test_the_last_object_counts() -> None:
    raw = '{"rewrite_query":"черновик"} нет, лучше так: {"rewrite_query":"итог","intent":"clarification"}'
    assert (read_reply(raw).query, read_reply(raw).intent) == ("итог", Intent.CLARIFICATION)


@pytest.mark.parametrize("raw", ["[" * 50_000, "{" * 50_000, '{"a":' * 20_000, "<think>" * 5_000, "(" * 20_000])
def test_deep_or_endless_replies_do_not_raise(raw: str) -> None:
    assert read_reply(raw).query == ""


@settings(max_examples=100)
@given(st.text(alphabet="{}[]\"':,\\<>/think rewrite_query intent абв\n", max_size=120))
def test_no_reply_raises(raw: str) -> None:
    assert len(read_reply(raw).query) <= 10_000


@settings(max_examples=60)
@given(st.text(alphabet='аб "\\,:{}<>\n', min_size=1, max_size=60), st.sampled_from([i for i in Intent if i]))
def test_what_a_model_writes_properly_is_read_back(query: str, intent: Intent) -> None:
    raw = json.dumps({"rewrite_query": query, "intent": intent.value}, ensure_ascii=False)
    reply = read_reply(f"```json\n{raw}\n```")
    assert (reply.query, reply.intent) == (query.strip(), intent)
