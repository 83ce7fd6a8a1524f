"""Pictures beside a question: taken in by content, shown to models that see, described for those that don't."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from opora.bootstrap import App, Models
from opora.chat.pictures import MAX_BYTES, MAX_PICTURES, read_pictures
from opora.domain.conversation import Finish
from opora.domain.errors import InvalidInput, NotFound
from opora.domain.models import ModelKind
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.scripted import ScriptedChat
from opora.pipeline.sight import NOT_SEEN
from opora.settings import Settings

from .conftest import TEXT, Talk

Opened = Callable[..., Awaitable[Talk]]
SEEN = "Скриншот: ошибка E-42 «Проезд не возмещён»"
UNDERSTOOD = (
    '{"rewrite_query": "Когда возмещают расходы на проезд по документам?", "intent": "kb_search",'
    f' "image_description": "{SEEN}"}}'
)


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 8), *, noise: bool = False) -> bytes:
    image = Image.new("RGB", size, (200, 30, 30))
    if noise:
        image = Image.frombytes("RGB", size, random.Random(7).randbytes(size[0] * size[1] * 3))
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_picture_is_what_its_bytes_say_not_what_it_is_called(kind: str) -> None:
    (read,) = read_pictures([url(picture(kind), "image/x-anything")])
    assert read.media_type == f"image/{kind.lower()}"
    assert read.data == picture(kind)


def test_the_same_picture_twice_is_one() -> None:
    assert len(read_pictures([url(picture())] * 2)) == 1


def test_a_large_picture_is_made_smaller() -> None:
    large = picture(size=(1500, 1200), noise=True)
    assert len(large) > MAX_BYTES
    (read,) = read_pictures([url(large)])
    assert read.media_type == "image/jpeg"
    assert len(read.data) <= MAX_BYTES


@pytest.mark.parametrize(
    "given",
    [
        "https://example.org/x.png",
        "file:///etc/passwd",
        "data:text/html;base64,PGI+",
        "data:image/png;base64,не base64",
        url(b"no picture at all"),
        url(picture()[:40]),
        url(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        "data:image/png;base64," + "A" * 15_000_000,
    ],
)
def test_what_is_no_picture_is_refused_and_named(given: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_pictures([given])
    assert refused.value.details["field"] == "images"


def test_a_picture_of_too_many_pixels_and_too_many_pictures_are_refused() -> None:
    with pytest.raises(InvalidInput, match="megapixels"):
        read_pictures([url(picture("PNG", (8_000, 6_000)))])
    with pytest.raises(InvalidInput, match=str(MAX_PICTURES)):
        read_pictures([url(picture())] * (MAX_PICTURES + 1))


def test_a_bomb_is_told_its_pixels_before_it_is_unpacked() -> None:
    out = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(out, "PNG")
    assert len(out.getvalue()) < 100_000
    with pytest.raises(InvalidInput, match="megapixels"):
        read_pictures([url(out.getvalue())])


def test_a_photograph_that_carries_further_pictures_is_taken_as_its_first() -> None:
    out = io.BytesIO()
    first, second = Image.new("RGB", (16, 16), "red"), Image.new("RGB", (16, 16), "blue")
    first.save(out, "MPO", save_all=True, append_images=[second])
    (read,) = read_pictures([url(out.getvalue(), "image/jpeg")])
    assert read.media_type == "image/jpeg"
    shown = Image.open(io.BytesIO(read.data))
    assert (shown.format, shown.getpixel((8, 8))[0] > 200) == ("JPEG", True)


def test_a_picture_made_smaller_stays_upright() -> None:
    image = Image.frombytes("RGB", (2400, 1600), random.Random(7).randbytes(2400 * 1600 * 3))
    turned = image.getexif()
    turned[0x0112] = 6
    out = io.BytesIO()
    image.save(out, "JPEG", quality=100, exif=turned)
    assert len(out.getvalue()) > MAX_BYTES
    (read,) = read_pictures([url(out.getvalue(), "image/jpeg")])
    width, height = Image.open(io.BytesIO(read.data)).size
    assert height > width


def test_a_drawing_without_ground_stands_on_white_when_it_is_made_smaller() -> None:
    noise = Image.frombytes("RGBA", (1300, 1200), random.Random(7).randbytes(1300 * 1200 * 4))
    noise.paste((0, 0, 0, 0), (0, 0, 200, 200))
    out = io.BytesIO()
    noise.save(out, "PNG")
    assert len(out.getvalue()) > MAX_BYTES
    (read,) = read_pictures([url(out.getvalue())])
    assert min(Image.open(io.BytesIO(read.data)).getpixel((50, 50))) > 240


@pytest.fixture
async def opened() -> AsyncIterator[Callable[..., Awaitable[Talk]]]:
    """Opens applications, and closes them whatever the test says."""
    async with AsyncExitStack() as stack:

        async def open_app(path: Path, **models: Any) -> Talk:
            talk = await talk_in(path, **models)
            stack.push_async_callback(talk.app.close)
            return talk

        yield open_app


async def talk_in(tmp_path: Any, **models: Any) -> Talk:
    app = await App.open(Settings(data=tmp_path / "data", embedding="none"), models=Models(embedder=None, **models))
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    base = await app.bases.create(tenant, name="Правила")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=TEXT)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    session = await app.sessions.create(tenant, title="Разговор")
    return Talk(app, scope, session.session_id)


PICTURES = read_pictures([url(picture()), url(picture("JPEG"))])


def pictures_in(prompt: Any) -> list[int]:
    return [len(message.pictures) for message in prompt]


async def test_a_chat_model_that_sees_gets_the_pictures_to_understand_and_to_answer(
    opened: Opened, tmp_path: Path
) -> None:
    chat = ScriptedChat([UNDERSTOOD], sees_images=True)
    talk = await opened(tmp_path, chat=chat)
    await talk.answer("Что это значит?", pictures=PICTURES)
    understanding, answering = chat.asked
    assert pictures_in(understanding) == [0, 2]
    assert "image_description" in understanding[0].content
    assert pictures_in(answering)[-1] == 2
    assert SEEN not in answering[-1].content
    message = await talk.message()
    assert message.trace["query"] == "Когда возмещают расходы на проезд по документам?"
    assert NOT_SEEN not in message.trace["warnings"]


async def test_the_description_is_kept_with_the_first_picture_and_told_with_later_questions(
    opened: Opened, tmp_path: Path
) -> None:
    chat = ScriptedChat([UNDERSTOOD], sees_images=True)
    talk = await opened(tmp_path, chat=chat)
    await talk.answer("Что это значит?", pictures=PICTURES)
    (asked, _) = await talk.app.sessions.messages(talk.scope, talk.session_id, limit=10)
    assert [one.caption for one in asked.beside.images] == [SEEN, ""]
    chat.asked.clear()
    await talk.answer("А подробнее?")
    assert all(pictures_in(prompt) == [0] * len(prompt) for prompt in chat.asked)
    assert any(SEEN in message.content for message in chat.asked[-1] if message.role == "user")


async def test_a_model_for_pictures_looks_where_the_chat_model_does_not_see(opened: Opened, tmp_path: Path) -> None:
    chat, eyes = ScriptedChat(["Ответ."]), ScriptedChat([UNDERSTOOD], sees_images=True)
    talk = await opened(tmp_path, chat=chat, vision=eyes)
    await talk.answer("Что это значит?", pictures=PICTURES)
    assert [pictures_in(prompt) for prompt in eyes.asked] == [[0, 2]]
    (answering,) = chat.asked
    assert not any(pictures_in(answering))
    assert SEEN in answering[-1].content


async def test_without_a_model_that_sees_the_words_are_answered_with_a_warning(opened: Opened, tmp_path: Path) -> None:
    for models in ({"chat": ScriptedChat(["Ответ."])}, {"chat": None}):
        talk = await opened(tmp_path / str(len(models)) / str(models["chat"] is None), **models)
        await talk.answer("Как возмещают расходы на проезд?", pictures=PICTURES)
        message = await talk.message()
        assert message.finish is Finish.COMPLETE
        assert list(message.trace["warnings"]).count(NOT_SEEN) == 1


async def test_pictures_alone_are_a_question_for_a_model_that_sees_and_an_error_without_one(
    opened: Opened, tmp_path: Path
) -> None:
    talk = await opened(tmp_path / "a", chat=ScriptedChat([UNDERSTOOD], sees_images=True))
    await talk.answer("  ", pictures=PICTURES)
    message = await talk.message()
    assert message.trace["query"] == "Когда возмещают расходы на проезд по документам?"
    assert message.finish is Finish.COMPLETE
    talk = await opened(tmp_path / "b", chat=ScriptedChat(["Ответ."]))
    await talk.answer("", pictures=PICTURES)
    message = await talk.message()
    assert message.finish is Finish.ERROR
    assert "OPORA_VISION_MODEL" in message.error_message
    with pytest.raises(InvalidInput):
        await talk.ask("")


@pytest.mark.parametrize(
    ("reply", "query", "seen"),
    [
        ('{"intent": "image_only", "image_description": "Кот"}', "Кот", "Кот"),
        ("Не знаю.", "", ""),
        ('{"rewrite_query": "Сколько длит', "", ""),
        ('{"intent": "kb_search", "image_description": "Не дописа', "Не дописа", "Не дописа"),
        ('{"rewrite_query": "Отпуск?", "ocr_text": "28 дней", "image_caption": "Лист"}', "Отпуск?", "Лист\n28 дней"),
    ],
)  # fmt: skip
async def test_replies_about_pictures_are_read_as_far_as_they_go(
    opened: Opened, tmp_path: Path, reply: str, query: str, seen: str
) -> None:
    talk = await opened(tmp_path, chat=ScriptedChat([reply], sees_images=True))
    await talk.answer("", pictures=PICTURES)
    message = await talk.message()
    (asked, _) = await talk.app.sessions.messages(talk.scope, talk.session_id, limit=10)
    assert message.trace["query"] == query
    assert asked.beside.images[0].caption == seen
    if not query:
        assert message.trace["intent"] == "image_only"


async def test_with_rewriting_off_pictures_are_described_and_the_question_stays(opened: Opened, tmp_path: Path) -> None:
    chat = ScriptedChat([UNDERSTOOD], sees_images=True)
    talk = await opened(tmp_path, chat=chat)
    await talk.answer("Как возмещают проезд?", pictures=PICTURES, overrides={"enable_rewrite": False})
    message = await talk.message()
    assert message.trace["query"] == "Как возмещают проезд?"
    (asked, _) = await talk.app.sessions.messages(talk.scope, talk.session_id, limit=10)
    assert asked.beside.images[0].caption == SEEN


async def test_pictures_are_read_back_by_their_owner_forked_with_their_message_and_deleted_with_it(
    opened: Opened, tmp_path: Path
) -> None:
    talk = await opened(tmp_path, chat=ScriptedChat([UNDERSTOOD], sees_images=True))
    await talk.answer("Что это?", pictures=PICTURES)
    (asked, _) = await talk.app.sessions.messages(talk.scope, talk.session_id, limit=10)
    image_id = asked.beside.images[0].image_id
    assert (await talk.app.branches.picture(talk.scope, asked.message_id, image_id)).data == PICTURES[0].data
    fork = await talk.app.branches.fork(talk.scope, talk.session_id)
    (copied, _) = await talk.app.sessions.messages(talk.scope, fork.session_id, limit=10)
    await talk.app.sessions.delete(talk.scope, talk.session_id)
    with pytest.raises(NotFound):
        await talk.app.branches.picture(talk.scope, asked.message_id, image_id)
    assert await talk.app.branches.pictures_of(talk.scope, copied) == PICTURES


async def test_a_model_of_the_registry_sees_by_its_option_and_is_refused_without_it(
    opened: Opened, tmp_path: Path
) -> None:
    talk = await opened(tmp_path, chat=ScriptedChat(["Ответ."]))
    tenant = await talk.app.access.tenant(LOCAL_PRINCIPAL)
    common = {"kind": ModelKind.CHAT, "provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m"}
    blind = await talk.app.registry.add(tenant, name="blind", **common)
    seeing = await talk.app.registry.add(tenant, name="seeing", options={"vision": True}, **common)
    with pytest.raises(InvalidInput, match="sees no pictures"):
        await talk.ask("Что это?", pictures=PICTURES, vision_model_id=blind.model_id)
    chosen = await talk.app.registry.chosen(tenant, seeing.model_id)
    assert chosen.model is not None
    assert chosen.model.sees_images
    with pytest.raises(InvalidInput, match="true or false"):
        await talk.app.registry.add(tenant, name="x", options={"vision": "yes"}, **common)
