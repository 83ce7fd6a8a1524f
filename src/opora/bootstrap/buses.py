"""What an installation does over NATS: which doors it opens, whom it asks for vectors, how its workers are woken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from opora.domain.errors import InvalidInput, Unavailable
from opora.domain.roles import Role
from opora.ports import Vectoriser
from opora.retriever.request import query_of
from opora.retriever.results import answer_json
from opora.settings import Settings

if TYPE_CHECKING:
    from opora.bootstrap.app import App
    from opora.bus.connection import Bus, Door
    from opora.bus.wake import WorkStream

KEY_HEADER = "X-API-Key"


def check_role(settings: Settings) -> None:
    """Raises `InvalidInput` for a role that could not be played."""
    if settings.role is Role.RETRIEVER and settings.nats_url is None:
        raise InvalidInput.of(
            "role",
            "A retriever asks another process for the vectors of questions, and there is no broker to ask over.",
            hint="Set NATS_URL, or OPORA_ROLE=all.",
        )


def make_bus(app: App) -> Bus | None:
    """None without a broker. Nothing is sent yet. Raises `Unavailable` when the client is not installed."""
    settings = app.settings
    if settings.nats_url is None:
        return None
    try:
        from opora.bus.connection import Bus
    except ImportError as exc:
        raise Unavailable(
            "NATS_URL is set, and the client of NATS is not installed.",
            hint="Install it: pip install -e '.[nats]' in Opora's folder, inside .venv.",
        ) from exc
    return Bus(settings.nats_url.get_secret_value(), doors=_doors(app))


def make_vectoriser(settings: Settings, bus: Bus | None, local: Vectoriser) -> Vectoriser:
    """A process that has the models uses them; a retriever asks over the bus."""
    if bus is None or settings.role is not Role.RETRIEVER:
        return local
    from opora.bus.vectoriser import BusVectoriser

    return BusVectoriser(bus)


def make_work_stream(settings: Settings, bus: Bus, look: Callable[[], Awaitable[None]]) -> WorkStream:
    from opora.bus.wake import WorkStream

    return WorkStream(bus, prefix=settings.nats_prefix, look=look if settings.role.works else None)


def _doors(app: App) -> tuple[Door, ...]:
    from opora.bus.connection import Door
    from opora.bus.messages import read_request
    from opora.bus.vectoriser import SUBJECT as VECTORIZE

    async def search(payload: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        query = query_of(read_request(payload))
        caller = app.access.authenticate(headers.get(KEY_HEADER))
        scope = await app.access.bases(
            caller,
            list(query.base_ids) or None,
            document_ids=query.document_ids or None,
            tag_ids=query.tag_ids or None,
        )
        return answer_json(await app.context.search(scope, query))

    async def vectorize(payload: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        body = read_request(payload)
        query = query_of({"query": body.get("query")})
        base = await app.base_of(str(body.get("tenant_id", "")), str(body.get("knowledge_base_id", "")))
        made = await app.local_vectoriser.vectorise(query.question, base)
        numbers = np.asarray(made.vector, np.float32).tolist()
        return {"query": query.question, "model": made.identity, "dimension": len(numbers), "vector": numbers}

    role = app.settings.role
    doors = (
        Door(subject="context.search", group="retriever", handler=search) if role.searches else None,
        Door(subject=VECTORIZE, group="ingestor", handler=vectorize) if role.works else None,
    )
    return tuple(door for door in doors if door is not None)
