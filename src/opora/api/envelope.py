"""The envelope of every successful answer, and the paging of lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query
from pydantic import AfterValidator
from starlette.responses import Response

from opora.domain.errors import NotFound
from opora.ports import Listed, Page

T = TypeVar("T")

MAX_PAGE_SIZE = 100
MAX_PAGE = 1_000_000
MAX_ID_CHARS = 256


def ok(data: object, *, status: int = 200, **beside: Any) -> Response:
    """``{"success": true, "data": ...}`` with what stands beside the data."""
    body = {"success": True, "data": data, **beside}
    content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    return Response(content.encode("utf-8", "replace"), status_code=status, media_type="application/json")


def listed(found: Listed[T], page: Page, shape: Callable[[T], dict[str, Any]]) -> Response:
    return ok([shape(item) for item in found.items], total=found.total, page=page.page, page_size=page.page_size)


async def _page(
    page: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 1,
    page_size: Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE)] = 20,
) -> Page:
    return Page(page=page, page_size=page_size)


Paging = Annotated[Page, Depends(_page)]


def _id(value: str) -> str:
    """What can't be an id is answered as an id that is not there."""
    if len(value) > MAX_ID_CHARS or not value.isprintable():
        raise NotFound("This is not an id.")
    return value


Id = Annotated[str, AfterValidator(_id)]
