"""Values that many tests start from."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from opora.domain.question import Draft, Question
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope

from .servers.nats import nats_server
from .servers.neo4j import neo4j_server
from .servers.postgres import postgres_server, postgres_url
from .servers.redis import own_redis, redis_program, redis_server

__all__ = [
    "nats_server",
    "neo4j_server",
    "own_redis",
    "postgres_server",
    "postgres_url",
    "redis_program",
    "redis_server",
]

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a browser come last, whatever was named first: its event loop runs on until the session ends, and
    beside it no other test could start one."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture
def scope() -> Scope:
    return Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id="kb-1", tenant_id="default"),))


@pytest.fixture
def question(scope: Scope) -> Question:
    return Question(
        text="Когда компенсируют дорогу?",
        scope=scope,
        session_id="s-1",
        request_id="r-1",
        user_message_id="m-1",
        assistant_message_id="m-2",
        asked_at=NOW,
        language="ru",
    )


@pytest.fixture
def draft(question: Question) -> Draft:
    return Draft(question=question)
