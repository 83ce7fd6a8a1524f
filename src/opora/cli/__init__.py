"""The terminal: thin commands that speak the HTTP surface, to a running server or to one inside the process."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``opora`` command."""
    from opora.cli.main import run

    run()
