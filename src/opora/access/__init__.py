"""The one chokepoint of authorisation: it knows who asks, and makes the scope that every other call takes."""

from opora.access.access import Access

__all__ = ["Access"]
