"""Exit codes that scripts can rely on, and the one way a command fails."""

from __future__ import annotations

from enum import IntEnum

import typer


class Exit(IntEnum):
    OK = 0
    FAILED = 1
    """Something went wrong; the message says what."""
    USAGE = 2
    """The call itself is wrong: an unknown option, a value out of range, a setting that does not fit."""
    NOTHING_FOUND = 3
    """The search or the question found nothing."""
    PARTLY = 4
    """Some documents failed; the others are in."""
    UNAVAILABLE = 5
    """The server, the model or the data folder can't be used now."""
    INTERRUPTED = 130
    """Ctrl-C."""
    TERMINATED = 143
    """SIGTERM. For `opora serve` it is the ordinary way to stop, and the exit code is 0."""


_BY_CODE = {
    "invalid_input": Exit.USAGE,
    "busy": Exit.UNAVAILABLE,
    "timeout": Exit.UNAVAILABLE,
    "unavailable": Exit.UNAVAILABLE,
    "engine_unavailable": Exit.UNAVAILABLE,
    "model_unavailable": Exit.UNAVAILABLE,
    "model_not_configured": Exit.UNAVAILABLE,
}


def exit_for(code: str) -> Exit:
    """The exit code for an error's stable code."""
    return _BY_CODE.get(code, Exit.FAILED)


def fail(message: str, *, hint: str = "", code: Exit = Exit.FAILED) -> typer.Exit:
    """Say what went wrong on standard error; raise what this returns."""
    from opora.cli.words import plain

    typer.echo(plain(f"opora: {message}" + (f"\n       {hint}" if hint else "")), err=True)
    return typer.Exit(code)
