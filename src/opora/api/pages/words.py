"""The words of the server's own pages in Russian, English and Chinese, and which of these a reader gets."""

from __future__ import annotations

from collections.abc import Mapping

from opora.api.pages.presentation_words import PRESENTATION_WORDS

LANGUAGES: Mapping[str, str] = {"ru": "Рус", "en": "Eng", "zh": "中文"}
TAGS: Mapping[str, str] = {"ru": "ru", "en": "en", "zh": "zh-Hans"}
_MAX_ACCEPTED = 20

# Each line: Russian, English, Chinese.
_WORDS: Mapping[str, tuple[str, str, str]] = {
    "tagline": ("Ответы из ваших документов", "Answers from your documents", "来自您文档的答案"),
    "skip": ("К содержанию", "Skip to the content", "跳到内容"),
    "pages": ("Страницы", "Pages", "页面"),
    "chat": ("Беседа", "Conversation", "对话"),
    "search": ("Поиск", "Search", "搜索"),
    "how": ("Как это работает", "How it works", "工作原理"),
    "language": ("Язык", "Language", "语言"),
    "searchTitle": ("Поиск по документам", "Search the documents", "搜索文档"),
    "ask": ("Что найти", "What to look for", "要查找的内容"),
    "find": ("Найти", "Search", "搜索"),
    "modes": ("Как искать", "How to search", "搜索方式"),
    "hybrid": ("вместе", "both", "两者结合"),
    "semantic": ("по смыслу", "by meaning", "按语义"),
    "fulltext": ("по словам", "by words", "按字词"),
    "key": ("Ключ доступа", "Access key", "访问密钥"),
    "keyNeeded": (
        "Этот сервер отвечает только с ключом доступа.",
        "This server answers only with an access key.",
        "此服务器需要访问密钥。",
    ),
    "count": (
        "Найдено фрагментов: {found}. Соседних: {neighbours}.",
        "Pieces found: {found}. Neighbours: {neighbours}.",
        "找到片段：{found}。相邻片段：{neighbours}。",
    ),
    "nothing": (
        "Ничего не нашлось. Попробуйте другие слова или другой способ.",
        "Nothing was found. Try other words or another way of searching.",
        "没有找到内容。请尝试其他字词或搜索方式。",
    ),
    "results": ("Результаты", "Results", "结果"),
    "piece": ("фрагмент {n}", "piece {n}", "片段 {n}"),
    "page": ("стр. {n}", "page {n}", "第 {n} 页"),
    "pagesFromTo": ("стр. {n}–{m}", "pages {n}–{m}", "第 {n}–{m} 页"),
    "sheet": ("лист «{name}»", "sheet “{name}”", "工作表“{name}”"),
    "rows": ("строки {n}–{m}", "rows {n}–{m}", "第 {n}–{m} 行"),
    "openFile": ("файл", "file", "文件"),
    "neighbours": ("Соседние фрагменты", "Neighbours", "相邻片段"),
    "neighbour": (
        "Сосед, фрагмент {n}. Добавлен не за слова вопроса: близость к фрагменту {m} — {score}",
        "Neighbour, piece {n}. Added not for the question’s words: its similarity to piece {m} is {score}",
        "相邻片段 {n}。并非因问题字词而加入：与片段 {m} 的相似度为 {score}",
    ),
    "scoreRrf": ("сумма мест (RRF) {score}", "sum of places (RRF) {score}", "名次之和 (RRF) {score}"),
    "scoreSemantic": (
        "по смыслу: место {rank}, близость {score}",
        "by meaning: place {rank}, similarity {score}",
        "按语义：第 {rank} 名，相似度 {score}",
    ),
    "scoreFulltext": (
        "по словам: место {rank}, оценка {score}",
        "by words: place {rank}, score {score}",
        "按字词：第 {rank} 名，得分 {score}",
    ),
    "errorEmpty": ("Введите вопрос.", "Type a question.", "请输入问题。"),
    "errorLong": (
        "Вопрос слишком длинный: не больше 10 000 знаков.",
        "The question is too long: 10,000 characters at most.",
        "问题过长：最多 10,000 个字符。",
    ),
    "errorModel": (
        (
            "Поиск по смыслу сейчас не работает: нет модели, которая делает векторы, или она не отвечает. Поиск по "
            "словам работает."
        ),
        (
            "Searching by meaning does not work now: there is no model that makes vectors, or it does not answer. "
            "Searching by words works."
        ),
        "目前无法按语义搜索：没有生成向量的模型，或模型未响应。按字词搜索仍可使用。",
    ),
    "errorEngine": (
        "Поисковый движок не отвечает. Попробуйте позже.",
        "The search engine does not answer. Try again later.",
        "搜索引擎未响应。请稍后再试。",
    ),
    "errorOther": ("Не получилось: {message}", "That did not work: {message}", "操作失败：{message}"),
    "byWords": ("Искать по словам", "Search by words", "按字词搜索"),
    **PRESENTATION_WORDS,
}


class Words:
    """The texts of one language, called by key, ``{name}`` filled from the values."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._column = list(LANGUAGES).index(language)

    def __call__(self, key: str, **values: object) -> str:
        return _WORDS[key][self._column].format(**values)

    @property
    def tag(self) -> str:
        return TAGS[self.language]


def words_for(chosen: str, accepted: str) -> Words:
    """In the language that was chosen, else the first that the browser accepts, else English."""
    wanted = [chosen, *(part.split(";")[0].strip() for part in accepted.split(",")[:_MAX_ACCEPTED])]
    for tag in wanted:
        if (short := tag[:2].lower()) in LANGUAGES:
            return Words(short)
    return Words("en")
