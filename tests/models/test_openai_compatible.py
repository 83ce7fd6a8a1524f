"""Embeddings and chat against a real server on loopback."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from opora.domain.errors import InvalidInput, ModelError
from opora.domain.pictures import Picture
from opora.models.openai_compatible import OpenAIChat, OpenAIEmbedder, read_embeddings
from opora.ports import ChatDelta, ChatMessage, ChatOptions

from .conftest import Provider

KEY = "sk-very-secret-key"
ASK = [ChatMessage(role="user", content="Когда?")]


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 2.0]


async def floats(request: Request) -> Response:
    texts = (await request.json())["input"]
    data = [{"index": number, "embedding": vector(text)} for number, text in enumerate(texts)]
    return JSONResponse({"data": data[::-1]})


async def packed(request: Request) -> Response:
    texts = (await request.json())["input"]
    rows = [base64.b64encode(np.array(vector(text), "<f4").tobytes()).decode() for text in texts]
    return JSONResponse({"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]})


@pytest.mark.parametrize("handler", [floats, packed])
async def test_vectors_are_matched_by_index(provider: Provider, handler: object) -> None:
    provider.handler = handler  # type: ignore[assignment]
    embedder = OpenAIEmbedder(provider.url + "/", "some-model", key=KEY, passage_prefix="p: ")
    rows = await embedder.embed_passages(["a", "bbb"])
    assert rows.tolist() == [vector("p: a"), vector("p: bbb")]
    assert (await embedder.embed_query("cc")).tolist() == vector("cc")
    assert provider.requests[0] == {"model": "some-model", "input": ["p: a", "p: bbb"], "encoding_format": "float"}
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
    await embedder.close()


@pytest.mark.parametrize(
    "answer",
    [
        {"data": [{"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]},
        {"data": [{"index": 1, "embedding": [1.0]}, {"index": 2, "embedding": [2.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [2.0, 3.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": None}]},
        {"data": [{"index": 0, "embedding": "!!"}, {"index": 1, "embedding": "AA=="}]},
        {"data": None},
        {"error": "x"},
        [],
        "text",
    ],
)
def test_an_answer_that_does_not_fit_is_refused(answer: object) -> None:
    with pytest.raises(ModelError):
        read_embeddings(json.dumps(answer).encode(), 2)


def test_vectors_without_an_index_are_taken_in_order() -> None:
    raw = json.dumps({"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}).encode()
    assert read_embeddings(raw, 2).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("status", "final", "hint"),
    [(401, True, "OPORA_CHAT_KEY"), (404, True, "OPORA_CHAT_MODEL"), (429, False, "later"), (500, False, "later")],
)
async def test_a_refusal_is_named_and_the_key_is_not(provider: Provider, status: int, final: bool, hint: str) -> None:
    async def refuse(request: Request) -> Response:
        body = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
        return JSONResponse(body, status_code=status, headers={"retry-after": "7"})

    provider.handler = refuse
    chat = OpenAIChat(provider.url, "m", key=KEY)
    with pytest.raises(ModelError) as caught:
        await anext(aiter(chat.stream(ASK, ChatOptions())))
    error = caught.value
    assert error.details == {"status": status, "final": final, "retry_after": 7.0}
    assert hint in error.hint
    chain = error
    while chain is not None:
        assert KEY not in f"{chain!r} {chain} {vars(chain)}"
        chain = chain.__cause__ or chain.__context__  # type: ignore[assignment]
    await chat.close()


async def test_an_unreachable_service_is_a_model_error_with_a_hint() -> None:
    listening = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    listening.close()
    await listening.wait_closed()
    embedder = OpenAIEmbedder(f"http://127.0.0.1:{port}/v1", "m")
    with pytest.raises(ModelError) as caught:
        await embedder.embed_query("a")
    assert caught.value.hint
    assert not caught.value.details["final"]
    await embedder.close()


async def test_a_redirect_to_an_inner_address_is_not_followed(provider: Provider) -> None:
    async def redirect(request: Request) -> Response:
        return Response(status_code=307, headers={"location": "http://169.254.169.254/latest"})

    provider.handler = redirect
    embedder = OpenAIEmbedder(provider.url, "m")
    with pytest.raises(ModelError, match="307"):
        await embedder.embed_query("a")
    await embedder.close()


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIChat("localhost:11434", "m")
    assert "OPORA_CHAT_URL" in caught.value.hint


async def gather_content(stream: AsyncIterator[ChatDelta], into: list[str]) -> None:
    async for delta in stream:
        into.append(delta.content)  # noqa: PERF401 - what came before a failure is kept


def sse(*events: object) -> list[bytes]:
    return [f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in events]


async def test_a_chat_streams_and_ends(provider: Provider) -> None:
    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for word in ("После", " возвращения"):
                yield sse({"choices": [{"delta": {"content": word}}]})[0]
            yield sse({"choices": [{"delta": {}, "finish_reason": "stop"}]})[0]
            yield b"data: [DONE]\n\n"

        return StreamingResponse(body(), media_type="text/event-stream")

    provider.handler = answer
    chat = OpenAIChat(provider.url, "m")
    deltas = [delta async for delta in chat.stream(ASK, ChatOptions(temperature=0.1, max_tokens=5))]
    assert "".join(delta.content for delta in deltas) == "После возвращения"
    assert deltas[-1].finish_reason == "stop"
    asked = provider.requests[0]
    assert asked["messages"] == [{"role": "user", "content": "Когда?"}]
    assert (asked["stream"], asked["temperature"], asked["max_tokens"]) == (True, 0.1, 5)
    assert not {"top_p", "seed"} & set(asked)
    assert "authorization" not in provider.headers[0]
    await chat.close()


async def test_a_connection_that_breaks_is_a_model_error_after_the_text(provider: Provider) -> None:
    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            yield sse({"choices": [{"delta": {"content": "Да"}}]})[0]

        return StreamingResponse(body(), media_type="text/event-stream", headers={"content-length": "10000"})

    provider.handler = answer
    chat = OpenAIChat(provider.url, "m")
    got: list[str] = []
    with pytest.raises(ModelError):
        await gather_content(chat.stream(ASK, ChatOptions()), got)
    assert got == ["Да"]
    await chat.close()


async def test_leaving_a_stream_closes_the_connection(provider: Provider) -> None:
    left = asyncio.Event()

    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            try:
                yield sse({"choices": [{"delta": {"content": "Да"}}]})[0]
                await asyncio.Event().wait()
            finally:
                left.set()

        return StreamingResponse(body(), media_type="text/event-stream")

    provider.handler = answer
    chat = OpenAIChat(provider.url, "m")
    stream = chat.stream(ASK, ChatOptions())
    assert (await anext(aiter(stream))).content == "Да"
    await stream.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(left.wait(), 10)
    await chat.close()


async def test_a_server_that_does_not_stream_is_understood(provider: Provider) -> None:
    async def answer(request: Request) -> Response:
        return JSONResponse({"choices": [{"message": {"content": "Да"}, "finish_reason": "stop"}]})

    provider.handler = answer
    chat = OpenAIChat(provider.url, "m")
    deltas = [delta async for delta in chat.stream(ASK, ChatOptions())]
    assert [(delta.content, delta.finish_reason) for delta in deltas] == [("Да", "stop")]
    await chat.close()


async def test_an_error_page_with_status_200_is_no_answer(provider: Provider) -> None:
    async def answer(request: Request) -> Response:
        return PlainTextResponse("<html>login</html>")

    provider.handler = answer
    chat = OpenAIChat(provider.url, "m")
    with pytest.raises(ModelError):
        await anext(aiter(chat.stream(ASK, ChatOptions())))
    await chat.close()


@pytest.mark.parametrize(
    ("provider_name", "thinking", "fields"),
    [
        ("openai", True, {"reasoning_effort": "medium"}),
        ("openai", False, {"reasoning_effort": "minimal"}),
        ("ollama", False, {"reasoning_effort": "none"}),
        ("vllm", False, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("qwen", True, {"enable_thinking": True}),
        ("deepseek", False, {"thinking": {"type": "disabled"}}),
        ("vllm", None, {}),
    ],
)
async def test_options_are_passed_on_and_thinking_in_the_providers_words(
    provider: Provider, provider_name: str, thinking: bool | None, fields: dict[str, object]
) -> None:
    async def answer(request: Request) -> Response:
        return JSONResponse({"choices": [{"message": {"content": "Да"}, "finish_reason": "stop"}]})

    provider.handler = answer
    chat = OpenAIChat(provider.url, "m", provider=provider_name)
    options = ChatOptions(top_p=0.5, seed=7, thinking=thinking)
    assert [delta.content async for delta in chat.stream(ASK, options)] == ["Да"]
    asked = provider.requests[0]
    assert (asked["top_p"], asked["seed"]) == (0.5, 7)
    beside = set(asked) - {"model", "messages", "temperature", "max_tokens", "stream", "top_p", "seed"}
    assert {name: asked[name] for name in beside} == fields
    await chat.close()


def test_a_provider_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no provider"):
        OpenAIChat("http://127.0.0.1/v1", "m", provider="acme")


async def test_pictures_stand_before_the_text_of_their_message(provider: Provider) -> None:
    async def handler(request: Request) -> Response:
        return JSONResponse({"choices": [{"message": {"content": "Да"}, "finish_reason": "stop"}]})

    provider.handler = handler  # type: ignore[assignment]
    chat = OpenAIChat(provider.url, "m", sees_images=True)
    pictures = (Picture(image_id="a", media_type="image/png", data=b"\x89PNG"),)
    asked = [ChatMessage(role="system", content="s"), ChatMessage(role="user", content="Что это?", pictures=pictures)]
    async for _ in chat.stream(asked, ChatOptions()):
        pass
    assert provider.requests[0]["messages"] == [
        {"role": "system", "content": "s"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                {"type": "text", "text": "Что это?"},
            ],
        },
    ]
    assert chat.sees_images
    await chat.close()
