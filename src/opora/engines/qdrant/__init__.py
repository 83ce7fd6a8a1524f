"""Qdrant: vectors by HNSW and cosine, words by the terms that Opora makes of them."""

from opora.engines.qdrant.engine import QdrantEngine

__all__ = ["QdrantEngine"]
