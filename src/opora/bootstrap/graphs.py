"""The graph of entities that the settings name: in the database, or in Neo4j."""

from __future__ import annotations

from opora.domain.errors import InvalidInput, Unavailable
from opora.ports import Database, EntityGraph
from opora.settings import Settings


def make_graph(settings: Settings, database: Database) -> EntityGraph:
    """Nothing is sent yet. Raises `InvalidInput`, and `Unavailable` when the client is not installed."""
    if not settings.neo4j_enable:
        from opora.graph.embedded import EmbeddedGraph

        return EmbeddedGraph(database)
    try:
        from opora.graph.neo4j import Neo4jGraph
    except ImportError as exc:
        raise Unavailable(
            "NEO4J_ENABLE is on, and the client of Neo4j is not installed.",
            hint="Install it: pip install -e '.[neo4j]' in Opora's folder, inside .venv.",
        ) from exc
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    try:
        return Neo4jGraph(
            settings.neo4j_uri,
            username=settings.neo4j_username,
            password=password,
            database=settings.neo4j_database,
        )
    except ValueError as exc:
        raise InvalidInput.of("neo4j_uri", f"This is no address of Neo4j: {exc}") from exc
