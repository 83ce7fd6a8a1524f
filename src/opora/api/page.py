"""Serves the browser application from the package's own files."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parent / "static"
_REVALIDATE = {"Cache-Control": "no-cache"}


def install(app: FastAPI) -> None:
    """The page at ``/`` and its files below ``/static/``; none of them carries data, so none asks for a key."""
    app.mount("/static", _Files(directory=STATIC, check_dir=False), name="static")
    app.add_api_route("/", _index, methods=["GET"], include_in_schema=False)


async def _index() -> Response:
    return FileResponse(STATIC / "index.html", headers=_REVALIDATE)


class _Files(StaticFiles):
    """Asks browsers to check back each time: after an update page and script must fit each other."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers.update(_REVALIDATE)
        return response
