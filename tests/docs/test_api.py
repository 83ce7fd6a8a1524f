"""The routes, fields and errors of the guide are those of the server, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opora.api.app import create_app
from opora.api.errors import _PLAIN, STATUS_AND_NUMBER
from opora.domain.search import SearchResult
from opora.settings import Settings
from opora.stream.results import result_json

GUIDE = "docs/api.md"
_ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`]*)`")


@pytest.fixture
def described(tmp_path: Path) -> Mapping[str, Any]:
    return create_app(SimpleNamespace(settings=Settings(data=tmp_path))).openapi()


def test_every_route_is_told_and_every_told_route_is_there(
    described: Mapping[str, Any], text: Callable[[str], str]
) -> None:
    there = {(method.upper(), path) for path, item in described["paths"].items() for method in item}
    told = _ROUTE.findall(text(GUIDE))
    assert set(told) == there
    assert len(told) == len(set(told))


@pytest.mark.parametrize("guide", ["docs/answers.md", "docs/documents.md", "docs/operations.md"])
def test_routes_that_other_guides_name_are_there(
    guide: str, described: Mapping[str, Any], text: Callable[[str], str]
) -> None:
    for method, path in _ROUTE.findall(text(guide)):
        assert method.lower() in described["paths"].get(path.partition("?")[0], {}), f"{method} {path}"


def test_every_field_and_parameter_is_told(described: Mapping[str, Any], text: Callable[[str], str]) -> None:
    """In the section that tells the route; paging is told once, in the first."""
    general, *sections = text(GUIDE).split("\n## ")[1:]
    for section in sections:
        told = {name.lower() for name in re.findall(r"`([\w-]+)`", general + section)}
        for method, path in _ROUTE.findall(section):
            for name in fields_of(described, described["paths"][path][method.lower()]):
                assert name.lower() in told, f"{method} {path}: {name}"


def fields_of(described: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    yield from (one["name"] for one in operation.get("parameters", ()) if one["in"] != "path")
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from names_in(described, content["schema"])


def names_in(described: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Names of fields, of the fields of their objects too; retrieval settings have a guide of their own."""
    for option in (schema, *schema.get("anyOf", ())):
        if "$ref" in option:
            name = option["$ref"].rsplit("/", 1)[-1]
            if name != "Overrides":
                yield from names_in(described, described["components"]["schemas"][name])
    for name, field in schema.get("properties", {}).items():
        yield name
        yield from names_in(described, field)


def test_every_error_is_told(rows: Any) -> None:
    told = {row[2].strip("`"): (int(row[0]), int(row[1])) for row in rows(GUIDE, "status")}
    expected = dict(STATUS_AND_NUMBER) | {name: (status, number) for status, (number, name) in _PLAIN.items()}
    assert told == expected


def test_the_fields_of_a_result_are_told(text: Callable[[str], str]) -> None:
    result = SearchResult(chunk_id="c", base_id="b", tenant_id="t", document_id="d", content="x")
    section = re.search(r"A result has (.*?)\. ", text(GUIDE))
    assert section is not None
    assert re.findall(r"`(\w+)`", section[1]) == list(result_json(result))
