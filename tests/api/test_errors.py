"""Every error has its status, its number and one envelope; what is foreign looks like what is absent."""

from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI

from opora.api import errors
from opora.domain import errors as domain
from opora.domain.errors import OporaError


def all_errors(root: type[OporaError] = OporaError) -> Iterator[type[OporaError]]:
    yield root
    for child in root.__subclasses__():
        yield from all_errors(child)


def client(raised: Exception) -> httpx2.AsyncClient:
    app = FastAPI()
    errors.install(app)

    async def fail() -> None:
        raise raised

    app.add_api_route("/", fail, methods=["GET"])
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")


def test_every_code_of_the_domain_has_a_status_and_a_number() -> None:
    assert {error.code for error in all_errors() if error.__module__ == domain.__name__} == set(
        errors.STATUS_AND_NUMBER
    )


@pytest.mark.parametrize(
    ("raised", "status", "number"),
    [
        (domain.TooLarge("m"), 413, 1000),
        (domain.Unauthenticated("m"), 401, 1001),
        (domain.Conflict("m"), 409, 1005),
        (domain.Busy("m"), 429, 1006),
        (domain.EngineError("m"), 503, 1008),
        (domain.ModelNotConfigured("m"), 503, 1008),
        (domain.Timeout("m"), 504, 1009),
        (domain.InvalidInput("m"), 422, 1010),
        (domain.ParseFailed("no_text", "m"), 422, 1010),
        (domain.DimensionMismatch("m"), 409, 2200),
        (domain.DimensionMismatch("m", details={"of": "query"}), 409, 2201),
        (OporaError("m"), 500, 1007),
    ],
)
async def test_statuses_and_numbers(raised: OporaError, status: int, number: int) -> None:
    async with client(raised) as http:
        response = await http.get("/")
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert response.json()["success"] is False
    assert response.json()["error"]["code"] == number
    assert response.json()["error"]["name"] == raised.code


async def test_message_hint_and_details_are_told() -> None:
    async with client(domain.InvalidInput.of("name", "Слишком длинно.", hint="Короче.")) as http:
        response = await http.get("/")
    assert response.json()["error"] == {
        "code": 1010,
        "name": "invalid_input",
        "message": "Слишком длинно.",
        "details": {"field": "name"},
        "hint": "Короче.",
    }
    assert "Слишком" in response.text


async def test_foreign_and_absent_are_answered_with_the_same_bytes() -> None:
    bodies = []
    for raised in (
        domain.NotFound("no document d-1", details={"document_id": "d-1"}),
        domain.Forbidden("owned by tenant B", hint="ask B"),
    ):
        async with client(raised) as http:
            response = await http.get("/")
            bodies.append((response.status_code, response.content))
            unknown = await http.get("/no/such/route")
            bodies.append((unknown.status_code, unknown.content))
    assert len(set(bodies)) == 1
    assert bodies[0][0] == 404


async def test_problem_details_for_those_who_ask() -> None:
    async with client(domain.Busy("m", hint="h", details={"a": 1})) as http:
        response = await http.get("/", headers={"Accept": "application/problem+json, application/json;q=0.5"})
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "urn:opora:error:busy",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "m",
        "code": 1006,
        "name": "busy",
        "details": {"a": 1},
        "hint": "h",
    }
    assert response.headers["Retry-After"] == "5"


async def test_a_wrong_method() -> None:
    async with client(OporaError("m")) as http:
        response = await http.post("/")
    assert (response.status_code, response.json()["error"]["code"]) == (405, 1004)
    assert response.headers["allow"] == "GET"


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b'{"name": }', "application/json", "body: is no JSON from character 9 on: "),
        (b"name=a", "application/x-www-form-urlencoded", "body: must be a JSON object"),
        (b'{"name": "a"}', "text/plain", "body: must be a JSON object"),
        (b"[1]", "application/json", "body: must be a JSON object"),
        (b"", "application/json", "body: Field required"),
    ],
)
async def test_a_body_that_is_no_json_object_is_told_what_to_send(
    http: httpx2.AsyncClient, content: bytes, kind: str, message: str
) -> None:
    response = await http.post("/api/v1/knowledge-bases", content=content, headers={"Content-Type": kind})
    error = response.json()["error"]
    assert response.status_code == 422
    assert error["message"].startswith(message)
    assert error["details"]["field"] == "body"
    assert "Content-Type: application/json" in error["hint"]
