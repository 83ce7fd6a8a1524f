"""Reads a question from a message, field by field: what a door without a schema of its own is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opora.domain.context import ContextQuery
from opora.domain.errors import InvalidInput
from opora.domain.search import DOOR_MATCH_COUNT, SearchMode

FIELDS = ("query", "search_type", "limit", "min_similarity", "knowledge_base_ids", "knowledge_ids", "tag_ids")


def query_of(body: Mapping[str, Any]) -> ContextQuery:
    """Left out: a semantic search for ten pieces. Raises `InvalidInput` naming the field that does not fit."""
    question = body.get("query")
    if not isinstance(question, str) or not question.strip():
        raise InvalidInput.of("query", "The request needs a 'query': the question, as a text.")
    try:
        search_type = SearchMode(body.get("search_type") or SearchMode.SEMANTIC)
    except (ValueError, TypeError):
        kinds = ", ".join(mode.value for mode in SearchMode)
        raise InvalidInput.of("search_type", f"'search_type' is one of: {kinds}.") from None
    limit, least = body.get("limit"), body.get("min_similarity")
    if limit is not None and type(limit) is not int:
        raise InvalidInput.of("limit", "'limit' is a whole number.")
    if least is not None and (isinstance(least, bool) or not isinstance(least, int | float)):
        raise InvalidInput.of("min_similarity", "'min_similarity' is a number.")
    return ContextQuery(
        question=question,
        search_type=search_type,
        limit=DOOR_MATCH_COUNT if limit is None else limit,
        min_similarity=least,
        base_ids=_ids(body, "knowledge_base_ids"),
        document_ids=_ids(body, "knowledge_ids"),
        tag_ids=_ids(body, "tag_ids"),
    )


def _ids(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = body.get(name)
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidInput.of(name, f"'{name}' is a list of ids.")
    return tuple(given)
