"""Turns every way in which a command can fail into a message on standard error and an exit code."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from opora.cli.client import ApiError
from opora.cli.exits import Exit, exit_for, fail
from opora.domain.errors import OporaError

if TYPE_CHECKING:
    from opora.settings import Settings

SHOW_PLACE = "OPORA_LOG_LEVEL=DEBUG shows where it happened."


@contextmanager
def reported(settings: Settings, *, interrupted: str = "") -> Iterator[None]:
    """What goes wrong inside ends the command, with a sentence rather than a trace of calls.

    ``interrupted`` says what a user who breaks off has now.
    """
    try:
        yield
    except (ApiError, OporaError) as exc:
        raise fail(exc.message, hint=exc.hint, code=exit_for(exc.code)) from exc
    except KeyboardInterrupt:
        raise fail("Interrupted.", hint=interrupted, code=Exit.INTERRUPTED) from None
    except asyncio.CancelledError:
        raise fail("Terminated.", hint=interrupted, code=Exit.TERMINATED) from None
    except (typer.Exit, BrokenPipeError):
        raise  # said already; or whoever read standard output has gone, and the command line ends quietly
    except Exception as exc:
        if settings.log_level.upper() == "DEBUG":
            logging.getLogger(__name__).exception("The command failed.")
        raise fail(f"Something went wrong inside Opora: {type(exc).__name__}: {exc}", hint=SHOW_PLACE) from exc


def log_for_people(settings: Settings) -> None:
    """For commands that end: warnings only, one line each; with OPORA_LOG_LEVEL=DEBUG everything."""
    debug = settings.log_level.upper() == "DEBUG"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(_LONG) if debug else _OneLine("opora: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, handlers=[handler])


def log_for_operators(settings: Settings) -> None:
    """For the server: lines with time and place, and the traces of what went wrong."""
    logging.basicConfig(level=settings.log_level.upper(), stream=sys.stderr, format=_LONG)
    if settings.log_level.upper() != "DEBUG":
        for name in ("alembic", "httpx2", "mcp", "uvicorn.error"):
            logging.getLogger(name).setLevel(logging.WARNING)


_LONG = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _OneLine(logging.Formatter):
    def formatException(self, ei: object) -> str:
        return ""

    def format(self, record: logging.LogRecord) -> str:
        # The traces that a handler before this one made are kept on the record.
        record.exc_text = None
        return super().format(record).rstrip("\n")
