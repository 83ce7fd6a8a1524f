"""What comes back from the service, from something that is not Opora, and from nothing at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from opora.cli.answer import INTERRUPTED, Answer, Printer, answer_of
from opora.cli.client import ApiError, Client
from opora.cli.transport import InProcessTransport

Handler = Callable[[httpx2.Request], httpx2.Response]
START = {"response_type": "agent_query", "assistant_message_id": "m", "session_id": "s"}
END = {"response_type": "complete", "done": True, "data": {"finish": "complete"}}


def client_over(handler: Handler) -> Client:
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(handler), base_url="http://127.0.0.1:1")
    return Client(http, address="http://127.0.0.1:1")


def frames(*events: dict[str, Any]) -> bytes:
    return b"".join(
        f"id: {n}\nevent: message\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for n, event in enumerate(events)
    )


def streaming(*pieces: bytes, broken: bool = False) -> Handler:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        if broken:
            raise httpx2.ReadError("reset")

    return lambda request: httpx2.Response(200, content=body())


async def test_the_data_of_an_envelope() -> None:
    client = client_over(lambda request: httpx2.Response(200, json={"success": True, "data": [request.url.path]}))
    assert await client.call("GET", "/models") == ["/api/v1/models"]


@pytest.mark.parametrize(
    ("response", "message", "code"),
    [
        (
            httpx2.Response(
                422, json={"success": False, "error": {"name": "invalid_input", "message": "No.", "hint": "Do."}}
            ),
            "No.",
            "invalid_input",
        ),
        (httpx2.Response(502, content=b"<html>"), "The service answered 502.", ""),
        (httpx2.Response(500, json=[1]), "The service answered 500.", ""),
        (httpx2.Response(200, content=b"<html>"), "What listens at http://127.0.0.1:1 is not Opora.", ""),
    ],
)
async def test_errors_of_the_service(response: httpx2.Response, message: str, code: str) -> None:
    with pytest.raises(ApiError) as caught:
        await client_over(lambda request: response).call("GET", "/models")
    assert (caught.value.message, caught.value.code) == (message, code)


async def test_a_missing_key_says_which_variable_to_set() -> None:
    response = httpx2.Response(401, json={"error": {"name": "unauthenticated", "message": "A key is needed."}})
    with pytest.raises(ApiError) as caught:
        await client_over(lambda request: response).call("GET", "/models")
    assert "OPORA_API_KEY" in caught.value.hint


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpx2.ConnectError("refused"), "unavailable"),
        (httpx2.RemoteProtocolError("cut"), "unavailable"),
        (httpx2.ReadTimeout("slow"), "timeout"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_unavailable(error: Exception, code: str) -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise error

    with pytest.raises(ApiError) as caught:
        await client_over(broken).call("GET", "/models")
    assert (caught.value.code, caught.value.status) == (code, 0)
    assert "127.0.0.1:1" in caught.value.message


async def test_all_pages_of_a_list_are_read_and_a_row_that_slid_is_counted_once() -> None:
    rows = [{"id": str(number)} for number in range(230)]

    def page(request: httpx2.Request) -> httpx2.Response:
        first = (int(request.url.params["page"]) - 1) * 100
        return httpx2.Response(200, json={"data": rows[max(0, first - 1) : first + 100], "total": len(rows)})

    assert await client_over(page).every("/knowledge-bases") == rows


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_frames_end_at_line_feeds_only(size: int) -> None:
    """Texts hold separators that look like line ends to a splitter of lines."""
    event = {"response_type": "answer", "content": "a\u2028b\u2029c\u0085d\x1ce\x0bf"}
    data = b": keep-alive\n\n" + frames(START, event, END)
    client = client_over(streaming(*(data[at : at + size] for at in range(0, len(data), size))))
    assert [found async for found in client.events("/knowledge-chat/s", {})] == [START, event, END]


@pytest.mark.parametrize("finish", ["complete", "truncated", "stopped", "nothing_found", "error"])
async def test_the_five_ends_of_an_answer_are_passed_on(finish: str) -> None:
    end = {"response_type": "complete", "data": {"finish": finish}}
    piece = {"response_type": "answer", "content": "Text", "data": {"extractive": True}}
    answer = await answer_of(client_over(streaming(frames(START, piece, end))), "s", {})
    assert answer.as_dict() == {
        "answer": "Text",
        "references": [],
        "session_id": "s",
        "message_id": "m",
        "finish": finish,
    }
    assert answer.extractive


async def test_an_interrupted_answer_is_an_error_that_keeps_what_was_written() -> None:
    end = {"response_type": "complete", "data": {"finish": "interrupted"}}
    piece = {"response_type": "answer", "content": "Half"}
    answer = await answer_of(client_over(streaming(frames(START, piece, end))), "s", {})
    assert (answer.finish, answer.text, answer.error) == ("error", "Half", INTERRUPTED)
    assert answer.as_dict()["error"] == INTERRUPTED


@pytest.mark.parametrize("broken", [True, False], ids=["broken", "ended early"])
async def test_a_connection_that_breaks_keeps_what_was_written(broken: bool) -> None:
    piece = {"response_type": "answer", "content": "Half"}
    answer = await answer_of(client_over(streaming(frames(START, piece), broken=broken)), "s", {})
    assert (answer.finish, answer.text) == ("error", "Half")
    assert INTERRUPTED in answer.error


async def test_no_answer_at_all_is_a_failure() -> None:
    with pytest.raises(ApiError) as caught:
        await answer_of(client_over(streaming()), "s", {})
    assert caught.value.code == "unavailable"
    with pytest.raises(ApiError) as caught:
        await answer_of(client_over(streaming(broken=True)), "s", {})
    assert caught.value.status == 0


async def test_the_error_of_a_failed_answer_is_kept() -> None:
    failed = {"response_type": "error", "content": "The model is down.", "done": True}
    end = {"response_type": "complete", "data": {"finish": "error"}}
    answer = await answer_of(client_over(streaming(frames(START, failed, end))), "s", {})
    assert answer.as_dict()["error"] == "The model is down."


async def test_who_breaks_off_stops_the_answer() -> None:
    stopped: list[tuple[str, bytes]] = []
    begun = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield frames(START)
        begun.set()
        await asyncio.Event().wait()

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/stop"):
            stopped.append((request.url.path, request.content))
            return httpx2.Response(200, json={"data": {}})
        return httpx2.Response(200, content=endless())

    asking = asyncio.create_task(answer_of(client_over(handler), "s", {}))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [(path, json.loads(body)) for path, body in stopped] == [("/api/v1/sessions/s/stop", {"message_id": "m"})]


def test_an_answer_is_shown_while_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer()
    for piece in ("\n> On", "e \x1b[1m<kb chunk", '_id="c"/>', "\n\n> Two", " <kb"):
        printer.show(piece, extractive=True)
    assert capsys.readouterr().out.endswith("> One \ufffd[1m [1]\n\n> Two")
    printer.end(extractive=True)
    assert capsys.readouterr().out == " <kb\n"


def test_nothing_is_shown_of_an_empty_answer(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer()
    printer.show("", extractive=True)
    printer.end(extractive=True)
    assert capsys.readouterr().out == ""


def test_unknown_ends_are_errors() -> None:
    answer = Answer("s")
    answer.take({"response_type": "complete", "data": {"finish": "something new"}})
    assert answer.finish == "error"


async def test_inside_the_process_each_piece_is_handed_on_at_once() -> None:
    seen = asyncio.Event()
    left = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["body"] == b"asked"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-a", b"b")]})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await seen.wait()
        await send({"type": "http.response.body", "body": b"two", "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    async with httpx2.AsyncClient(transport=InProcessTransport(app), base_url="http://127.0.0.1") as http:  # noqa: SIM117
        async with http.stream("POST", "/x", content=b"asked") as response:
            assert (response.status_code, response.headers["x-a"]) == (200, "b")
            pieces = response.aiter_raw()
            assert await anext(pieces) == b"one"
            seen.set()
            assert await anext(pieces) == b"two"
    assert left.is_set()


@pytest.mark.parametrize("answers", [True, False], ids=["after its answer", "before it"])
async def test_a_failure_inside_the_process_is_a_failure_of_the_request(answers: bool) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if answers:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError("by nothing")

    async with httpx2.AsyncClient(transport=InProcessTransport(app), base_url="http://127.0.0.1") as http:
        with pytest.raises(ZeroDivisionError):
            await http.get("/x")
