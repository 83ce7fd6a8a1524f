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
    """503 while something that is needed does not work. Paths and addresses are told by `/api/v1/system/info` only."""
    report = await app.ready()
    checks = [{"name": check["name"], "ok": check["ok"]} for check in report["checks"]]
    return JSONResponse({"ready": report["ready"], "checks": checks}, status_code=200 if report["ready"] else 503)
