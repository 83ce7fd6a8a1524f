"""Other wordings of a question, made without a model, to find by words what the question's own wording missed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from opora.domain.errors import OporaError
from opora.domain.settings import RetrievalSettings
from opora.retrieve.fuse import ArmList, Fused, fuse
from opora.text.stop_words import STOP_WORDS

MAX_AT_ONCE = 16
THRESHOLD_FACTOR = 0.8
TOP_K_FACTOR = 2
MAX_VARIANTS = 5
MIN_WORD_CHARS = 2
"""In characters, not bytes: one Chinese character alone is too little to search for, as is one letter."""
PHRASE_WORDS = 3
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:[-.'][^\W_{_HAN}]+)*")
_IS_HAN = re.compile(rf"[{_HAN}]")
_CHINESE_STOP_WORDS = frozenset(
    (
        *(
            "什么",
            "怎么",
            "怎样",
            "如何",
            "哪些",
            "哪个",
            "哪里",
            "为什么",
            "是否",
            "多少",
            "可以",
            "请问",
            "一个",
            "这个",
        ),
        *"的了吗呢吧啊是在有和与或我你他她它们这那就都也要被把对从到",
    )
)
_QUOTED = re.compile(r"[«“\"「『]([^»”\"」』]{2,})[»”\"」』]")

SearchWords = Callable[[str, int], Awaitable[list[ArmList]]]


def is_wanted(values: RetrievalSettings, *, found: int, has_words: bool) -> bool:
    """Only where it is switched on, words are searched at all, and the question itself found too little."""
    return values.enable_query_expansion and has_words and found < values.embedding_top_k


def top_k(values: RetrievalSettings) -> int:
    return max(values.embedding_top_k, values.rerank_top_k) * TOP_K_FACTOR


def threshold(keyword_threshold: float) -> float:
    return keyword_threshold * THRESHOLD_FACTOR


def words(text: str) -> list[str]:
    """Words in reading order: runs of one script, Chinese runs cut by jieba's search mode."""
    import rjieba

    found: list[str] = []
    for run in _RUN.findall(text):
        found.extend(rjieba.cut_for_search(run, True) if _IS_HAN.match(run) else [run])
    return found


def variants(query: str) -> tuple[str, ...]:
    """Up to `MAX_VARIANTS` wordings that differ from the question: no function words, other order, key phrases."""
    content = [word for word in words(query) if _is_content(word)]
    distinct = list(dict.fromkeys(content))
    options = [" ".join(distinct)]
    if len(distinct) > 1:
        options.append(" ".join(reversed(distinct)))
    options += [phrase.strip() for phrase in _QUOTED.findall(query)]
    if len(distinct) > PHRASE_WORDS:
        options += [" ".join(distinct[:PHRASE_WORDS]), " ".join(distinct[-PHRASE_WORDS:])]
        options.append(" ".join(sorted(distinct, key=lambda word: (-len(word), word))[:PHRASE_WORDS]))
    own = query.strip().lower()
    unique = dict.fromkeys(option for option in options if option and option.lower() != own)
    return tuple(unique)[:MAX_VARIANTS]


async def search(query: str, search_words: SearchWords, *, top_k: int, threshold: float) -> tuple[list[Fused], str]:
    """What the variants find by words, best share first, and a warning when one of them failed.

    At most `MAX_AT_ONCE` searches run at once; results land by variant, never by arrival.
    """
    limit = asyncio.Semaphore(MAX_AT_ONCE)

    async def one(variant: str) -> list[ArmList] | OporaError:
        async with limit:
            try:
                return await search_words(variant, top_k)
            except OporaError as error:
                return error

    found = await asyncio.gather(*(one(variant) for variant in variants(query)))
    lists = [one for result in found if not isinstance(result, OporaError) for one in result]
    failed = [result.message for result in found if isinstance(result, OporaError)]
    items = [item for item in fuse(lists) if item.keyword_score is None or item.score >= threshold]
    return items, f"Some other wordings were not searched: {failed[0]}" if failed else ""


def _is_content(word: str) -> bool:
    folded = word.lower().replace("ё", "е")
    return len(word) >= MIN_WORD_CHARS and folded not in STOP_WORDS and word not in _CHINESE_STOP_WORDS
