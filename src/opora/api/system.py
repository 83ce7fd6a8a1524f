"""What runs here: the version, what it can take, and the checks of its parts."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from opora import __version__
from opora.api.envelope import ok
from opora.api.principal import Caller, Opora

router = APIRouter(prefix="/system", tags=["infrastructure"])


@router.get("/info", summary="About this installation")
async def info(app: Opora, caller: Caller) -> Response:
    settings = app.settings
    report = await app.ready()
    return ok(
        {
            "version": __version__,
            "engine": settings.engine,
            "upload_limit": settings.upload_limit,
            "models": app.models(),
            **report,
        }
    )
