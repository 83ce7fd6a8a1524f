"""Makes the HTTP application: routes under one prefix behind one check of who asks, walls around everything."""

from __future__ import annotations

import re

from fastapi import APIRouter, Depends, FastAPI

from opora import __version__
from opora.api import (
    agents,
    bases,
    branches,
    chat,
    chunks,
    copies,
    docs,
    documents,
    errors,
    faq,
    health,
    knowledge,
    memory,
    messages,
    models,
    openai,
    page,
    retriever,
    search,
    sessions,
    shelves,
    system,
    tags,
    tenants,
)
from opora.api.middleware.body import BodyLimitMiddleware, Limit
from opora.api.middleware.failures import FailureMiddleware
from opora.api.middleware.headers import SecurityHeadersMiddleware
from opora.api.middleware.origin import OriginMiddleware
from opora.api.middleware.request_id import RequestIdMiddleware
from opora.api.pages import presentation
from opora.api.pages import search as search_page
from opora.api.principal import App, authenticated
from opora.chat.pictures import MAX_GIVEN_BYTES, MAX_PICTURES

PREFIX = "/api/v1"
OPENAI_PREFIX = "/v1"
RETRIEVER_PREFIX = "/api"
JSON_BODY_LIMIT = 1024 * 1024
PICTURES_LIMIT = MAX_PICTURES * MAX_GIVEN_BYTES * 4 // 3 + JSON_BODY_LIMIT
"""Of a question with as many and as large pictures as are taken."""
FORM_OVERHEAD = 64 * 1024
"""What a form adds to the file that it carries."""
_TAKES_DOCUMENTS = re.compile(
    rf"{PREFIX}/knowledge-bases/[^/]+/(?:knowledge/(?:file|manual)|faq/entries)|{PREFIX}/knowledge/[^/]+(?:/file)?"
)
_ROUTERS = (
    bases,
    copies,
    tags,
    knowledge,
    shelves,
    documents,
    chunks,
    faq,
    search,
    branches,
    sessions,
    chat,
    messages,
    memory,
    agents,
    tenants,
    models,
    system,
)
_TAKES_PICTURES = re.compile(rf"{PREFIX}/knowledge-chat/[^/]+|{OPENAI_PREFIX}/chat/completions")


def create_app(app: App) -> FastAPI:
    """The application over an open `opora.bootstrap.App`, which the caller closes."""
    http = FastAPI(
        title="Opora",
        version=__version__,
        summary="Answers from an organisation's own documents, with citations that can be checked.",
        docs_url=None,
        redoc_url=None,
    )
    http.state.opora = app
    errors.install(http)
    # First, because a request is held against one route after another, and this one is asked for most.
    http.include_router(retriever.router, prefix=RETRIEVER_PREFIX, dependencies=[Depends(authenticated)])
    api = APIRouter(prefix=PREFIX, dependencies=[Depends(authenticated)])
    for module in _ROUTERS:
        api.include_router(module.router)
    http.include_router(api)
    known = APIRouter(prefix=OPENAI_PREFIX, dependencies=[Depends(authenticated)])
    for module in (openai.chat, openai.vectors):
        known.include_router(module.router)
    http.include_router(known)
    http.include_router(health.router)
    docs.install(http)
    page.install(http)
    search_page.install(http)
    presentation.install(http)
    settings = app.settings
    # The last one added is the outermost.
    http.add_middleware(BodyLimitMiddleware, limit=body_limit(settings.upload_limit))
    http.add_middleware(OriginMiddleware, names=(settings.host, *settings.allowed_hosts))
    http.add_middleware(FailureMiddleware)
    http.add_middleware(SecurityHeadersMiddleware)
    http.add_middleware(RequestIdMiddleware)
    return http


def body_limit(upload_limit: int) -> Limit:
    """Documents may be as long as the upload limit says, questions may have pictures; everything else is short."""

    def limit(path: str) -> int:
        if _TAKES_PICTURES.fullmatch(path):
            return PICTURES_LIMIT
        return upload_limit + FORM_OVERHEAD if _TAKES_DOCUMENTS.fullmatch(path) else JSON_BODY_LIMIT

    return limit
