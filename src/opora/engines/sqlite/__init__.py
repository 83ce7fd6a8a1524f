"""The engine that comes with Opora, in one SQLite file."""

from opora.engines.sqlite.engine import SqliteEngine

__all__ = ["SqliteEngine"]
