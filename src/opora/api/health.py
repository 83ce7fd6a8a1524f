"""Whether the process lives, and whether it can serve; asked by supervisors, without a key."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from opora.api.principal import Opora

router = APIRouter(tags=["health"])


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> Response:
    return JSONResponse({"status": "ok"})


@router.get("/readyz", summary="Can it serve?")
async def readyz(app: Opora) -> Response:
    """503 while something that is needed is missing; the checks say what."""
    report = await app.ready()
    return JSONResponse(report, status_code=200 if report["ready"] else 503)
