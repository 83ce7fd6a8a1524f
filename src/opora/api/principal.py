"""Who asks: the one dependency through which every route under the prefix learns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from opora.domain.scope import Principal

if TYPE_CHECKING:
    from opora.bootstrap import App as App
else:
    # The composition root is handed in; loading it here would load every engine and model for its name.
    App = Any

_bearer = HTTPBearer(auto_error=False, description="A configured key.")
_key_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A configured key.")


# Not async for their own sake: a plain function would be run in a thread, twice a request.
async def _app(request: Request) -> App:
    app: App = request.app.state.opora
    return app


Opora = Annotated[App, Depends(_app)]


async def authenticated(
    app: Opora,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    key: Annotated[str | None, Depends(_key_header)],
) -> Principal:
    """Raises `Unauthenticated` when keys are configured and none of them came."""
    return app.access.authenticate(bearer.credentials if bearer else key)


Caller = Annotated[Principal, Depends(authenticated)]
