"""Brings the database to the present schema when it is opened; Alembic is loaded only when there is something to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from opora.domain.errors import Unavailable
from opora.store.connection import Connection

HEAD = "0018"
"""The newest migration; a test compares it with the folder."""

FOLDER = Path(__file__).parent / "migrations"


async def migrate(connection: Connection) -> None:
    """Run what is missing, in the transaction of ``connection``: all of it or nothing is done."""
    if await connection.run_sync(_present) != HEAD:
        await connection.run_sync(_upgrade)


def _present(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def _upgrade(connection: sa.Connection) -> None:
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    script = ScriptDirectory(str(FOLDER))

    def steps(revision: Any, _context: Any) -> Any:
        return script._upgrade_revs(HEAD, revision)

    context = MigrationContext.configure(connection, opts={"fn": steps, "transactional_ddl": False})
    try:
        with Operations.context(context):
            context.run_migrations()
    except CommandError as error:
        raise Unavailable(
            "The database was written by a newer version of Opora.",
            hint="Install that version again, or restore a backup made by this one.",
        ) from error
