"""The index as PostgreSQL keeps it: a schema of its own, made when it is missing and thrown away when it is old."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from asyncpg.exceptions import FeatureNotSupportedError, InsufficientPrivilegeError, UndefinedFileError

from opora.domain.errors import EngineError
from opora.ports import NewId
from opora.text.terms import TERMS_VERSION

log = logging.getLogger(__name__)

SCHEMA = "opora_index"
"""Nothing in it is the only copy: it may be dropped, and left out of a dump."""
SCHEMA_VERSION = 2
CONFIGURATION = "pg_catalog.russian"
"""Of full text search: Russian stems for Cyrillic words, English ones for words in ASCII, all others as they are."""
SETUP_LOCK = 0x6F706F7300
"""Servers that start at once make the schema once. The store has locks of its own (`opora.store.postgres`)."""

_TABLES = """
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE bases (
  key integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  base_id text COLLATE "C" NOT NULL,
  terms_version text NOT NULL,
  entries bigint NOT NULL DEFAULT 0,
  terms bigint NOT NULL DEFAULT 0,
  UNIQUE (tenant_id, base_id)
);
CREATE TABLE entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  base integer NOT NULL,
  length integer NOT NULL,
  dimension integer NOT NULL,
  enabled boolean NOT NULL,
  chunk_id text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  chunk_type text NOT NULL,
  digest bytea NOT NULL,
  tag_ids text[] COLLATE "C" NOT NULL,
  tally jsonb NOT NULL,
  embedding halfvec,
  UNIQUE (base, chunk_id)
) WITH (toast_tuple_target = 8160);
CREATE INDEX entries_document ON entries (base, document_id);
CREATE INDEX entries_tally ON entries USING gin (tally) WITH (fastupdate = off);
CREATE TABLE texts (
  id bigint PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
  text text NOT NULL
);
"""
_FULLTEXT = f"""
ALTER TABLE texts
  ADD COLUMN words text NOT NULL DEFAULT '',
  ADD COLUMN content_tsv tsvector GENERATED ALWAYS AS (to_tsvector('{CONFIGURATION}', words)) STORED;
CREATE INDEX texts_content_tsv ON texts USING gin (content_tsv) WITH (fastupdate = off);
"""
# `tally` says how often a row holds each term; its keys begin with the number of the base, so that a term's list in
# the index is of one base alone, however many others hold the word. Rows stay whole up to the size of a page, or each
# look at a tally would unpack it. Texts stand apart for the same reason: only a change of the terms reads them.
# `words` is the text as the server's parser is to see it: it knows neither scripts without spaces nor, in some locales,
# capital letters beyond ASCII.
_UPGRADES = {1: f"{_FULLTEXT} UPDATE bases SET terms_version = '';"}
"""What brings a version to the next one. A base without a version of the terms has its words made at the first use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What of pgvector there is: the schema of its types, and whether an index scan goes on until enough rows fit."""

    namespace: str
    has_iterative_scan: bool

    @property
    def search_path(self) -> str:
        return f'{SCHEMA}, "{self.namespace}", pg_catalog'


async def set_up(connection: Any, new_id: NewId) -> Installed:
    """Make what is missing; raises `EngineError` without pgvector 0.7, and for a schema of a newer version."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", SETUP_LOCK)
        installed = await _pgvector(connection)
        await connection.execute(f"SET LOCAL search_path TO {installed.search_path}")
        version = await _version(connection)
        if version in _UPGRADES:
            await _upgrade(connection, version)
        elif version != SCHEMA_VERSION:
            await connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}")
            await connection.execute(_TABLES + _FULLTEXT)
            values = [("generation", new_id()), ("version", str(SCHEMA_VERSION))]
            await connection.executemany("INSERT INTO meta VALUES ($1, $2)", values)
        return installed


async def _upgrade(connection: Any, version: int) -> None:
    """In place: making vectors anew would take far longer."""
    while version in _UPGRADES:
        log.info("The search index in PostgreSQL is brought from version %d to the next.", version)
        await connection.execute(_UPGRADES[version])
        version += 1
    await connection.execute("UPDATE meta SET value = $1 WHERE name = 'version'", str(version))


async def _pgvector(connection: Any) -> Installed:
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (FeatureNotSupportedError, UndefinedFileError, InsufficientPrivilegeError) as error:
        raise EngineError(
            f"The extension pgvector can't be used: {error}.",
            hint="Install pgvector on the database server, and let its administrator run CREATE EXTENSION vector.",
        ) from error
    namespace = await connection.fetchval(
        "SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace"
        " JOIN pg_type AS t ON t.typnamespace = n.oid AND t.typname = 'halfvec' WHERE e.extname = 'vector'"
    )
    if namespace is None:
        raise EngineError(
            "pgvector is too old: it knows no vectors of half precision.",
            hint="Opora needs pgvector 0.7 or newer; after an update run ALTER EXTENSION vector UPDATE.",
        )
    # The library's settings are known from its first use on.
    await connection.execute(f"""SELECT '[1]'::"{namespace}".halfvec""")
    scan = await connection.fetchval("SELECT current_setting('hnsw.iterative_scan', true)")
    return Installed(namespace=namespace, has_iterative_scan=scan is not None)


async def _version(connection: Any) -> int:
    if await connection.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.meta") is None:
        return 0
    version = int(await connection.fetchval("SELECT value FROM meta WHERE name = 'version'") or 0)
    if version > SCHEMA_VERSION:
        raise EngineError(
            "The search index in PostgreSQL was made by a newer version of Opora.",
            hint=f"Install that version, or drop the schema {SCHEMA}: it is made and filled anew.",
        )
    return version


async def outdated_bases(connection: Any) -> list[int]:
    """Bases whose tallies were made by another version of the terms."""
    found = await connection.fetch("SELECT key FROM bases WHERE terms_version <> $1 ORDER BY key", TERMS_VERSION)
    return [key for (key,) in found]
