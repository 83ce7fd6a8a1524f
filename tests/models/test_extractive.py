"""Quotes are the passages' own words, the best first, and none when nothing answers."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.knowledge import Place
from opora.domain.search import SearchResult
from opora.models.e5_build import E5Files
from opora.models.extractive import (
    ACROSS_HEIGHT,
    ACROSS_HEIGHT_MIXED,
    FLOOR,
    MAX_QUOTES,
    MAX_SENTENCES,
    NEAR_BEST,
    PASSAGES,
    WORDS_FLOOR,
    SentenceQuoter,
    coverage,
)
from opora.models.local_e5 import LocalE5
from opora.models.null import NullEmbedder
from opora.ports import Embedder, EmbedderCard, Vectors


def passage(content: str, chunk_id: str = "c1") -> SearchResult:
    return SearchResult(chunk_id=chunk_id, base_id="b", tenant_id="t", document_id="d", content=content)


RULES = (
    "Командировка оформляется приказом директора. Расходы на проезд возмещаются по документам в течение десяти дней "
    "после возвращения. Суточные выплачиваются заранее. Такси оплачивается только ночью."
)
WARRANTY = (
    "The device is made of steel. The warranty period is twenty-four months from delivery. "
    "Send broken devices to the service centre in Tver."
)
HANDBOOK = "公司成立于一九九八年。差旅费用在返回后十天内凭票据报销。员工每年享有十五天年假。"


def test_the_constants() -> None:
    assert (PASSAGES, MAX_SENTENCES, MAX_QUOTES, NEAR_BEST) == (3, 60, 3, 0.6)
    assert (FLOOR, WORDS_FLOOR, ACROSS_HEIGHT, ACROSS_HEIGHT_MIXED) == (0.29, 0.12, 0.21, 0.43)


@pytest.mark.parametrize(
    ("question", "content", "expected"),
    [
        ("Когда возмещаются расходы на проезд?", RULES, "Расходы на проезд возмещаются"),
        ("How long is the warranty period?", WARRANTY, "The warranty period is twenty-four months"),
        ("差旅费用什么时候报销？", HANDBOOK, "差旅费用在返回后十天内凭票据报销。"),
    ],
)
async def test_by_words_alone(question: str, content: str, expected: str) -> None:
    quotes = await SentenceQuoter().quotes(question, [passage(content)])
    assert quotes[0].text.startswith(expected)
    assert all(content[quote.start : quote.end] == quote.text for quote in quotes)


@pytest.fixture
async def e5(e5_files: E5Files, e5_cache: Path) -> AsyncIterator[LocalE5]:
    made = LocalE5(e5_cache)
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("question", "content", "expected"),
    [
        ("Когда компенсируют дорогу после поездки?", RULES, "Расходы на проезд возмещаются"),
        ("How many months can I claim a repair under guarantee?", WARRANTY, "The warranty period"),
        ("出差的路费什么时候可以拿回来？", HANDBOOK, "差旅费用"),
    ],
)
async def test_by_meaning_where_words_differ(e5: LocalE5, question: str, content: str, expected: str) -> None:
    quotes = await SentenceQuoter(e5).quotes(question, [passage(content)])
    assert quotes
    assert quotes[0].text.startswith(expected)


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("Как приготовить борщ?", RULES),
        ("Who won the world cup in 1998?", WARRANTY),
        ("Who won the world cup in 1998?", HANDBOOK),
    ],
)
async def test_nothing_answers(e5: LocalE5, question: str, content: str) -> None:
    assert await SentenceQuoter(e5).quotes(question, [passage(content)]) == []
    assert await SentenceQuoter().quotes(question, [passage(content)]) == []


async def test_another_language_is_quoted_by_meaning(e5: LocalE5) -> None:
    quotes = await SentenceQuoter(e5).quotes("Каков гарантийный срок прибора?", [passage(WARRANTY)])
    assert quotes
    assert quotes[0].text.startswith("The warranty period")


class Fixed:
    """An embedder with a measured floor whose cosines are given by the text."""

    card = EmbedderCard(identity="fixed", dimension=2, max_tokens=9, vector_threshold=0.5)

    def __init__(self, cosines: dict[str, float]) -> None:
        self.cosines = cosines
        self.batches: list[int] = []

    async def embed_query(self, text: str) -> Vectors:
        return np.array([1, 0], np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(len(texts))
        values = [next((c for key, c in self.cosines.items() if key in text), 0.0) for text in texts]
        return np.array([[c, (1 - c * c) ** 0.5] for c in values], np.float32)

    async def close(self) -> None: ...


async def test_the_score_is_the_mean_of_words_and_meaning() -> None:
    content = "Расходы возмещаются директором. Совсем другое предложение."
    (quote,) = await SentenceQuoter(Fixed({"Расходы": 0.75})).quotes("Расходы возмещаются?", [passage(content)])
    assert quote.score == pytest.approx(0.5 * 1.0 + 0.5 * (0.75 - 0.5) / 0.5)


@pytest.mark.parametrize(("others", "height"), [([], ACROSS_HEIGHT), (["Совсем о другом."], ACROSS_HEIGHT_MIXED)])
async def test_across_languages_the_cosine_alone_decides(others: list[str], height: float) -> None:
    passages = [passage(WARRANTY), *(passage(text, "c2") for text in others)]
    floor = Fixed.card.vector_threshold
    for above, found in ((0.02, True), (-0.02, False)):
        quoter = SentenceQuoter(Fixed({"warranty": floor + (1 - floor) * (height + above)}))
        assert bool(await quoter.quotes("Какова гарантия?", passages)) is found


async def test_only_the_first_passages_count() -> None:
    passages = [passage(f"Пустое место номер {number}.", f"c{number}") for number in range(PASSAGES)]
    assert await SentenceQuoter().quotes("Расходы на проезд?", [*passages, passage(RULES, "last")]) == []


async def test_overlapping_passages_repeat_nothing() -> None:
    sentence = "Расходы на проезд возмещаются по документам после возвращения."
    passages = [passage(f"Начало положения. {sentence}", "c1"), passage(f"{sentence}  Конец положения.", "c2")]
    quotes = await SentenceQuoter().quotes("Расходы на проезд возмещаются?", passages)
    assert [(quote.chunk_id, quote.text) for quote in quotes] == [("c1", sentence)]


async def test_a_row_is_found_by_the_head_of_its_table() -> None:
    table = "| Город | Суточные, руб. |\n|---|---|\n| Москва | 1500 |\n| Казань | 1200 |"
    (first, *_) = await SentenceQuoter().quotes("Какие суточные в городе Казань?", [passage(table)])
    assert first.text == "| Казань | 1200 |"


async def test_the_first_row_answers_where_each_row_names_its_columns() -> None:
    table = "Город: Москва | Суточные, руб.: 1500\nГород: Казань | Суточные, руб.: 1200"
    (first, *_) = await SentenceQuoter().quotes("Какие суточные в городе Москва?", [passage(table)])
    assert first.text == "Город: Москва | Суточные, руб.: 1500"


@pytest.mark.parametrize(
    ("heading", "content", "question", "answer"),
    [
        (
            "Who may work remotely",
            "Remote work\n\nWho may work remotely\n\nStaff past probation may work remotely three days a week.",
            "Who may work remotely?",
            "Staff past probation may work remotely three days a week.",
        ),
        (
            "5. Возмещение расходов",
            "5. Возмещение  расходов\n\nРасходы возмещает бухгалтерия по документам.",
            "Возмещение расходов",
            "Расходы возмещает бухгалтерия по документам.",
        ),
    ],
)
async def test_headings_are_not_answers(heading: str, content: str, question: str, answer: str) -> None:
    found = replace(passage(content), place=Place(heading_path=("Remote work", heading)))
    quotes = await SentenceQuoter().quotes(question, [found])
    assert [quote.text for quote in quotes] == [answer]


async def test_many_sentences_are_one_batch_of_those_with_the_words() -> None:
    content = " ".join(f"Это предложение номер {number} ни о чём." for number in range(200)) + " Расходы возмещаются."
    embedder = Fixed({"Расходы": 0.9})
    quotes = await SentenceQuoter(embedder).quotes("Расходы возмещаются?", [passage(content)])
    assert embedder.batches == [MAX_SENTENCES]
    assert quotes[0].text == "Расходы возмещаются."


async def test_an_embedder_without_a_measured_floor_is_not_asked() -> None:
    by_null = await SentenceQuoter(NullEmbedder(8)).quotes("Расходы на проезд?", [passage(RULES)])
    assert by_null == await SentenceQuoter().quotes("Расходы на проезд?", [passage(RULES)])


@pytest.mark.parametrize("embedder", [None, Fixed({})])
async def test_empty_in_empty_out(embedder: Embedder | None) -> None:
    quoter = SentenceQuoter(embedder)
    assert await quoter.quotes("Расходы?", []) == []
    assert await quoter.quotes("Расходы?", [passage(""), passage(" \n ")]) == []
    assert await quoter.quotes("?!", [passage(RULES)]) == []
    assert await quoter.quotes("", [passage(RULES)]) == []


def test_rare_words_weigh_more() -> None:
    units = [frozenset({"a", "b"}), frozenset({"a"}), frozenset({"a", "c"})]
    shares = coverage(["a", "b"], units)
    assert shares[0] == pytest.approx(1)
    assert 0 < shares[1] < 0.5
    assert shares[1] == shares[2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="расходы проезд возмещаются.,\n|中文 ", max_size=300), max_size=5),
    st.text(alphabet="расходы проезд 中文?", max_size=40),
)
async def test_quotes_are_verbatim_distinct_and_in_order(contents: list[str], question: str) -> None:
    passages = [passage(content, f"c{number}") for number, content in enumerate(contents)]
    quotes = await SentenceQuoter(floor=0.0).quotes(question, passages)
    by_id = {result.chunk_id: result.content for result in passages}
    assert len(quotes) <= MAX_QUOTES
    assert len({quote.text for quote in quotes}) == len(quotes)
    assert [quote.score for quote in quotes] == sorted((quote.score for quote in quotes), reverse=True)
    for quote in quotes:
        assert by_id[quote.chunk_id][quote.start : quote.end] == quote.text
    assert quotes == await SentenceQuoter(floor=0.0).quotes(question, passages)
