"""Cuts a parsed document into chunks; `tiers.TIERS` is the order in which the ways of cutting are tried."""

from opora.ingest.split.config import validate_chunking
from opora.ingest.split.splitter import StructureSplitter

__all__ = ["StructureSplitter", "validate_chunking"]
