"""The models that this installation works with."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from opora.api.envelope import ok
from opora.api.principal import Caller, Opora

router = APIRouter(prefix="/models", tags=["infrastructure"])


@router.get("", summary="List models")
async def browse(app: Opora, caller: Caller) -> Response:
    return ok(app.models())
