"""Reads one row of a FAQ import, whatever language its columns are named in, into an entry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from opora.domain.errors import InvalidInput
from opora.domain.faq import STRATEGY_ALL, STRATEGY_RANDOM, FaqEntry, folded_question
from opora.domain.faq_entry import FaqDraft, checked_draft
from opora.text.fold import clean

SEPARATOR = "##"
"""Between several texts in one cell; a cell may also hold a JSON list."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    "standard_question": ("question", "вопрос", "стандартный вопрос", "основной вопрос", "标准问题", "标准问", "问题"),
    "similar_questions": (
        *("similar", "similar question", "похожие вопросы", "похожий вопрос", "相似问题", "相似问", "相似问法"),
    ),
    "negative_questions": (
        *("negative", "negative question", "негативные вопросы", "отрицательные вопросы", "исключения"),
        *("反例问题", "反例", "负面问题", "排除问题"),
    ),
    "answers": ("answer", "ответ", "ответы", "答案", "回答", "机器人回答"),
    "answer_strategy": ("strategy", "стратегия ответа", "стратегия", "答案策略", "回答策略"),
    "is_enabled": ("enabled", "включено", "включён", "включен", "активен", "启用", "是否启用"),
    "is_recommended": ("recommended", "рекомендовано", "рекомендуется", "рекомендуемый", "推荐", "是否推荐"),
    "tag_ids": (),
    "tags": ("tag", "теги", "тег", "метки", "标签"),
}
_FIELDS = {name: field for field, names in _NAMES.items() for name in (field, field.replace("_", " "), *names)}
_LISTS = frozenset({"similar_questions", "negative_questions", "answers", "tag_ids", "tags"})
_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "да", "1", "1.0", "是", "истина", "on", "+"), True),
    **dict.fromkeys(("false", "no", "нет", "0", "0.0", "否", "ложь", "off", "-"), False),
}
_STRATEGIES = {
    **dict.fromkeys(("", "all", "все", "全部"), STRATEGY_ALL),
    **dict.fromkeys(("random", "случайно", "случайный", "随机"), STRATEGY_RANDOM),
}


def field_of(column: str) -> str:
    """The field that a column's name means; '' for a column that means nothing here."""
    return _FIELDS.get(folded_question(column).rstrip(" *:"), "")


def draft_of(row: Mapping[str, Any]) -> FaqDraft:
    """The entry of a row by field; raises `InvalidInput` naming the field that does not fit."""
    values = {name: row.get(name) for name in _NAMES}
    texts = {name: _texts(name, values[name]) for name in _LISTS}
    standard = values["standard_question"]
    if standard is not None and not isinstance(standard, str):
        raise InvalidInput.of("standard_question", "standard_question: must be a text.")
    entry = FaqEntry(
        standard_question=clean(standard or ""),
        similar_questions=texts["similar_questions"],
        negative_questions=texts["negative_questions"],
        answers=texts["answers"],
        answer_strategy=_strategy(values["answer_strategy"]),
    )
    return checked_draft(
        FaqDraft(
            entry=entry,
            is_enabled=_switch("is_enabled", values["is_enabled"], default=True),
            is_recommended=_switch("is_recommended", values["is_recommended"], default=False),
            tag_ids=tuple(text.strip() for text in texts["tag_ids"] if text.strip()),
        )
    )


def tag_names_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of tags, which the base may have or not; raises `InvalidInput`."""
    return tuple(dict.fromkeys(text.strip() for text in _texts("tags", row.get("tags")) if text.strip()))


def cell_of(texts: Sequence[str]) -> str:
    """The texts of a field as one cell that `draft_of` reads back."""
    if not texts:
        return ""
    alone = len(texts) == 1 and SEPARATOR not in texts[0] and "\n" not in texts[0] and not texts[0].startswith("[")
    return texts[0] if alone else json.dumps(list(texts), ensure_ascii=False)


def _texts(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(clean(text) for text in _split(value, by_line=name != "answers"))
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(clean(item) for item in value)
    raise InvalidInput.of(name, f"{name}: must be a list of texts.")


def _split(cell: str, *, by_line: bool) -> list[str]:
    """Questions may stand one a line; an answer may have lines of its own."""
    if cell.lstrip().startswith("["):
        try:
            listed = json.loads(cell)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and all(isinstance(item, str) for item in listed):
            return listed
    parts = cell.split(SEPARATOR)
    return [line for part in parts for line in part.splitlines()] if by_line else parts


def _switch(name: str, value: object, *, default: bool) -> bool:
    if value is None or value == "":
        return default
    if isinstance(value, bool):
        return value
    known = _WORDS.get(str(value).strip().lower())
    if known is None:
        raise InvalidInput.of(name, f"{name}: must be yes or no.")
    return known


def _strategy(value: object) -> str:
    known = _STRATEGIES.get(str(value or "").strip().lower())
    if known is None:
        raise InvalidInput.of("answer_strategy", "The answer strategy is 'all' or 'random'.")
    return known
