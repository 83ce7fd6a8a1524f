"""Fields that several request bodies share, each with its limits."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from opora.api.envelope import Id
from opora.domain.errors import InvalidInput
from opora.domain.filters import Filter, read_filter
from opora.domain.search import MAX_QUERY_CHARS
from opora.text.folders import MAX_FOLDER_CHARS, clean_folder
from opora.text.query import clean_query

MAX_NAME_CHARS = 255
MAX_DESCRIPTION_CHARS = 4_000
MAX_SOURCE_CHARS = 4_096
MAX_IDS = 1_000


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def _folder(value: str) -> str:
    return clean_folder(value)


def _filter(value: dict[str, Any]) -> dict[str, Any]:
    """Looked at before anything else is done with it; an empty one lets everything through."""
    try:
        if value:
            read_filter(value)
    except InvalidInput as exc:
        raise ValueError(exc.message) from exc
    return value


def question_text(value: str) -> str:
    """The service's own check, made here so that the refusal names the field of this request."""
    try:
        return clean_query(value)
    except InvalidInput as exc:
        raise ValueError(exc.message) from exc


Name = Annotated[str, Field(max_length=MAX_NAME_CHARS), AfterValidator(str.strip), AfterValidator(_not_blank)]
Description = Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)]
QueryText = Annotated[str, Field(max_length=MAX_QUERY_CHARS), AfterValidator(question_text)]
"""Length is counted in characters (code points), not bytes."""
Ids = Annotated[list[Id], Field(max_length=MAX_IDS)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


Folder = Annotated[str, Field(max_length=MAX_FOLDER_CHARS), AfterValidator(_folder)]
MetadataFilter = Annotated[dict[str, Any], AfterValidator(_filter)]


def filter_of(given: dict[str, Any] | None) -> Filter | None:
    return read_filter(given) if given else None


def given(ids: list[str] | None) -> list[str] | None:
    """None for an empty list too: clients send one for 'no restriction'."""
    return ids or None
