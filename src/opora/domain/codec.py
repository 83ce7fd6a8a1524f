"""Turns domain values into plain JSON values and back; a field that holds its default is left out."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Set
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Read = Callable[[Any], Any]

_ATOMS = frozenset({str, int, float, bool, types.NoneType})


def plain(value: Any) -> Any:
    """A value made of dataclasses, enums, tuples, sets and mappings as plain JSON values."""
    kind: Any = type(value)
    if kind in _ATOMS:
        return value
    if (defaults := _defaults(kind)) is not None:
        return {name: plain(v) for name, default in defaults if (v := getattr(value, name)) != default}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=str)
    return value


def build(kind: type[T], data: Mapping[str, Any]) -> T:
    """The dataclass that `plain` took apart. Fields that this version does not know are left out."""
    readers: dict[str, Read] = _readers(cast(Any, kind))
    return kind(**{name: readers[name](value) for name, value in data.items() if name in readers})


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...] | None:
    """Fields of a dataclass with their defaults; None for other types. What has no default equals `MISSING` never."""
    if not is_dataclass(kind):
        return None
    made = [(f.name, f.default if f.default_factory is MISSING else f.default_factory()) for f in fields(kind)]
    return tuple(made)


@cache
def _readers(kind: type[Any]) -> dict[str, Read]:
    hints = get_type_hints(kind)
    return {f.name: _reader(hints[f.name]) for f in fields(kind)}


def _reader(hint: Any) -> Read:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = _reader(next(arg for arg in get_args(hint) if arg is not types.NoneType))
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        item = _reader(get_args(hint)[0])
        return lambda value: tuple(item(part) for part in value)
    if isinstance(hint, type) and is_dataclass(hint):
        kind: type[Any] = hint
        return lambda value: build(kind, value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    return lambda value: value
