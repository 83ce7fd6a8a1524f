"""Lets ``python -m opora.cli`` stand for the ``opora`` command."""

from opora.cli import main

main()
