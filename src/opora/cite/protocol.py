"""The rule of citing that is added to the system prompt, outside every template that people edit."""

from __future__ import annotations

_ON = {
    "ru": (
        "Ссылки на источники. У каждого отрывка есть метка: c1, c2, … у отрывков базы знаний, w1, w2, … у страниц "
        'сети. Сразу после утверждения, взятого из отрывка, ставь <ref id="c1"/> с меткой именно этого отрывка; '
        "если источников несколько, поставь несколько таких тегов подряд. Бери только те метки, что даны в этом "
        "запросе, не придумывай новых и не ставь <ref> внутри кода. Теги <kb> и <web> сам не пиши: их ставит "
        "программа. То, чего в отрывках нет, оставляй без ссылки."
    ),
    "zh": (
        "引用规则。每段资料都有编号:知识库片段为 c1、c2……,网页为 w1、w2……。凡是取自某段资料的陈述,"
        '请紧跟其后写上 <ref id="c1"/>,编号必须正是那一段的编号;来源不止一个时,连续写多个标签。'
        "只能使用本次给出的编号,不得编造,也不要把 <ref> 写进代码里。不要自行书写 <kb> 或 <web> 标签,"
        "它们由程序生成。资料中没有的内容不加引用。"
    ),
    "en": (
        "Citing sources. Every passage carries a label: c1, c2, … for passages of the knowledge base, w1, w2, … for "
        'web pages. Directly after a statement that comes from a passage, write <ref id="c1"/> with the label of '
        "that very passage; for several sources, write several such tags in a row. Use only labels given in this "
        "request, never make one up, and put no <ref> inside code. Do not write <kb> or <web> tags yourself: the "
        "program makes them. Leave what no passage says without a citation."
    ),
}

_OFF = {
    "ru": "Ссылки на источники выключены: не ставь в ответе ни <ref>, ни <kb>, ни <web>, ни меток отрывков.",
    "zh": "本次回答不使用引用:不要写 <ref>、<kb>、<web> 标签,也不要写资料编号。",
    "en": "Citations are off: write no <ref>, <kb> or <web> tags and no passage labels in the answer.",
}


def protocol_prompt(*, citations_enabled: bool, language: str = "") -> str:
    """The rule in ``ru``, ``zh`` or ``en``; English for any other language."""
    texts = _ON if citations_enabled else _OFF
    return texts.get(language, texts["en"])
