"""Opora finds the passages in an organisation's own documents that a question stands on, and answers from them.

One question travels through the rooms in this order:

``chat`` (history) -> ``understand`` -> ``retrieve`` -> ``rank`` -> ``merge`` -> ``prompt`` -> ``models`` (generation)
-> ``cite`` -> ``stream``; ``pipeline`` holds the order, ``bootstrap`` puts everything together.
"""

__version__ = "0.1.0"
