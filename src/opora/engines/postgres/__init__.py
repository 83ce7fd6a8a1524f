"""The engine that lives in PostgreSQL, beside the database's own tables, for several servers at once."""

from opora.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
