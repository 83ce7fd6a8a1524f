"""A conversation as Markdown."""

from __future__ import annotations

from datetime import UTC, datetime

from opora.chat.export import markdown
from opora.cite.tags import kb_tag, web_tag
from opora.domain.conversation import Attachment, Beside, Finish, Message, Role, Session
from opora.domain.knowledge import Place
from opora.domain.search import SearchResult

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
SESSION = Session(session_id="s", tenant_id="t", user_id="u", title="От\nпуск", created_at=NOW, updated_at=NOW)


def message(role: Role, content: str, **more: object) -> Message:
    return Message(
        message_id=role.value, session_id="s", tenant_id="t", request_id="r", role=role, content=content,
        rendered_content="для модели", created_at=NOW, updated_at=NOW, **more,
    )  # fmt: skip


def test_questions_are_quotations_and_sources_are_numbered_once() -> None:
    cited = kb_tag(title="Правила", chunk_id="c-1", base_id="b", document_id="d")
    page = web_tag(url="https://e.org/a", title="Страница")
    passage = SearchResult(
        chunk_id="c-1", base_id="b", tenant_id="t", document_id="d", content="т",
        place=Place(page=3, page_end=4, heading_path=("Отпуск", "Перенос")),
    )  # fmt: skip
    beside = Beside(quoted_context="Из правил", attachments=(Attachment(name="a.txt", content="тайна"),))
    text = markdown(
        SESSION,
        [
            message(Role.USER, "Сколько?\nИ когда?", beside=beside),
            message(
                Role.ASSISTANT, f"Пять дней {cited}.\n\nДо марта {page}{cited}.", references=(passage,),
                finish=Finish.TRUNCATED,
            ),
        ],
    )  # fmt: skip
    assert text == (
        "# От пуск\n\n*2026-01-02 03:04 UTC*\n\n> Сколько?\n> И когда?\n\n> > Из правил\n\n📎 a.txt\n\n"
        "*2026-01-02 03:04 UTC*\n\nПять дней [1].\n\nДо марта [2] [1].\n\n(truncated)\n\n"
        "1. Правила, pp. 3–4, Отпуск › Перенос\n2. Страница, <https://e.org/a>\n"
    )
    assert "для модели" not in text


def test_a_failed_answer_says_why_and_a_session_without_a_title_has_its_id() -> None:
    failed = message(Role.ASSISTANT, "", finish=Finish.ERROR, error_message="Модель молчит.")
    text = markdown(Session(session_id="s-9", tenant_id="t", user_id="u", created_at=NOW, updated_at=NOW), [failed])
    assert text == "# s-9\n\n*2026-01-02 03:04 UTC*\n\nМодель молчит.\n\n(error)\n"
