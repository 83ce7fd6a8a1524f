"""Real processes and the official client: over standard streams and over HTTP the same tools give the same results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp import ClientSession

QUESTION = "Когда возмещают проезд?"
TEXT = (
    "# Командировки\n\nРасходы на проезд возмещают после возвращения из поездки.\n\n"
    "# Отпуск\n\nTen days may be carried over.\n"
)
TOOLS = ["context_search", "list_knowledge_bases", "list_documents", "get_document", "ask"]


def environment(folder: Path, **changes: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OPORA_", "RETRIEVE_"))}
    return inherited | {"OPORA_DATA": str(folder), "OPORA_EMBEDDING": "none", "NO_COLOR": "1"} | changes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mcp")
    (place / "files").mkdir()
    (place / "files" / "правила.md").write_text(TEXT, encoding="utf-8")
    command = [sys.executable, "-m", "opora.cli", "ingest", str(place / "files")]
    subprocess.run(command, env=environment(place / "data"), check=True, capture_output=True)
    return place / "data"


@asynccontextmanager
async def over_streams(folder: Path, **changes: str) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "opora.cli", "mcp"], env=environment(folder, **changes)
    )
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        yield session


@contextmanager
def serving(folder: Path, **changes: str) -> Iterator[str]:
    command = [sys.executable, "-m", "opora.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment(folder, **changes), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[3]
        finally:
            process.terminate()


@asynccontextmanager
async def over_http(address: str, key: str = "") -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(f"{address}/mcp", http_client=http) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


async def told(session: ClientSession, tool: str, **given: Any) -> Any:
    result = await session.call_tool(tool, given)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def seen(session: ClientSession) -> dict[str, Any]:
    """What all the tools that change nothing say."""
    listed = await session.list_tools()
    (base,) = (await told(session, "list_knowledge_bases"))["knowledge_bases"]
    (document,) = (await told(session, "list_documents", knowledge_base=base["name"].upper()))["documents"]
    return {
        "tools": [tool.model_dump() for tool in listed.tools],
        "bases": base,
        "documents": document,
        "text": await told(session, "get_document", document_id=document["id"]),
        "second": await told(session, "get_document", document_id=document["id"], first_chunk="2", count="1"),
        "search": await told(session, "context_search", query=QUESTION, search_type="fulltext", limit="1"),
        "in_base": await told(
            session, "context_search", query="carried", search_type="fulltext", knowledge_bases=base["name"]
        ),
    }


async def test_both_ways_give_the_same_tools_and_results(folder: Path) -> None:
    async with over_streams(folder) as session:
        alone = await seen(session)
    with serving(folder) as address:
        async with over_http(address) as session:
            served = await seen(session)
        async with over_streams(folder) as session:
            beside = await seen(session)
    assert alone == served == beside
    assert [tool["name"] for tool in alone["tools"]] == TOOLS
    (found,) = alone["search"]["results"]
    assert "после возвращения" in found["content"]
    assert found["document"]["file_name"] == "правила.md"
    numbers = [chunk["number"] for chunk in alone["text"]["chunks"]]
    assert numbers == list(range(1, alone["text"]["total_chunks"] + 1))
    assert alone["text"]["next_chunk"] is None
    assert [chunk["number"] for chunk in alone["second"]["chunks"]] == [2]
    assert "Ten days" in alone["in_base"]["results"][0]["content"]


async def test_a_question_is_answered_with_checked_citations_and_in_its_conversation(folder: Path) -> None:
    steps: list[str | None] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async with over_streams(folder) as session:
        result = await session.call_tool("ask", {"question": QUESTION}, progress_callback=progress)
        answer: Any = result.structured_content
        again = await told(session, "ask", question="А за границу?", session_id=answer["session_id"])
    assert "после возвращения" in answer["answer"]
    assert "[1]" in answer["answer"]
    assert "<" not in answer["answer"]
    assert answer["citations"][0]["support"] == "supported"
    assert "проезд" in answer["citations"][0]["quote"]
    assert again["session_id"] == answer["session_id"]
    assert steps, "the client was told how far it is"


MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    ("context_search", {}, "'query' is missing"),
    ("context_search", {"query": "x", "search_type": "magic"}, "semantic, fulltext, hybrid"),
    ("context_search", {"query": "x", "limit": "51", "search_type": "fulltext"}, "from 1 to 50"),
    ("context_search", {"query": "x" * 10_001, "search_type": "fulltext"}, "10,000 characters"),
    ("context_search", {"query": "x", "knowledge_bases": ["Нет такой"]}, "There are: Documents"),
    ("context_search", {"query": "проезд", "search_type": "hybrid"}, "embedding model"),
    ("get_document", {"document_id": "../knowledge-bases"}, "is no id"),
    ("get_document", {"document_id": "0" * 26}, "nothing here under this id"),
    ("list_documents", {"knowledge_base": ""}, "'knowledge_base' is"),
    ("ask", {"question": "x", "session_id": "gone"}, "nothing here under this id"),
    ("no_such_tool", {}, "context_search"),
]


async def test_a_call_that_does_not_fit_is_an_error_of_the_tool_that_says_how_to_mend_it(folder: Path) -> None:
    async with over_streams(folder) as session:
        for tool, given, word in MISTAKES:
            result = await session.call_tool(tool, given)
            assert result.is_error, (tool, given)
            assert word in result.content[0].text
        assert (await session.list_tools()).tools


async def test_a_key_opens_the_door_over_http(folder: Path) -> None:
    with serving(folder, OPORA_API_KEY="key-of-the-test") as address:
        async with httpx2.AsyncClient() as http:
            for headers in ({}, {"Authorization": "Bearer wrong"}):
                refused = await http.post(f"{address}/mcp", json={"jsonrpc": "2.0"}, headers=headers)
                assert refused.status_code == 401
            foreign = await http.post(f"{address}/mcp", json={}, headers={"Origin": "http://evil.example"})
            assert foreign.status_code == 403
        async with over_http(address, "key-of-the-test") as session:
            assert (await told(session, "list_knowledge_bases"))["total"] == 1


LINES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "context_search", "arguments": {"query": "проезд", "search_type": "fulltext"}}},
    {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "context_search", "arguments": {}}},
    {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "no_such_tool", "arguments": {}}},
    "это не JSON",
    {"jsonrpc": "2.0", "id": 6, "method": "tools/list"},
]  # fmt: skip
NOISE = """
import sys, warnings
from opora.mcp import tools
kind = type(tools.TOOLS[0])
async def noisy(service, given, progress):
    print("шум")
    warnings.warn("a warning")
    return await tools.context_search(service, given, progress)
