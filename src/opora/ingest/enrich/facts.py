"""Reads the entities and relations that a model found in a passage, and believes only what stands in the passage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opora.domain.graph import Facts, Relation
from opora.text.fold import clean
from opora.text.json_reply import json_objects
from opora.text.terms import name_key
from opora.text.thinking import reply_alone

MAX_ENTITIES = 20
MAX_RELATIONS = 30
"""Of one chunk."""
MAX_NAME_CHARS = 100
MAX_LABEL_CHARS = 100


def read_facts(reply: str, passage: str) -> Facts:
    """Empty for a reply that can't be read.

    A name must stand in the passage, in whatever form of its words, and a relation must join two such names."""
    spoken = f" {name_key(passage)} "
    entities: dict[str, str] = {}
    relations: dict[tuple[str, str, str], Relation] = {}
    for found in json_objects(reply_alone(reply)):
        for name in map(_name, _items(found.get("entities"))):
            key = name_key(name)
            if key and len(entities) < MAX_ENTITIES and _stands(key, spoken):
                entities.setdefault(key, name)
        for one in _items(found.get("relations")):
            if len(relations) < MAX_RELATIONS and isinstance(one, dict) and (relation := _relation(one, entities)):
                relations.setdefault((relation.source, relation.label, relation.target), relation)
    return Facts(entities=tuple(entities.values()), relations=tuple(relations.values()))


def _relation(found: dict[Any, Any], entities: dict[str, str]) -> Relation | None:
    source = entities.get(name_key(_text(found.get("source"))))
    target = entities.get(name_key(_text(found.get("target"))))
    label = _text(found.get("relation"))[:MAX_LABEL_CHARS]
    return Relation(source=source, label=label, target=target) if source and target and source != target else None


def _stands(key: str, spoken: str) -> bool:
    """Scripts without spaces have no words to compare: there the very characters must stand side by side."""
    return f" {key} " in spoken or (not key.isascii() and key.replace(" ", "") in spoken.replace(" ", ""))


def _name(found: Any) -> str:
    """A name, or the name of an object that tells more of it."""
    name = _text(found.get("name") if isinstance(found, dict) else found)
    return name if len(name) <= MAX_NAME_CHARS else ""


def _items(found: Any) -> Iterable[Any]:
    return found if isinstance(found, list) else ()


def _text(found: Any) -> str:
    return " ".join(clean(found).split()) if isinstance(found, str) else ""
