"""The one place where everything meets: settings in, a running application out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opora.bootstrap.app import App
from opora.bootstrap.models import Models
from opora.bootstrap.outside import order
from opora.bootstrap.sharing import is_shared as can_share
from opora.domain.errors import InvalidInput
from opora.pipeline.builder import PRESETS
from opora.settings import Settings
from opora.store import backup, owner

__all__ = ["App", "Models", "can_share", "plugin_order", "read_backup", "serving_at", "write_backup"]


def serving_at(settings: Settings) -> str:
    """Where the owner of the data folder serves; '' when nobody does."""
    return owner.serving_at(settings.data)


def write_backup(settings: Settings, target: Path) -> dict[str, Any]:
    _refuse_elsewhere(settings)
    return backup.write_backup(settings.data, target)


def _refuse_elsewhere(settings: Settings) -> None:
    """What is not in the folder is not in its backup."""
    if settings.shared is not None:
        raise InvalidInput(
            "The files are not in the data folder: Opora's backup would lack them.",
            hint="Copy OPORA_SHARED and the database by their own means.",
        )
    if settings.database_url:
        raise InvalidInput(
            "The database is not in the data folder: Opora's backup would lack it.",
            hint="Use pg_dump and pg_restore for PostgreSQL, and copy the folder's `blobs` beside it.",
        )


def read_backup(settings: Settings, source: Path, *, force: bool) -> dict[str, Any]:
    _refuse_elsewhere(settings)
    return backup.read_backup(settings.data, source, force=force)


def plugin_order() -> list[dict[str, Any]]:
    """The events of a question to a base, each with its plugins, outermost first."""
    return order(PRESETS["rag_stream"])