values = {name: getattr(tools.TOOLS[0], name) for name in kind.__slots__}
tools.BY_NAME["context_search"] = kind(**values | {"run": noisy})
from opora.cli import main
sys.argv = ["opora", "mcp"]
main()
"""


def test_standard_output_is_the_wire_and_nothing_else(folder: Path) -> None:
    """Logging at its loudest, a tool that prints and warns, a line that is no JSON: each line out is one message."""
    command = [sys.executable, "-c", NOISE]
    with subprocess.Popen(
        command,
        env=environment(folder, OPORA_LOG_LEVEL="DEBUG"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            replies: dict[int, Any] = {}
            raw: list[bytes] = []
            for message in LINES:
                line = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
                wanted = message.get("id") if isinstance(message, Mapping) else None
                while wanted is not None and wanted not in replies:
                    raw.append(process.stdout.readline())
                    reply = json.loads(raw[-1].decode("utf-8"))
                    assert reply["jsonrpc"] == "2.0"
                    replies[reply.get("id")] = reply
            children = psutil.Process(process.pid).children(recursive=True)
            process.stdin.close()
            assert process.wait(30) == 0
            rest, errors = process.stdout.read(), process.stderr.read().decode()  # type: ignore[union-attr]
        finally:
            process.kill()
    assert rest == b""
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in raw)
    assert "шум" in errors
    assert "a warning" in errors
    assert "проезд" in replies[3]["result"]["content"][0]["text"]
    assert replies[4]["result"]["isError"]
    assert replies[5]["result"]["isError"]
    assert [tool["name"] for tool in replies[6]["result"]["tools"]] == TOOLS
    assert not [child for child in children if child.is_running()]
