"""Reranking against a real server on loopback, in each style."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from opora.domain.errors import InvalidInput, ModelError
from opora.models.rerank_endpoint import PROBE_PASSAGES, PROBE_QUERY, RerankEndpoint
from opora.models.rerank_styles import STYLES

from .conftest import Provider

KEY = "sk-very-secret-key"
UNIT = [style for style, ways in STYLES.items() if ways.is_unit]
OPEN = [style for style, ways in STYLES.items() if not ways.is_unit]
Judge = Callable[[str], float]


def serve(provider: Provider, judge: Judge) -> None:
    """Reply in the style of the request, best first, as services do."""

    async def handler(request: Request) -> Response:
        asked = await request.json()
        texts = asked.get("texts") or asked["documents"]
        name = "score" if "texts" in asked else "relevance_score"
        results = [{"index": place, name: judge(text)} for place, text in enumerate(texts)]
        results.sort(key=lambda result: -result[name])
        return JSONResponse(results if "texts" in asked else {"results": results, "usage": {"total_tokens": 1}})

    provider.handler = handler


def by_length(text: str) -> float:
    return 1.0 - len(text) / 1000


def bodies(provider: Provider) -> list[dict[str, object]]:
    return [asked for asked in provider.requests if asked["query"] != PROBE_QUERY]


@pytest.mark.parametrize("style", STYLES)
async def test_each_style_gives_scores_in_the_order_of_the_passages(provider: Provider, style: str) -> None:
    serve(provider, by_length)
    reranker = RerankEndpoint(provider.url + "/", "some-model", key=KEY, style=style)
    assert await reranker.rerank("вопрос", ["ccc", "a", "bb"]) == [by_length("ccc"), by_length("a"), by_length("bb")]
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
    assert reranker.card.identity == f"{style}/some-model"
    await reranker.close()


@pytest.mark.parametrize(
    ("style", "body"),
    [
        ("jina", {"model": "m", "query": "q", "documents": ["a", "b"], "top_n": 2, "return_documents": False}),
        ("cohere", {"model": "m", "query": "q", "documents": ["a", "b"], "top_n": 2}),
        ("tei", {"query": "q", "texts": ["a", "b"], "truncate": True, "raw_scores": False}),
        ("vllm", {"model": "m", "query": "q", "documents": ["a", "b"], "top_n": 2}),
    ],
)
async def test_each_style_asks_in_its_own_words(provider: Provider, style: str, body: object) -> None:
    serve(provider, by_length)
    reranker = RerankEndpoint(provider.url, "m", style=style)
    await reranker.rerank("q", ["a", "b"])
    assert bodies(provider) == [body]
    await reranker.close()


async def test_the_whole_address_is_understood_too(provider: Provider) -> None:
    serve(provider, by_length)
    reranker = RerankEndpoint(provider.url + "/rerank/", "m", style="cohere")
    assert await reranker.rerank("q", ["a"]) == [by_length("a")]
    await reranker.close()


@pytest.mark.parametrize("style", OPEN)
async def test_logits_go_through_a_logistic(provider: Provider, style: str) -> None:
    logits = {"good": 4.0, "fair": 0.25, "bad": -6.0}
    serve(provider, logits.__getitem__)
    reranker = RerankEndpoint(provider.url, "m", style=style)
    expected = [pytest.approx(1 / (1 + math.exp(-logit))) for logit in logits.values()]
    assert await reranker.rerank("q", list(logits)) == expected
    # Known once, known for replies that could be read either way; no question was asked but the user's.
    assert await reranker.rerank("q", ["fair"]) == [expected[1]]
    assert len(provider.requests) == 2
    await reranker.close()


@pytest.mark.parametrize("style", OPEN)
async def test_a_reply_that_can_be_read_either_way_is_settled_by_a_pair_of_known_distance(
    provider: Provider, style: str
) -> None:
    logits = {"fair": 0.25, PROBE_PASSAGES[0]: 7.0, PROBE_PASSAGES[1]: -9.0}
    serve(provider, logits.__getitem__)
    reranker = RerankEndpoint(provider.url, "m", style=style)
    for _ in range(2):
        assert await reranker.rerank("q", ["fair"]) == [pytest.approx(1 / (1 + math.exp(-0.25)))]
    assert [asked["query"] for asked in provider.requests] == ["q", PROBE_QUERY, "q"]
    await reranker.close()


async def test_probabilities_are_kept_and_cosines_below_zero_are_zero(provider: Provider) -> None:
    serve(provider, {"a": 0.7, "b": -0.2, PROBE_PASSAGES[0]: 0.9, PROBE_PASSAGES[1]: -0.1}.__getitem__)
    reranker = RerankEndpoint(provider.url, "m")
    assert await reranker.rerank("q", ["a", "b"]) == [0.7, 0.0]
    await reranker.close()


async def test_a_probe_that_fails_does_not_cost_the_answer(provider: Provider) -> None:
    async def handler(request: Request) -> Response:
        asked = await request.json()
        if asked["query"] == PROBE_QUERY:
            return JSONResponse({"results": []})
        return JSONResponse({"results": [{"index": 0, "relevance_score": 0.4}]})

    provider.handler = handler
    reranker = RerankEndpoint(provider.url, "m")
    assert [await reranker.rerank("q", ["a"]) for _ in range(2)] == [[0.4], [0.4]]
    assert len(provider.requests) == 3
    await reranker.close()


@pytest.mark.parametrize("style", UNIT)
async def test_a_service_that_promises_zero_to_one_is_not_asked_for_more(provider: Provider, style: str) -> None:
    serve(provider, {"a": 0.4, "b": 3.0}.__getitem__)
    reranker = RerankEndpoint(provider.url, "m", style=style)
    assert await reranker.rerank("q", ["a"]) == [0.4]
    assert len(provider.requests) == 1
    with pytest.raises(ModelError, match="between 0 and 1"):
        await reranker.rerank("q", ["a", "b"])
    await reranker.close()


async def test_more_than_one_request_takes_is_split_and_put_together(provider: Provider) -> None:
    serve(provider, by_length)
    passages = ["x" * (place + 1) for place in range(70)]
    reranker = RerankEndpoint(provider.url, style="tei")
    assert await reranker.rerank("q", passages) == [by_length(passage) for passage in passages]
    assert sorted(len(asked["texts"]) for asked in provider.requests) == [6, 32, 32]  # type: ignore[arg-type]
    await reranker.close()


async def test_one_of_several_requests_that_fails_fails_all(provider: Provider) -> None:
    async def handler(request: Request) -> Response:
        texts = (await request.json())["texts"]
        if len(texts) < 32:
            return JSONResponse({"error": "model is overloaded"}, status_code=429)
        return JSONResponse([{"index": place, "score": 0.5} for place in range(len(texts))])

    provider.handler = handler
    reranker = RerankEndpoint(provider.url, style="tei")
    with pytest.raises(ModelError, match="429"):
        await reranker.rerank("q", ["x"] * 40)
    await reranker.close()


async def test_empty_passages_are_not_sent_and_are_worth_nothing(provider: Provider) -> None:
    serve(provider, by_length)
    reranker = RerankEndpoint(provider.url, "m", style="cohere")
    assert await reranker.rerank("q", ["", "a", " \n"]) == [0.0, by_length("a"), 0.0]
    assert provider.requests[0]["documents"] == ["a"]
    assert await reranker.rerank("q", ["", " "]) == [0.0, 0.0]
    assert await reranker.rerank("q", []) == []
    assert len(provider.requests) == 1
    await reranker.close()


async def test_what_no_service_accepts_is_taken_out_of_texts(provider: Provider) -> None:
    serve(provider, by_length)
    reranker = RerankEndpoint(provider.url, "m", style="cohere")
    await reranker.rerank("q\0\ud800", ["a\0b", "\udfffя"])
    assert provider.requests[0]["query"] == "q  "
    assert provider.requests[0]["documents"] == ["a b", " я"]
    await reranker.close()


@pytest.mark.parametrize(("status", "hint"), [(401, "OPORA_RERANK_KEY"), (404, "OPORA_RERANK_MODEL"), (500, "later")])
async def test_a_refusal_is_named_and_the_key_is_not(provider: Provider, status: int, hint: str) -> None:
    async def refuse(request: Request) -> Response:
        return JSONResponse({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status_code=status)

    provider.handler = refuse
    reranker = RerankEndpoint(provider.url, "m", key=KEY)
    with pytest.raises(ModelError) as caught:
        await reranker.rerank("q", ["a"])
    assert hint in caught.value.hint
    chain: BaseException | None = caught.value
    while chain is not None:
        assert KEY not in f"{chain!r} {chain} {vars(chain)}"
        chain = chain.__cause__ or chain.__context__
    await reranker.close()


async def test_an_error_page_with_status_200_is_no_reply(provider: Provider) -> None:
    async def answer(request: Request) -> Response:
        return PlainTextResponse("<html>login</html>")

    provider.handler = answer
    reranker = RerankEndpoint(provider.url, "m")
    with pytest.raises(ModelError, match="not JSON"):
        await reranker.rerank("q", ["a"])
    await reranker.close()


async def test_an_unreachable_service_is_a_model_error_with_a_hint() -> None:
    listening = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    listening.close()
    await listening.wait_closed()
    reranker = RerankEndpoint(f"http://127.0.0.1:{port}", "m")
    with pytest.raises(ModelError) as caught:
        await reranker.rerank("q", ["a"])
    assert caught.value.hint
    await reranker.close()


async def test_leaving_closes_the_connection(provider: Provider) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def handler(request: Request) -> Response:
        asked.set()
        assert (await request.receive())["type"] == "http.disconnect"
        left.set()
        return Response()

    provider.handler = handler
    reranker = RerankEndpoint(provider.url, "m")
    task = asyncio.create_task(reranker.rerank("q", ["a"]))
    await asyncio.wait_for(asked.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(left.wait(), 10)
    await reranker.close()


def test_an_address_or_a_style_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        RerankEndpoint("localhost:8080", "m")
    assert "OPORA_RERANK_URL" in caught.value.hint
    with pytest.raises(InvalidInput) as caught:
        RerankEndpoint("http://localhost:8080", "m", style="openai")
    assert "tei" in caught.value.hint
