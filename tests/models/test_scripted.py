"""The scripted chat model says its pieces, fails where told, and keeps what it was asked."""

import asyncio

import pytest

from opora.domain.errors import ModelError
from opora.models.scripted import ScriptedChat
from opora.ports import ChatDelta, ChatMessage, ChatOptions

ASK = (ChatMessage(role="user", content="?"),)


async def test_pieces_then_a_finish() -> None:
    chat = ScriptedChat(["a", ChatDelta(thinking="t")], finish_reason="length")
    deltas = [delta async for delta in chat.stream(ASK, ChatOptions())]
    assert deltas == [ChatDelta(content="a"), ChatDelta(thinking="t"), ChatDelta(finish_reason="length")]
    assert chat.asked == [ASK]


async def test_an_exception_is_raised_where_it_stands() -> None:
    stream = aiter(ScriptedChat(["a", ModelError("x")]).stream(ASK, ChatOptions()))
    assert (await anext(stream)).content == "a"
    with pytest.raises(ModelError):
        await anext(stream)


async def test_the_stream_can_be_held() -> None:
    gate = asyncio.Event()
    task = asyncio.ensure_future(
        anext(aiter(ScriptedChat(["a"], before_each=wait_for(gate)).stream(ASK, ChatOptions())))
    )
    await asyncio.sleep(0)
    assert not task.done()
    gate.set()
    assert (await task).content == "a"


def wait_for(gate: asyncio.Event):  # type: ignore[no-untyped-def]
    async def wait() -> None:
        await gate.wait()

    return wait
